import { isJsonObject } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { FeedbackOutcome } from '../calls/call-database.ts';
import type { PackedCalls } from '../calls/call-rows.ts';
import type { CallsQuery } from '../calls/calls-thread.ts';
import type { Config } from '../config/config.ts';
import type { CallFeedback, SavedTest } from '../schema/kept-call.ts';
import type { Claim } from '../policy/answer-store.ts';
import type { StoreHealth } from '../policy/store/store.ts';
import type { CoolDownChange } from '../policy/cool-downs.ts';
import type { KeyFile } from '../config/key-file.ts';
import type { DefinitionProblem } from '../schema/program.ts';
import type { TypeOutcome, TypeRefusal, TypeRequest } from '../schema/type-extension.ts';
import type { LeaseRequest, ReturnedUnits } from '../policy/lease-desk.ts';
import type { Grant, Limit } from '../policy/ledger.ts';
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
      /** The primary can answer `save-test`. */
      readonly savesTests: boolean;
      /** Identifies the worker in the log, from 1; the numbers of exited workers are reused. */
      readonly number: number;
      readonly news: ServerNews;
      /** The cool-downs that have begun. */
      readonly coolDowns: readonly CoolDownChange[];
    }
  /** What has changed since the start of the worker. */
  | { readonly type: 'news'; readonly news: Partial<ServerNews> }
  /** Answers `ready`, or comes later, to the spare worker: accept connections. It answers `listening` or `failed`. */
  | { readonly type: 'listen' }
  /** To the first worker that listens with a program: log which clients have no credential, and why the transport is node:http. */
  | { readonly type: 'report-start' }
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
  /** Another worker needs the unused units of a limit. Answered by `give-units` with this number, even if there are none. */
  | { readonly type: 'recall-units'; readonly limitId: string; readonly recall: number }
  /** Answers the question with this id, or states why there is no answer. */
  | { readonly type: 'answer'; readonly id: number; readonly value?: unknown; readonly failure?: string };

/** What each worker knows of the server. */
export interface ServerNews {
  /** Whether the worker reports readiness once it listens; false while the server stops. */
  readonly mayBeReady: boolean;
  /** Too few workers listen, and new ones fail to start; null: all is well. Readiness reports it. */
  readonly degraded: Degraded | null;
  /** The state of the store that machines share; absent without one. Readiness reports it. */
  readonly store?: StoreHealth | undefined;
  /** The errors that keep the primary from serving the newest definitions, for the playground; empty if there are none. */
  readonly problems: readonly DefinitionProblem[];
  /** The content of the key file, if it changed since the start: every request from now on is checked with these keys. */
  readonly keyFile?: KeyFile;
}

/** The questions that a worker asks the primary: the fields of each, and its answer. */
export interface Questions {
  /** The metrics of the whole server, as text. */
  'merge-metrics': { readonly asks: { readonly format: MetricsFormat }; readonly answer: string };
  /** The state of all processes. */
  'ask-state': { readonly asks: object; readonly answer: ServerState };
  /** The last uses of keys, and the state of each of these limits. */
  'ask-keys': { readonly asks: { readonly limits: readonly Limit[] }; readonly answer: KeyUses };
  /** Which client of a round-robin list is next, over all workers? */
  'take-turn': { readonly asks: { readonly client: string }; readonly answer: number };
  /**
   * A call wants the answer that is kept under a key, or the right to produce it. The answer comes within the wait. The owner of a
   * claim sends `keep-answer` or `release-answer` with the id of the question.
   */
  'claim-answer': { readonly asks: { readonly key: string; readonly waitMs: number }; readonly answer: ClaimedAnswer };
  /** The first call of a function in this worker needs the source of its argument validators. */
  'load-validators': { readonly asks: { readonly functionName: string }; readonly answer: string };
  /** A request of a caller has a `type_builder` that is new to this worker. */
  'extend-types': {
    readonly asks: { readonly request: TypeRequest; readonly caller?: string | undefined };
    readonly answer: TypeOutcome | TypeRefusal;
  };
  /** Requests of a limited caller need units, and the worker has none left. */
  'take-units': { readonly asks: { readonly request: LeaseRequest }; readonly answer: Grant };
  /** A caller sends feedback about a call. */
  'add-feedback': {
    readonly asks: { readonly requestId: string; readonly feedback: CallFeedback };
    readonly answer: FeedbackOutcome;
  };
  /** The playground asks for kept calls. */
  'query-calls': { readonly asks: { readonly query: CallsQuery }; readonly answer: unknown };
  /** The playground of `svc dev` writes a test from a kept call. */
  'save-test': {
    readonly asks: { readonly seq: number; readonly name: string };
    readonly answer: Result<SavedTest, string>;
  };
  /** It uses node:http and needs the bound socket of a port, which comes with the answer. */
  'share-port': { readonly asks: { readonly host: string; readonly port: number }; readonly answer: object };
}

/** How the keys of callers are used. */
export interface KeyUses {
  /** The names of keys with times in milliseconds since 1970, to the second. */
  readonly lastUse: ReadonlyArray<readonly [name: string, at: number]>;
  /** In the order of the question. */
  readonly grants: readonly Grant[];
}

export type QuestionType = keyof Questions;

/** A question without its id. */
export type Unasked<Type extends QuestionType> = { readonly type: Type } & Questions[Type]['asks'];

/** A question on its way. */
export type Asked<Type extends QuestionType = QuestionType> = {
  [Each in Type]: Unasked<Each> & { readonly id: number };
}[Type];

/** Messages from a worker to the primary. */
export type WorkerMessage =
  | Asked
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
      /** The names of the keys of requests since the last heartbeat. */
      readonly keys: readonly string[];
    }
  /** Answers `collect-metrics`; also sent every few heartbeats, with id 0, so that little is lost when the worker dies. */
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: readonly MetricData[] }
  /** The call that owns the claim has an answer that can be kept. */
  | { readonly type: 'keep-answer'; readonly id: number; readonly answer: string; readonly ttlMs: number }
  /** The call that owns the claim ended without such an answer. */
  | { readonly type: 'release-answer'; readonly id: number }
  /** It decided about the cool-down of a client. The primary passes the change on to the other workers. */
  | { readonly type: 'cool-down'; readonly change: CoolDownChange }
  /** Calls that have ended, and the number of those that it could not send. */
  | { readonly type: 'keep-calls'; readonly calls: PackedCalls; readonly dropped: number }
  /** Unused units, or units that were used beyond an estimate. */
  | { readonly type: 'give-units'; readonly units: ReturnedUnits }
  /** All requests are finished; it exits. `cut` requests got the last message of a drain instead of their answer. */
  | { readonly type: 'drained'; readonly cut: number };

/** The message that starts a worker. */
export type StartMessage = Extract<PrimaryMessage, { readonly type: 'start' }>;

/** The outcome of a claim. `mine`: the worker owns it, under this id. `busy`: another call still runs. */
export type ClaimedAnswer = Exclude<Claim, { readonly kind: 'mine' }> | { readonly kind: 'mine'; readonly id: number };

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

  readonly #flush = (): void => this.#send(this.take());
}

/** The load of a worker, as of its last heartbeat. */
export interface ConnectionLoad {
  /** Open connections of clients. */
  readonly connections: number;
  /** The fraction of the time since the previous heartbeat that its event loop was busy, from 0 to 1. */
  readonly busy: number;
}
