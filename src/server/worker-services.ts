import type { Config } from '../config/config.ts';
import type { ServiceLogger } from '../logging/create-logger.ts';
import type { Redactor } from '../logging/redactor.ts';
import type { CoolDowns } from '../policy/cool-downs.ts';
import type { Limiter } from '../policy/limiter.ts';
import { createRuntime } from '../runtime/call/create-runtime.ts';
import type { FunctionRuntime } from '../runtime/call/runtime.ts';
import { DEFAULT_REPLY_BYTES } from '../runtime/model/http/connection-pools.ts';
import { clientNames, type Program } from '../schema/program.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { STREAM_LIMITS } from './http/event-stream.ts';
import { createServices, type HttpServices } from './http/http-services.ts';
import type { Playground } from './http/playground/playground.ts';
import { ProcessMetrics } from './metrics/process-metrics.ts';
import { PARSE_ELSEWHERE_ABOVE, type ParsePool } from './parse-pool.ts';
import type { PrimaryLink } from './primary-link.ts';

/** Any reply that a model writes fits: a million tokens are about 4 MB. */
const MIN_REPLY_BYTES = 4 * 1024 * 1024;

/** The channel to the primary, or what a warm-up has in its place. */
export type WorkerLink = Pick<PrimaryLink, 'ask' | 'send' | 'claimAnswer'>;

/** What the services of a worker are made of. */
export interface WorkerParts {
  readonly config: Config;
  readonly program: Program;
  readonly version: string;
  readonly link: WorkerLink;
  readonly logger: ServiceLogger;
  readonly redactor: Redactor;
  readonly pool: ParsePool;
  /** Undefined if cool-downs are off. */
  readonly coolDowns: CoolDowns | undefined;
  readonly playground: Playground | undefined;
  /** Undefined if calls are not kept. */
  readonly calls: HttpServices['calls'];
  /** Undefined without a key file. */
  readonly limiter: Limiter | undefined;
  /** Undefined if telemetry is off. */
  readonly telemetry: Telemetry | undefined;
  /** The open connections of the worker. */
  readonly connections: () => number;
  /** Called before a body is read, with its bytes, and before a reply is parsed, with its UTF-16 units. */
  readonly onBody: (functionName: string, bytes: number) => void;
  readonly onParse: (functionName: string, length: number) => void;
}

/**
 * Creates the services of a worker. A warm-up uses it as well: V8 compiles code for the shapes of objects that it has seen, so both need
 * objects from the same places.
 */
export function createWorkerServices(parts: WorkerParts): HttpServices {
  const { config, program, link, logger, redactor } = parts;
  const runtime = createWorkerRuntime(parts);
  const answers = { claim: (key: string, waitMs: number) => link.claimAnswer(key, waitMs) };
  const services: HttpServices = createServices(config, program, answers, {
    logger,
    redactor,
    runtime,
    metrics: createMetrics(parts, runtime, () => services),
    playground: parts.playground,
    calls: parts.calls,
    limiter: parts.limiter,
    telemetry: parts.telemetry,
    version: parts.version,
    streamLimits: STREAM_LIMITS,
    metricsText: (format) => link.ask({ type: 'merge-metrics', format }),
    serverState: () => link.ask({ type: 'ask-state' }),
    keyUses: (limits) => link.ask({ type: 'ask-keys', limits }),
    onBody: parts.onBody,
  });
  return services;
}

function createWorkerRuntime({ config, program, link, logger, redactor, ...parts }: WorkerParts): FunctionRuntime {
  return createRuntime(program, {
    logger,
    hide: (secret) => redactor.add(secret),
    env: config.env,
    clientRegistry: config.clientRegistry,
    allowPrivateUrls: config.allowPrivateUrls,
    traces: config.playground,
    exposePrompts: config.exposePrompts,
    prices: config.priceList,
    onLoss: config.onLoss,
    cache: config.cache,
    maxReplyBytes: replyLimit(config),
    onParse: parts.onParse,
    parseElsewhere: (reply) => parts.pool.parse(reply),
    parseElsewhereAbove: PARSE_ELSEWHERE_ABOVE,
    roundRobinTurn: (client) => link.ask({ type: 'take-turn', client }),
    clientHealth: parts.coolDowns,
    validatorSource: (functionName) => link.ask({ type: 'load-validators', functionName }),
    typeSource:
      config.dynamicTypes === 'on'
        ? (request, caller) => link.ask({ type: 'extend-types', request, caller })
        : undefined,
  });
}

/** A fraction of the memory of a worker: with its copies, and until V8 collects them, a reply takes up to 20 times its size. */
function replyLimit({ maxWorkerMemoryBytes }: Config): number {
  if (maxWorkerMemoryBytes === 0) return DEFAULT_REPLY_BYTES;
  return Math.max(MIN_REPLY_BYTES, Math.floor(maxWorkerMemoryBytes / 32));
}

function createMetrics(
  { program, logger, pool, telemetry, connections }: WorkerParts,
  runtime: FunctionRuntime,
  services: () => HttpServices,
): ProcessMetrics {
  const labels = { functions: runtime.functionNames, clients: clientNames(program) };
  return new ProcessMetrics(labels, {
    connections,
    waiting: () => services().admission.waiting,
    parseQueue: () => pool.queueSize,
    parsed: () => pool.counts,
    upstream: () => runtime.connections(),
    droppedLogLines: () => logger.dropped,
    failedClaims: () => services().keptAnswers.failures,
    ...(telemetry === undefined ? {} : { telemetry }),
  });
}
