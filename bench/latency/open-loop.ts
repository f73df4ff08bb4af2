import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { elapsedMs, sharedNow } from '../in-flight/delta-stamps.ts';
import { ResponseReader } from '../in-flight/response-reader.ts';

/** A load whose calls are due at a fixed rate, whether or not earlier calls have been answered. */
export interface OpenLoad {
  readonly url: string;
  /** ASCII. */
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** All are opened before the first call. A call that is due while none is free waits. */
  readonly connections: number;
  /** The milliseconds that the model took for this answer; undefined if the answer is wrong. */
  readonly modelMs: (answer: string) => number | undefined;
}

/** The calls in the order in which they were due. Times in milliseconds. */
export interface OpenLoadResult {
  /**
   * From the time at which a call was due to its whole answer, without the time that the model took. A call without a right answer counts
   * with the time until the end of the load.
   */
  readonly added: Float64Array;
  /** From the time at which a call was due until it was sent: a late timer of this process, or no free connection. */
  readonly late: Float64Array;
  /** Wrong answers, and connections that closed without an answer. */
  readonly failed: number;
  readonly firstFailure: string | undefined;
}

/** When the calls of a load are due. */
export interface Plan {
  /** A time of `sharedNow()`. */
  readonly begin: number;
  readonly everyMs: number;
  readonly calls: number;
}

export function dueAt({ begin, everyMs }: Plan, index: number): number {
  return begin + index * everyMs;
}

/** Until the thread that wakes the load has started. */
const LEAD_MS = 200;
/** From the last call that was due to the end of the load. */
const GRACE_MS = 1000;
const CHECK_MS = 5;

/**
 * Sends calls on raw sockets, in this process. Latency counts from the time at which a call was due: a server or a load generator that
 * stalls delays every call of that time, and not only those that were sent.
 */
export async function openLoop(load: OpenLoad, ticks: Ticks = ticksOfThread): Promise<OpenLoadResult> {
  const loop = new OpenLoop(load);
  await loop.run(ticks);
  return loop;
}

/** Calls `onTick` whenever a call is due; resolves after the last one. */
export type Ticks = (plan: Plan, onTick: () => void) => Promise<unknown>;

/** Timers of this thread have a resolution of one millisecond. */
function ticksOfThread(plan: Plan, onTick: () => void): Promise<unknown> {
  const thread = new Worker(new URL('ticker.js', import.meta.url), { workerData: plan });
  thread.on('message', onTick);
  return once(thread, 'exit');
}

class OpenLoop implements OpenLoadResult {
  readonly added: Float64Array;
  readonly late: Float64Array;
  failed = 0;
  firstFailure: string | undefined;
  readonly #load: OpenLoad;
  #plan: Plan;
  readonly #lanes: readonly Lane[];
  /** In turn: a server closes a connection that stays idle, possibly while a call is on its way. */
  readonly #free: Lane[] = [];
  #sent = 0;
  #ended = 0;

  constructor(load: OpenLoad) {
    this.#load = load;
    const calls = Math.round(load.perSecond * load.seconds);
    this.#plan = { begin: Number.NaN, everyMs: 1000 / load.perSecond, calls };
    this.added = new Float64Array(calls).fill(Number.NaN);
    this.late = new Float64Array(calls).fill(Number.NaN);
    this.#lanes = Array.from({ length: load.connections }, () => new Lane(this, load));
  }

  async run(ticks: Ticks): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.open()));
    this.#plan = { ...this.#plan, begin: sharedNow() + LEAD_MS };
    await ticks(this.#plan, () => this.#sendDue());
    const end = performance.now() + GRACE_MS;
    while (this.#ended < this.#plan.calls && performance.now() < end) await sleep(CHECK_MS);
    for (const lane of this.#lanes) lane.close();
    this.#countUnanswered(sharedNow());
  }

  #sendDue(): void {
    while (this.#sent < this.#plan.calls) {
      const lateMs = elapsedMs(dueAt(this.#plan, this.#sent), sharedNow());
      // Comparisons with the time of a load that has not begun are false.
      if (!(lateMs >= 0)) return;
      const lane = this.#free.shift();
      if (lane === undefined) return;
      this.late[this.#sent] = lateMs;
      lane.send(this.#sent);
      this.#sent += 1;
    }
  }

  #countUnanswered(end: number): void {
    for (let index = 0; index < this.#plan.calls; index += 1) {
      const sinceDue = elapsedMs(dueAt(this.#plan, index), end);
      if (index >= this.#sent) this.late[index] = sinceDue;
      if (Number.isNaN(this.added[index])) this.added[index] = sinceDue;
    }
  }

  /** A connection can take a call. */
  freed(lane: Lane): void {
    this.#free.push(lane);
    this.#sendDue();
  }

  closed(lane: Lane): void {
    const at = this.#free.indexOf(lane);
    if (at >= 0) this.#free.splice(at, 1);
  }

  answered(index: number, status: number, body: string): void {
    const now = sharedNow();
    const modelMs = status === 200 ? this.#load.modelMs(body) : undefined;
    if (modelMs === undefined) {
      this.lost(`status ${status}: ${body.slice(-300)}`);
      return;
    }
    this.#ended += 1;
    this.added[index] = elapsedMs(dueAt(this.#plan, index), now) - modelMs;
  }

  lost(reason: string): void {
    this.#ended += 1;
    this.failed += 1;
    this.firstFailure ??= `${this.#load.url}: ${reason}`;
  }
}

/** One connection with one call at a time; another connection when the server closes it. */
class Lane {
  readonly #loop: OpenLoop;
  readonly #port: number;
  readonly #request: string;
  #socket: Socket | undefined;
  /** -1 while the connection is free. */
  #call = -1;
  #body = '';
  #closed = false;

  constructor(loop: OpenLoop, { url, body }: OpenLoad) {
    const { port, pathname } = new URL(url);
    this.#loop = loop;
    this.#port = Number(port);
    const headers = ['host: localhost', 'content-type: application/json', `content-length: ${body.length}`];
    this.#request = `POST ${pathname} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
  }

  /** Resolves when the connection is open, or has failed. */
  async open(): Promise<void> {
    const reader = new ResponseReader(
      (part) => (this.#body = part),
      (status, isLast) => this.#ended(status, isLast),
    );
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    this.#socket = socket;
    socket.on('data', (data: Buffer) => reader.push(data));
    // A close follows.
    socket.on('error', () => undefined);
    socket.once('connect', () => this.#loop.freed(this));
    socket.once('close', () => this.#reopen());
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  }

  send(call: number): void {
    this.#call = call;
    this.#socket?.write(this.#request, 'latin1');
  }

  close(): void {
    this.#closed = true;
    this.#socket?.destroy();
  }

  #ended(status: number, isLast: boolean): void {
    const call = this.#call;
    this.#call = -1;
    this.#loop.answered(call, status, this.#body);
    if (isLast) this.#socket?.destroy();
    else this.#loop.freed(this);
  }

  #reopen(): void {
    if (this.#closed) return;
    if (this.#call >= 0) this.#loop.lost('the connection was closed');
    else this.#loop.closed(this);
    this.#call = -1;
    void this.open();
  }
}
