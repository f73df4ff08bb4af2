import type { FeedbackOutcome } from '../../calls/call-database.ts';
import type { CallRow } from '../../calls/call-rows.ts';
import type { CallsQuery } from '../../calls/calls-thread.ts';
import type { CallFeedback } from '../../schema/kept-call.ts';
import { ByteBudget } from '../../base/byte-budget.ts';
import { SwapRemoveSet } from '../../base/swap-remove-set.ts';
import type { Config } from '../../config/config.ts';
import type { KeyFile } from '../../config/key-file.ts';
import type { Logger } from '../../logging/logger.ts';
import type { Redactor } from '../../logging/redactor.ts';
import { createRequestLog, type RequestLog } from '../../logging/request-log.ts';
import type { AnswerStore } from '../../policy/answer-store.ts';
import type { Limiter } from '../../policy/limiter.ts';
import type { FunctionRuntime } from '../../runtime/call/runtime.ts';
import type { StoreHealth } from '../../policy/store/store.ts';
import { clientNames, type Program } from '../../schema/program.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { Admission, shareOf, type Drainable } from '../admission.ts';
import { KeptAnswers } from '../kept-answers.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import type { Limit } from '../../policy/ledger.ts';
import type { Degraded, KeyUses, MetricsFormat } from '../protocol.ts';
import type { ServerState } from '../server-state.ts';
import { Authenticator, requiresKey, WrongKeys } from './auth.ts';
import { jsonDocument, loadDocsAssets, type StaticAsset } from './static-asset.ts';
import type { StreamLimits } from './event-stream.ts';
import { listensOnLoopback } from './local-caller.ts';
import type { Playground } from './playground/playground.ts';
import { Sweep } from './sweep.ts';
import { VisibleDocuments, visibleOpenApi } from './visible-program.ts';

/** The parts of the services that differ between a worker and a test. */
export interface ServiceParts {
  readonly logger: Logger;
  /** Masks credentials in errors. */
  readonly redactor: Redactor;
  readonly runtime: FunctionRuntime;
  /** Called before svc reads a body, with its size in bytes. */
  readonly onBody: (functionName: string, bytes: number) => void;
  /** Undefined without a key file. */
  readonly limiter?: Limiter | undefined;
  readonly metrics: ProcessMetrics;
  /** Undefined if telemetry is off. */
  readonly telemetry?: Telemetry | undefined;
  /** The metrics of all processes as text. */
  metricsText(format: MetricsFormat): Promise<string>;
  /** The state of all processes. */
  serverState(): Promise<ServerState>;
  /** The last uses of keys, and the state of these limits. */
  keyUses(limits: readonly Limit[]): Promise<KeyUses>;
  readonly streamLimits: StreamLimits;
  readonly version: string;
  /** Absent unless it is on. */
  readonly playground?: Playground | undefined;
  /** Undefined if calls are not kept. */
  readonly calls?: CallSink | undefined;
}

/** Takes the calls that are kept. */
export interface CallSink {
  readonly content: Config['callsContent'];
  /** The share of calls that is kept, from 0 to 1. */
  readonly sample: number;
  add(row: CallRow): void;
  addFeedback(requestId: string, feedback: CallFeedback): Promise<FeedbackOutcome>;
  query(query: CallsQuery): Promise<unknown>;
  /** Writes a test, and a recorded reply, from the call with this `seq`: a `Result<SavedTest, string>`. */
  saveTest(seq: number, name: string): Promise<unknown>;
}

/** The objects that the handlers of one process share. */
export interface HttpServices extends ServiceParts {
  readonly config: HttpConfig;
  readonly requestLog: RequestLog;
  readonly authenticator: Authenticator;
  /**
   * Refuses callers that are not on this machine: a playground on a loopback address has no key, and an attacker can make a name
   * resolve to that address (DNS rebinding).
   */
  readonly localOnly: boolean;
  readonly wrongKeys: WrongKeys;
  readonly admission: Admission;
  readonly keptAnswers: KeptAnswers;
  /** The names of the clients of the definitions. */
  readonly clients: ReadonlySet<string>;
  readonly health: Health;
  /** Calls and streams whose answer is not complete. */
  readonly active: SwapRemoveSet<Drainable>;
  /** Checks the time limits of all streams. */
  readonly sweep: Sweep;
  /** Limits the data that the readers of all streams have not accepted yet. */
  readonly streamBacklog: ByteBudget;
  readonly programHash: string;
  readonly openapi: VisibleDocuments;
  /** The files of `/docs`, and of `/playground` if it is on, by request path. */
  readonly assets: ReadonlyMap<string, StaticAsset>;
}

/** The settings that HTTP depends on. */
export type HttpConfig = Pick<
  Config,
  | 'apiKey'
  | 'basePath'
  | 'callerShare'
  | 'corsOrigins'
  | 'exposePrompts'
  | 'features'
  | 'idempotencyTtlMs'
  | 'keyFile'
  | 'maxBodyBytes'
  | 'partialIntervalMs'
  | 'requestTimeoutMs'
  | 'streamTimeoutMs'
  | 'trustLoopback'
>;

/** The state that the probes report; the worker changes it. */
export interface Health {
  /** False while the worker starts or drains: balancers send it nothing new. */
  ready: boolean;
  /** Null when all workers serve, or will soon. */
  degraded: Degraded | null;
  /** The state of the store that machines share; absent without one. */
  store?: StoreHealth | undefined;
}

type ServedProgram = Pick<Program, 'clients' | 'functions' | 'hash' | 'openapi'>;

/** Creates the services; `health.ready` is false. `answers` keeps answers for all processes. */
export function createServices(
  config: Config,
  program: ServedProgram,
  answers: AnswerStore,
  parts: ServiceParts,
): HttpServices {
  const { logger, redactor } = parts;
  const active = new SwapRemoveSet<Drainable>();
  const slots = shareOf(config.maxInFlight, config.workers);
  const queue = shareOf(config.maxQueue, config.workers);
  const keys = { file: config.keyFile, password: config.apiKey };
  return {
    ...parts,
    config,
    requestLog: createRequestLog(logger, config, { redactor }),
    authenticator: new Authenticator(keys, { onKey: (key) => redactor.add(key) }),
    localOnly: config.playground && !requiresKey(keys) && listensOnLoopback(config.host),
    wrongKeys: new WrongKeys(active),
    admission: new Admission(slots, queue, config.callerShare),
    keptAnswers: new KeptAnswers({ store: answers, logger, limit: slots + queue }),
    clients: clientNames(program),
    health: { ready: false, degraded: null },
    active,
    sweep: new Sweep(),
    streamBacklog: new ByteBudget(parts.streamLimits.maxBacklogBytes),
    programHash: program.hash,
    openapi: new VisibleDocuments(jsonDocument(program.openapi), visibleOpenApi),
    assets: new Map([...loadDocsAssets(), ...(parts.playground?.assets ?? [])]),
  };
}

/** Checks every request from now on with the keys and the limits of this file. */
export function replaceKeys({ authenticator, limiter }: HttpServices, file: KeyFile): void {
  authenticator.replace(file);
  limiter?.replace(file.defaultLimits);
}
