import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BODY, quantile, REQUEST_TIMEOUT_SECONDS, type Load, type LoadResult } from '../load.ts';
import { sharedNow, StampReader } from './delta-stamps.ts';
import { ResponseReader } from './response-reader.ts';

/** A load that keeps a number of requests in flight, each on a connection of its own. */
export interface ClosedLoad {
  readonly port: number;
  /** `/call/<function>` or `/stream/<function>` */
  readonly path: string;
  readonly inFlight: number;
  /** The first requests start evenly over this time. */
  readonly rampMs: number;
  /** True if the body of an answer, or the last event of a stream, is right. */
  readonly isRight: (body: string) => boolean;
}

/** A request that was answered. Times are those of `performance.now()`, in milliseconds. */
export interface Answered {
  readonly begin: number;
  readonly end: number;
}

/** Requests on raw sockets, in this process: another one would only compete for the cores. */
export class ClosedLoop {
  /** Since the last call of `begin`. */
  answered: Answered[] = [];
  /** How long the deltas of streams were on their way. */
  delays: number[] = [];
  /** Requests without a right answer, and the first of them. */
  failed = 0;
  firstFailure: string | undefined;
  request = '';
  readonly #load: ClosedLoad;
  readonly #lanes: Lane[];
  readonly #ended: Promise<unknown>;

  constructor(load: ClosedLoad) {
    this.#load = load;
    this.sendAlso([]);
    this.#lanes = Array.from({ length: load.inFlight }, () => new Lane(this, load));
    this.#ended = Promise.all(this.#lanes.map((lane, index) => lane.run((index * load.rampMs) / load.inFlight)));
  }

  /** Sends these header lines with every request from now on, instead of those of the previous call. */
  sendAlso(lines: readonly string[]): void {
    const headers = ['host: localhost', 'content-type: application/json', `content-length: ${BODY.length}`, ...lines];
    this.request = `POST ${this.#load.path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${BODY}`;
  }

  /** Begins to count again. */
  begin(): void {
    this.answered = [];
    this.delays = [];
    this.failed = 0;
  }

  /** Waits for the requests in flight. */
  async stop(): Promise<void> {
    for (const lane of this.#lanes) lane.stop();
    await this.#ended;
    for (const lane of this.#lanes) lane.close();
  }

  /** Counts an answer. */
  ended(begin: number, status: number, body: string): void {
    if (status === 200 && this.#load.isRight(body)) this.answered.push({ begin, end: performance.now() });
    else this.lost(`status ${status}: ${body.slice(-300)}`);
  }

  /** Counts a request without a right answer. */
  lost(reason: string): void {
    this.failed += 1;
    this.firstFailure ??= `${this.#load.path}: ${reason}`;
  }
}

/** A failed request is followed by another one after this time. */
const RETRY_MS = 100;

/** One connection with one request at a time; another one after a failure. */
class Lane {
  readonly #loop: ClosedLoop;
  readonly #load: ClosedLoad;
  #socket: Socket | undefined;
  #begin = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #stamps: StampReader | undefined;
  /** The body of an answer, or the last events of a stream. */
  #body = '';
  #resolve: (() => void) | undefined;

  constructor(loop: ClosedLoop, load: ClosedLoad) {
    this.#loop = loop;
    this.#load = load;
  }

  run(afterMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer = setTimeout(() => this.#connect(), afterMs);
    });
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    if (this.#begin === 0) this.#resolve?.();
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): void {
    const reader = new ResponseReader(
      (part) => this.#part(part),
      (status, isLast) => this.#ended(status, isLast),
    );
    const socket = connect({ port: this.#load.port, host: '127.0.0.1', noDelay: true });
    this.#socket = socket;
    socket.on('data', (data: Buffer) => reader.push(data));
    // A close follows.
    socket.on('error', () => undefined);
    socket.once('close', () => socket === this.#socket && this.#lost());
    this.#send();
  }

  #send(): void {
    this.#begin = performance.now();
    this.#body = '';
    this.#stamps = new StampReader((delay) => this.#loop.delays.push(delay));
    this.#socket?.write(this.#loop.request, 'latin1');
  }

  #part(part: string): void {
    this.#body = part;
    if (this.#load.path.startsWith('/stream/')) this.#stamps?.read(part, sharedNow());
  }

  #ended(status: number, isLast: boolean): void {
    this.#loop.ended(this.#begin, status, this.#body);
    this.#begin = 0;
    if (isLast) this.#socket?.destroy();
    if (this.#stopped) this.#resolve?.();
    else if (isLast) this.#connect();
    else this.#send();
  }

  #lost(): void {
    if (this.#begin === 0) return;
    this.#loop.lost('the connection was closed');
    this.#begin = 0;
    if (this.#stopped) this.#resolve?.();
    else this.#timer = setTimeout(() => this.#connect(), RETRY_MS);
  }
}

/** Milliseconds between two looks at the number of answers. */
const CHECK_MS = 5;

/**
 * POSTs at least `requests` calls, `connections` at a time (closed loop). Opens another connection after `Connection: close`, which a
 * worker of svc sends when it hands connections over.
 */
export async function callLoad({ url, connections, requests }: Load): Promise<LoadResult> {
  const { port, pathname: path } = new URL(url);
  const begin = performance.now();
  const inFlight = Math.min(connections, requests);
  const loop = new ClosedLoop({ port: Number(port), path, inFlight, rampMs: 0, isRight: () => true });
  const { answered } = loop;
  let last = { answers: 0, at: begin };
  while (answered.length < requests && loop.failed === 0) {
    await sleep(CHECK_MS);
    const now = performance.now();
    if (answered.length > last.answers) last = { answers: answered.length, at: now };
    else if (now - last.at > REQUEST_TIMEOUT_SECONDS * 1000) throw new Error(`${url}: no answer`);
  }
  await loop.stop();
  if (loop.failed > 0) throw new Error(`${loop.failed} requests failed, the first: ${loop.firstFailure}`);
  const times = answered.map((call) => call.end - call.begin);
  const seconds = (performance.now() - begin) / 1000;
  return { requests: times.length, seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
