import type { Worker as ClusterWorker } from 'node:cluster';
import type { Server } from 'node:net';
import {
  CRASH_DRAIN_MS,
  isWorkerMessage,
  type MetricData,
  type PrimaryMessage,
  type WorkerMessage,
} from './protocol.ts';
import type { SharedPort } from './shared-ports.ts';

/** A worker as the primary sees it; `exited` can follow every other state. */
export type HandleState = 'starting' | 'ready' | 'listening' | 'draining' | 'exited';

/** A worker that should be finished and is not is killed this long after its time. */
const OVERTIME_MS = 2_000;

/** What the primary is told about its workers. */
export interface HandleOwner {
  message(handle: WorkerHandle, message: WorkerMessage): void;
  exited(handle: WorkerHandle): void;
}

/** The primary's end of one worker. */
export class WorkerHandle {
  /** Tells it apart in the log. */
  readonly number: number;
  readonly startedAt = performance.now();
  state: HandleState = 'starting';
  /** When it last said anything, on the monotonic clock. */
  lastSeenAt = this.startedAt;
  /** When it began to listen. */
  listeningAt: number | undefined;
  /** What it was told to load and to serve with; empty and 0 before. */
  programPath = '';
  generation = 0;
  /** Between 0 and 1, another one for each worker. */
  readonly chance = Math.random();
  /** It is to listen as soon as it is ready; a spare one is not, until it is needed. */
  wanted: boolean;
  inFlight = 0;
  rssBytes = 0;
  /** The newest counters it sent. */
  metrics: readonly MetricData[] = [];
  /** Why it could not start, in its own words. */
  failure: string | undefined;
  /** It was told to end: nobody has to make good for it. */
  dismissed = false;
  /** Another one is on its way to take its place. */
  leaving = false;
  readonly #worker: ClusterWorker;
  readonly #owner: HandleOwner;

  constructor(worker: ClusterWorker, place: { readonly number: number; readonly wanted: boolean }, owner: HandleOwner) {
    this.#worker = worker;
    this.number = place.number;
    this.wanted = place.wanted;
    worker.on('message', (message: unknown) => {
      if (!isWorkerMessage(message)) return;
      this.#note(message);
      owner.message(this, message);
    });
    // Errors of a process that runs are of messages and signals that it missed: its exit tells the rest.
    worker.on(
      'error',
      (error: Error) => this.pid === 0 && this.#exited(`a worker could not be started: ${error.message}`),
    );
    worker.once('exit', (code, signal) => this.#exited(exitReason(code, signal)));
    this.#owner = owner;
  }

  /** 0 when the system could not start it. */
  get pid(): number {
    return this.#worker.process.pid ?? 0;
  }

  /** Dropped when the worker is gone: its exit tells the rest. */
  send(message: PrimaryMessage, port?: SharedPort): void {
    if (this.state === 'exited' || !this.#worker.isConnected()) return;
    // Any handle of Node can be sent; its types know only those that are wrapped.
    this.#worker.send(message, port as Server | undefined, () => undefined);
  }

  /** Lets it accept connections, now or once it is ready. */
  want(): void {
    this.wanted = true;
    if (this.state === 'ready') this.send({ type: 'listen' });
  }

  /** It finishes what it has within this time, or is killed; one that serves nobody ends at once. */
  drain(timeoutMs: number): void {
    if (this.state === 'exited') return;
    if (this.state === 'starting' || !this.wanted) {
      this.dismiss();
      return;
    }
    this.dismissed = true;
    this.state = 'draining';
    this.send({ type: 'drain', timeoutMs });
    this.#killAfter(timeoutMs);
  }

  /** Ends one that serves nobody. */
  dismiss(): void {
    this.dismissed = true;
    this.state = 'draining';
    this.kill();
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #note(message: WorkerMessage): void {
    this.lastSeenAt = performance.now();
    if (message.type === 'ready' && this.state === 'starting') this.#ready();
    else if (message.type === 'listening' && this.state === 'ready') this.#listening();
    else if (message.type === 'failed') this.#failed(message.reason);
    else if (message.type === 'metrics') this.metrics = message.metrics;
    else if (message.type === 'heartbeat') {
      this.inFlight = message.inFlight;
      this.rssBytes = message.rssBytes;
    }
  }

  #ready(): void {
    this.state = 'ready';
    if (this.wanted) this.send({ type: 'listen' });
  }

  #listening(): void {
    this.state = 'listening';
    this.listeningAt = this.lastSeenAt;
  }

  /** One that listened finishes what it has, and exits then. */
  #failed(reason: string): void {
    this.failure = reason;
    if (this.state !== 'listening') return;
    this.state = 'draining';
    this.#killAfter(CRASH_DRAIN_MS);
  }

  #killAfter(drainMs: number): void {
    setTimeout(() => this.state === 'draining' && this.kill(), drainMs + OVERTIME_MS).unref();
  }

  #exited(reason: string): void {
    if (this.state === 'exited') return;
    this.failure ??= reason;
    this.state = 'exited';
    this.#owner.exited(this);
  }
}

/** It listens, or is on its way. */
export function isComing({ state }: WorkerHandle): boolean {
  return state === 'starting' || state === 'ready' || state === 'listening';
}

function exitReason(code: number | null, signal: string | null): string {
  return signal === null ? `a worker ended with code ${code}` : `a worker was ended by ${signal}`;
}
