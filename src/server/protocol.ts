import { isJsonObject } from '../base/json.ts';
import type { Config } from '../config/config.ts';
import type { Claim } from '../policy/answer-store.ts';
import type { StoreHealth } from '../policy/store/store.ts';
import type { CoolDownChange } from '../policy/cool-downs.ts';
import type { KeyFile } from '../config/key-file.ts';
import type { DefinitionProblem } from '../schema/program.ts';
import type { TypeOutcome, TypeRefusal, TypeRequest } from '../schema/type-extension.ts';
import type { LeaseRequest, ReturnedUnits } from '../policy/lease-desk.ts';
import type { Grant } from '../policy/ledger.ts';
import type { LastFailure, ServerState } from './server-state.ts';

/** Messages from the primary to a worker, over the channel of node:cluster, in an `Envelope`. */
export type PrimaryMessage =
  /** Answers `hello` with everything that a worker needs. It loads the program and answers `ready` or `failed`. */
  | {
      readonly type: 'start';
      readonly config: Config;
      /** The port to listen on, never 0; the host is in the configuration. */
      readonly port: number;
      /** File of the program, named after its hash. */
      readonly programPath: string;
      readonly version: string;
      /** Identifies the worker in the log, from 1; the numbers of exited workers are reused. */
      readonly number: number;
      /** Whether the worker reports readiness once it listens; false while the server stops. */
      readonly mayBeReady: boolean;
      /** As in `problems`. */
      readonly problems: readonly DefinitionProblem[];
      /** As in `store`; absent without a store. */
      readonly store?: StoreHealth | undefined;
      /** The cool-downs that have begun. */
      readonly coolDowns: readonly CoolDownChange[];
    }
  /** The errors that keep the primary from serving the newest definitions, for the playground; empty if there are none. */
  | { readonly type: 'problems'; readonly problems: readonly DefinitionProblem[] }
  /** Answers `ready`, or comes later, to the spare worker: accept connections. It answers `listening` or `failed`. */
  | { readonly type: 'listen' }
  /** To the first worker that listens with a program: log which clients of functions have no credential. */
  | { readonly type: 'report-credentials' }
  /** The key file changed: every request from now on is checked with these keys. */
  | { readonly type: 'keys'; readonly keyFile: KeyFile }
  /** Readiness fails from now on; everything else continues. */
  | { readonly type: 'unready' }
  /** Too few workers listen, and new ones fail to start; null: all is well again. Readiness reports it. */
  | { readonly type: 'degraded'; readonly degraded: Degraded | null }
  /** The state of the store that machines share has changed. Readiness reports it. */
  | { readonly type: 'store'; readonly health: StoreHealth }
  /** Stop accepting, finish the requests in flight within `timeoutMs`, then send `drained` and exit. */
  | { readonly type: 'drain'; readonly timeoutMs: number }
  /** Another worker decided about the cool-down of a client, or it ended because nothing decided. */
  | { readonly type: 'cool-down'; readonly change: CoolDownChange }
  /**
   * End `count` connections with the next answers: the worker has more than the others, and the clients connect again.
   * Replaces the last count.
   */
  | { readonly type: 'hand-over-connections'; readonly count: number }
  /** Send `metrics` with the same id. */
  | { readonly type: 'collect-metrics'; readonly id: number }
  /** Answers `merge-metrics`. */
  | { readonly type: 'merged-metrics'; readonly id: number; readonly text: string }
  /** Answers `ask-state`. */
  | { readonly type: 'server-state'; readonly id: number; readonly state: ServerState }
  /** Answers `take-turn`. */
  | { readonly type: 'turn'; readonly id: number; readonly turn: number }
  /** Answers `claim-answer`. The owner of a claim sends `keep-answer` or `release-answer` with the same id. */
  | { readonly type: 'claimed-answer'; readonly id: number; readonly claimed: ClaimedAnswer }
  /** Answers `load-validators` with the source of a function's argument validators, or the reason why there is none. */
  | { readonly type: 'validators'; readonly id: number; readonly source?: string; readonly failure?: string }
  /** Answers `extend-types` with the outcome, or the reason why there is none. */
  | { readonly type: 'extended-types'; readonly id: number; readonly outcome: TypeOutcome | TypeRefusal }
  /** Answers `take-units`; without a grant, the ledger failed. */
  | { readonly type: 'units'; readonly id: number; readonly grant?: Grant }
  /** Another worker needs the unused units of a limit. Answered by `give-units` with this number, even if there are none. */
  | { readonly type: 'recall-units'; readonly limitId: string; readonly recall: number }
  /** Answers `share-port`; the socket is attached unless there is a failure. */
  | { readonly type: 'shared-port'; readonly id: number; readonly failure?: string };

/** Messages from a worker to the primary. */
export type WorkerMessage =
  /** Its code is loaded and it receives messages; earlier ones are lost. Answered by `start`. */
  | { readonly type: 'hello' }
  /** The program is loaded; heartbeats follow. Answered by `listen` once the worker is needed. */
  | { readonly type: 'ready' }
  /** It accepts connections. */
  | { readonly type: 'listening'; readonly transport: 'uws' | 'node' }
  /** It cannot start, or cannot continue; it exits. The reason is for the log and, at the first start, for the user. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Sent once a second. The primary kills a worker that is silent for 9 seconds. */
  | {
      readonly type: 'heartbeat';
      readonly inFlight: number;
      readonly rssBytes: number;
      /** The greatest delay of the event loop of the last 30 to 60 seconds. */
      readonly lagSeconds: number;
      readonly load: ConnectionLoad;
      /** Failures of clients since the last heartbeat. */
      readonly failures: readonly LastFailure[];
    }
  /** Answers `collect-metrics`; also sent every few heartbeats, with id 0, so that little is lost when the worker dies. */
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: readonly MetricData[] }
  /** A caller requested the metrics of the whole server. Answered by `merged-metrics`. */
  | { readonly type: 'merge-metrics'; readonly id: number; readonly format: MetricsFormat }
  /** A caller requested the state of all processes. Answered by `server-state`. */
  | { readonly type: 'ask-state'; readonly id: number }
  /** Which client of a round-robin list is next, over all workers? Answered by `turn`. */
  | { readonly type: 'take-turn'; readonly id: number; readonly client: string }
  /** A call wants the answer that is kept under a key, or the right to produce it. Answered by `claimed-answer`, within the wait. */
  | { readonly type: 'claim-answer'; readonly id: number; readonly key: string; readonly waitMs: number }
  /** The call that owns the claim has an answer that can be kept. */
  | { readonly type: 'keep-answer'; readonly id: number; readonly answer: string; readonly ttlMs: number }
  /** The call that owns the claim ended without such an answer. */
  | { readonly type: 'release-answer'; readonly id: number }
  /** It decided about the cool-down of a client. The primary passes the change on to the other workers. */
  | { readonly type: 'cool-down'; readonly change: CoolDownChange }
  /** The first call of a function in this worker needs its argument validators. Answered by `validators`. */
  | { readonly type: 'load-validators'; readonly id: number; readonly functionName: string }
  /** A request of a caller has a `type_builder` that is new to this worker. Answered by `extended-types`. */
  | {
      readonly type: 'extend-types';
      readonly id: number;
      readonly request: TypeRequest;
      readonly caller?: string | undefined;
    }
  /** Requests of a limited caller need units, and the worker has none left. Answered by `units`. */
  | { readonly type: 'take-units'; readonly id: number; readonly request: LeaseRequest }
  /** Unused units, or units that were used beyond an estimate. */
  | { readonly type: 'give-units'; readonly units: ReturnedUnits }
  /** It uses node:http and needs the socket of a port. Answered by `shared-port`. */
  | { readonly type: 'share-port'; readonly id: number; readonly host: string; readonly port: number }
  /** All requests are finished; it exits. `cut` requests got the last message of a drain instead of their answer. */
  | { readonly type: 'drained'; readonly cut: number };

/** The message that starts a worker. */
export type StartMessage = Extract<PrimaryMessage, { readonly type: 'start' }>;

/** The message of a worker with this type. */
export type FromWorker<Type extends WorkerMessage['type']> = Extract<WorkerMessage, { readonly type: Type }>;

/** The outcome of a claim. `mine`: the worker owns it. `busy`: another call still runs. `failed`: the store does not work. */
export type ClaimedAnswer =
  | Exclude<Claim, { readonly kind: 'mine' }>
  | { readonly kind: 'mine' }
  | { readonly kind: 'failed'; readonly reason: string };

/** How many workers listen, and how many should. */
export interface Degraded {
  readonly listening: number;
  readonly wanted: number;
}

/** Drain timeout of a worker that failed while it listened. */
export const CRASH_DRAIN_MS = 5_000;

/** The text formats of metrics: that of Prometheus, and OpenMetrics 1.0, which has exemplars. */
export type MetricsFormat = 'prometheus' | 'openmetrics';

/** One metric with its values, in the JSON form that prom-client reads and merges. */
export interface MetricData {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly aggregator: string;
  readonly values: readonly MetricValue[];
}

/** The newest observation with a trace. */
export interface Exemplar {
  readonly labelSet: { readonly trace_id: string };
  readonly value: number;
  /** In seconds since 1970. */
  readonly timestamp: number;
}

export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
  /** An observation of a bucket, with its trace. */
  readonly exemplar?: Exemplar;
}

/** The form in which messages travel: libraries can send messages of their own on the channel. */
export interface Envelope<Message extends PrimaryMessage | WorkerMessage> {
  readonly svc: readonly Message[];
}

export function workerMessages(received: unknown): readonly WorkerMessage[] {
  return isEnvelope(received) ? (received.svc as readonly WorkerMessage[]) : [];
}

export function primaryMessages(received: unknown): readonly PrimaryMessage[] {
  return isEnvelope(received) ? (received.svc as readonly PrimaryMessage[]) : [];
}

/** Both ends come from one build, so the key suffices. */
function isEnvelope(received: unknown): received is Envelope<PrimaryMessage | WorkerMessage> {
  return isJsonObject(received) && Array.isArray(received['svc']);
}

/**
 * Messages to another process that leave together at the end of this turn of the event loop, in order. Sending and receiving a
 * message takes about 20 µs in each process, however small it is.
 */
export class Outbox<Message> {
  readonly #send: (messages: Message[]) => void;
  #waiting: Message[] = [];

  constructor(send: (messages: Message[]) => void) {
    this.#send = send;
  }

  add(message: Message): void {
    if (this.#waiting.push(message) === 1) setImmediate(this.#flush);
  }

  /** Returns the messages that wait, for a caller that sends them itself. */
  take(): Message[] {
    return this.#waiting.splice(0);
  }

  readonly #flush = (): void => {
    const messages = this.take();
    if (messages.length > 0) this.#send(messages);
  };
}

/** The load of a worker, as of its last heartbeat. */
export interface ConnectionLoad {
  /** Open connections of clients. */
  readonly connections: number;
  /** The fraction of the time since the previous heartbeat that its event loop was busy, from 0 to 1. */
  readonly busy: number;
}
