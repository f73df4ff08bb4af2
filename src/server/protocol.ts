import type { Config } from '../config/config.ts';

/** What the primary sends to a worker, over the channel of node:cluster. */
export type PrimaryMessage =
  /** Answers `hello`: everything a worker needs. It loads it and answers `ready` or `failed`. */
  | {
      readonly type: 'start';
      readonly config: Config;
      /** Host and port to listen on; the port is never 0. */
      readonly port: number;
      /** File of the program, named by its hash. */
      readonly programPath: string;
      readonly version: string;
      /** Tells the workers apart in the log, from 1; numbers of those that are gone are used again. */
      readonly number: number;
      /** Readiness may be told once it listens; not any more while the server is being stopped. */
      readonly mayBeReady: boolean;
    }
  /** Answers `ready`, or comes later, to a spare worker: accept connections. It answers `listening` or `failed`. */
  | { readonly type: 'listen' }
  /** To the first worker that listens with a program: log which clients of functions have no credential. */
  | { readonly type: 'report-credentials' }
  /** Readiness fails from now on; everything else goes on. */
  | { readonly type: 'unready' }
  /** Fewer workers listen than should, and new ones do not come to listen; null: that is over. Readiness says so. */
  | { readonly type: 'degraded'; readonly degraded: Degraded | null }
  /** Stop accepting, finish what is in flight within `timeoutMs`, then say `drained` and exit. */
  | { readonly type: 'drain'; readonly timeoutMs: number }
  /** Say `metrics` with the same id. */
  | { readonly type: 'collect-metrics'; readonly id: number }
  /** Answers `merge-metrics`. */
  | { readonly type: 'merged-metrics'; readonly id: number; readonly text: string }
  /** Answers `take-turn`. */
  | { readonly type: 'turn'; readonly id: number; readonly turn: number }
  /** Answers `share-port`; the socket comes along with it unless there is a failure. */
  | { readonly type: 'shared-port'; readonly id: number; readonly failure?: string };

/** What a worker sends to the primary. */
export type WorkerMessage =
  /** Its code is loaded and it hears messages; those sent before are lost. Answered by `start`. */
  | { readonly type: 'hello' }
  /** Everything is loaded; heartbeats follow. Answered by `listen` once it is needed. */
  | { readonly type: 'ready' }
  /** Connections are accepted. */
  | { readonly type: 'listening'; readonly transport: 'uws' | 'node' }
  /** It cannot start, or goes on no longer: the reason, for the log and, at the first start, for the user. It exits. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Once a second. A worker that is silent for 9 seconds is killed. */
  | { readonly type: 'heartbeat'; readonly inFlight: number; readonly rssBytes: number }
  /** Answers `collect-metrics`; also sent alone now and then, so that little is lost when it dies. */
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: readonly MetricData[] }
  /** Somebody asked this worker for the metrics of all. Answered by `merged-metrics`. */
  | { readonly type: 'merge-metrics'; readonly id: number }
  /** Which client of a round-robin list is next, over all workers. Answered by `turn`. */
  | { readonly type: 'take-turn'; readonly id: number; readonly client: string }
  /** It serves by node:http and needs the socket of a port. Answered by `shared-port`. */
  | { readonly type: 'share-port'; readonly id: number; readonly host: string; readonly port: number }
  /** Everything is finished; it exits. `cut` requests got the last message of a drain instead of their answer. */
  | { readonly type: 'drained'; readonly cut: number };

/** How many workers listen, and how many should. */
export interface Degraded {
  readonly listening: number;
  readonly wanted: number;
}

/** A worker that failed while it listened gets so many milliseconds for the calls that it has. */
export const CRASH_DRAIN_MS = 5_000;

/** One metric with its values, in the form in which prom-client takes it apart and merges it. */
export interface MetricData {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly aggregator: string;
  readonly values: readonly MetricValue[];
}

export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

const WORKER_TYPES: Readonly<Record<WorkerMessage['type'], true>> = {
  hello: true,
  ready: true,
  listening: true,
  failed: true,
  heartbeat: true,
  metrics: true,
  'merge-metrics': true,
  'take-turn': true,
  'share-port': true,
  drained: true,
};

const PRIMARY_TYPES: Readonly<Record<PrimaryMessage['type'], true>> = {
  start: true,
  listen: true,
  'report-credentials': true,
  unready: true,
  degraded: true,
  drain: true,
  'collect-metrics': true,
  'merged-metrics': true,
  turn: true,
  'shared-port': true,
};

/** Both ends are of one build, so the type says it all; other libraries may send messages of their own. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return hasType(message, WORKER_TYPES);
}

export function isPrimaryMessage(message: unknown): message is PrimaryMessage {
  return hasType(message, PRIMARY_TYPES);
}

function hasType(message: unknown, types: Readonly<Record<string, true>>): boolean {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false;
  return typeof message.type === 'string' && Object.hasOwn(types, message.type);
}
