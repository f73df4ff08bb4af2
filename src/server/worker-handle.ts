import type { Worker as ClusterWorker } from 'node:cluster';
import type { Server } from 'node:net';
import type { LeaseHolder } from '../policy/lease-desk.ts';
import {
  type ConnectionLoad,
  type Envelope,
  type MetricData,
  Outbox,
  type PrimaryMessage,
  type WorkerMessage,
  workerMessages,
} from './protocol.ts';
import type { SharedPort } from './ports.ts';

/** A worker that has not exited this long after the end of its drain is killed. */
const OVERTIME_MS = 2_000;

/** The supervisor's numbers for a worker. */
export interface WorkerIdentity {
  /** Unique among all workers of this server. */
  readonly id: number;
  /** Identifies the worker in the log, from 1; reused after its end. */
  readonly number: number;
  /** The program that it loads. */
  readonly generation: number;
}

export interface HandleOwner {
  message(handle: WorkerHandle, message: WorkerMessage): void;
  /** Called once, also for a process that the system could not start. */
  exited(handle: WorkerHandle, reason: string): void;
}

/** The primary's end of the channel to one worker process, and its last reports. */
export class WorkerHandle implements WorkerIdentity, LeaseHolder {
  readonly id: number;
  readonly number: number;
  readonly generation: number;
  readonly startedAt = performance.now();
  /** When its last message arrived, on the monotonic clock. */
  lastSeenAt = this.startedAt;
  inFlight = 0;
  rssBytes = 0;
  lagSeconds = 0;
  load: ConnectionLoad = { connections: 0, busy: 0 };
  #surplus = 0;
  /** The newest counters that it sent. */
  metrics: readonly MetricData[] = [];
  /** Why it ends, where that is known before its exit. */
  failure: string | undefined;
  #exited = false;
  readonly #worker: ClusterWorker;
  readonly #owner: HandleOwner;
  readonly #outbox = new Outbox<PrimaryMessage>((messages) => this.#send(messages));
  #killTimer: NodeJS.Timeout | undefined;

  constructor(worker: ClusterWorker, { id, number, generation }: WorkerIdentity, owner: HandleOwner) {
    this.id = id;
    this.number = number;
    this.generation = generation;
    this.#worker = worker;
    this.#owner = owner;
    worker.on('message', (message: unknown) => {
      for (const each of workerMessages(message)) this.#take(each);
    });
    // Errors of a running process concern messages and signals that it missed; its exit follows.
    worker.on('error', (error: Error) => {
      if (this.pid === 0) this.#exit(`a worker could not be started: ${error.message}`);
    });
    worker.once('exit', (code, signal) => this.#exit(exitReason(code, signal)));
  }

  /** 0 when the system could not start it. */
  get pid(): number {
    return this.#worker.process.pid ?? 0;
  }

  get exited(): boolean {
    return this.#exited;
  }

  /** Sends the message at the end of this turn of the event loop, or drops it if the worker is gone; its exit follows. */
  send(message: PrimaryMessage): void {
    this.#outbox.add(message);
  }

  /** Sends the socket in an envelope of its own: the worker takes it as the value of that answer. */
  sendPort(message: PrimaryMessage, port: SharedPort): void {
    this.#send(this.#outbox.take());
    this.#send([message], port);
  }

  recall(limitId: string, recall: number): void {
    this.send({ type: 'recall-units', limitId, recall });
  }

  /**
   * To be called at each heartbeat: asks the worker to hand over its surplus above the mean of these workers, and returns the number of
   * connections. Only a surplus that lasts until the next heartbeat counts, because reports are up to a second old.
   */
  balance(serving: readonly WorkerHandle[]): number {
    const loads = serving.map(({ load }) => load);
    const surplus = serving.includes(this) ? surplusConnections(this.load, loads) : 0;
    const count = Math.min(surplus, this.#surplus);
    this.#surplus = surplus;
    if (count > 0) this.send({ type: 'hand-over-connections', count });
    return count;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  /** Kills it unless it exits within this time and some more. */
  killAfter(drainMs: number): void {
    clearTimeout(this.#killTimer);
    this.#killTimer = setTimeout(() => this.kill(), drainMs + OVERTIME_MS).unref();
  }

  #send(messages: readonly PrimaryMessage[], port?: SharedPort): void {
    if (messages.length === 0 || this.#exited || !this.#worker.isConnected()) return;
    const envelope: Envelope<PrimaryMessage> = { svc: messages };
    // Node can send any of its handles; its types list only the wrapped ones.
    this.#worker.send(envelope, port as Server | undefined, () => undefined);
  }

  #take(message: WorkerMessage): void {
    this.lastSeenAt = performance.now();
    if (message.type === 'failed') this.failure = message.reason;
    else if (message.type === 'metrics') this.metrics = message.metrics;
    else if (message.type === 'heartbeat') {
      this.inFlight = message.inFlight;
      this.rssBytes = message.rssBytes;
      this.lagSeconds = message.lagSeconds;
      this.load = message.load;
    }
    this.#owner.message(this, message);
  }

  #exit(reason: string): void {
    if (this.#exited) return;
    this.#exited = true;
    clearTimeout(this.#killTimer);
    this.#owner.exited(this, this.failure ?? reason);
  }
}

function exitReason(code: number | null, signal: string | null): string {
  return signal === null ? `a worker exited with code ${code}` : `a worker was ended by ${signal}`;
}

/** Below this, a worker has room for its connections, and closing some of them would only cost their clients a round trip. */
const BUSY = 0.5;

/** A surplus of up to this fraction of the mean stays: connections come and go. */
const TOLERANCE = 0.1;

/**
 * The number of connections that a worker should hand over to the others. The kernel distributes new connections by a hash and never
 * moves them, so one worker can have most of the few that a gateway keeps, and a worker that replaces another one has none.
 */
export function surplusConnections(own: ConnectionLoad, all: readonly ConnectionLoad[]): number {
  if (own.busy < BUSY || all.length < 2) return 0;
  const mean = all.reduce((sum, { connections }) => sum + connections, 0) / all.length;
  const surplus = own.connections - mean;
  return surplus > mean * TOLERANCE ? Math.floor(surplus) : 0;
}
