import type { Worker as ClusterWorker } from 'node:cluster';
import type { Server } from 'node:net';
import { isWorkerMessage, type MetricData, type PrimaryMessage, type WorkerMessage } from './protocol.ts';
import type { SharedPort } from './shared-ports.ts';

/** A worker as the primary sees it; `exited` can follow every other state. */
export type HandleState = 'starting' | 'listening' | 'draining' | 'exited';

/** What the primary is told about its workers. */
export interface HandleOwner {
  message(handle: WorkerHandle, message: WorkerMessage): void;
  exited(handle: WorkerHandle): void;
}

/** The primary's end of one worker. */
export class WorkerHandle {
  /** Position among the workers, from 1. */
  readonly number: number;
  readonly startedAt = performance.now();
  state: HandleState = 'starting';
  /** When it last said anything, on the monotonic clock. */
  lastSeenAt = this.startedAt;
  inFlight = 0;
  rssBytes = 0;
  /** The newest counters it sent. */
  metrics: readonly MetricData[] = [];
  /** Why it could not start, in its own words. */
  failure: string | undefined;
  /** A replacement for it is on its way. */
  replaced = false;
  readonly #worker: ClusterWorker;

  constructor(worker: ClusterWorker, number: number, owner: HandleOwner) {
    this.#worker = worker;
    this.number = number;
    worker.on('message', (message: unknown) => {
      if (!isWorkerMessage(message)) return;
      this.#note(message);
      owner.message(this, message);
    });
    worker.on('error', () => undefined);
    worker.once('exit', (code, signal) => {
      this.failure ??= exitReason(code, signal);
      this.state = 'exited';
      owner.exited(this);
    });
  }

  get pid(): number {
    return this.#worker.process.pid ?? 0;
  }

  /** Dropped when the worker is gone: its exit tells the rest. */
  send(message: PrimaryMessage, port?: SharedPort): void {
    if (this.state === 'exited' || !this.#worker.isConnected()) return;
    // Any handle of Node can be sent; its types know only those that are wrapped.
    this.#worker.send(message, port as Server | undefined, () => undefined);
  }

  drain(timeoutMs: number): void {
    if (this.state === 'exited') return;
    this.state = 'draining';
    this.send({ type: 'drain', timeoutMs });
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #note(message: WorkerMessage): void {
    this.lastSeenAt = performance.now();
    if (message.type === 'listening' && this.state === 'starting') this.state = 'listening';
    else if (message.type === 'failed') this.failure = message.reason;
    else if (message.type === 'metrics') this.metrics = message.metrics;
    else if (message.type === 'heartbeat') {
      this.inFlight = message.inFlight;
      this.rssBytes = message.rssBytes;
    }
  }
}

function exitReason(code: number | null, signal: string | null): string {
  return signal === null ? `a worker ended with code ${code}` : `a worker was ended by ${signal}`;
}
