import type { Config } from '../../../src/config/config.ts';
import type { CallerLimits } from '../../../src/config/key-file.ts';
import { Redactor } from '../../../src/logging/redactor.ts';
import type { Logger, LogFields } from '../../../src/logging/logger.ts';
import { MemoryAnswers } from '../../../src/policy/memory-answers.ts';
import { BodyBudget, createBodyBudget } from '../../../src/server/admission.ts';
import type { Door } from '../../../src/server/doors/door.ts';
import { createHandler, createReject } from '../../../src/server/http/create-handler.ts';
import { STREAM_LIMITS, type StreamLimits } from '../../../src/server/http/event-stream.ts';
import { createServices, type HttpServices } from '../../../src/server/http/http-services.ts';
import { LeaseDesk, type LeaseRequest, type ReturnedUnits } from '../../../src/policy/lease-desk.ts';
import { Leases } from '../../../src/policy/leases.ts';
import { MemoryLedger } from '../../../src/policy/ledger.ts';
import { Limiter } from '../../../src/policy/limiter.ts';
import type { Transport } from '../../../src/server/http/transport.ts';
import type { Playground } from '../../../src/server/http/playground/playground.ts';
import { createTransport } from '../../../src/server/http/transports/create-transport.ts';
import { ClusterMetrics } from '../../../src/server/metrics/cluster-metrics.ts';
import type { Grant } from '../../../src/policy/ledger.ts';
import { ProcessMetrics } from '../../../src/server/metrics/process-metrics.ts';
import { SOURCES } from './gauge-sources.ts';
import { ScriptedRuntime } from './scripted-runtime.ts';
import type { TransportName } from './transports.ts';

export interface LogLine {
  readonly level: string;
  readonly fields: LogFields;
  readonly message: string;
}

/** The server of one worker, in the process of the test. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly runtime: ScriptedRuntime;
  readonly services: HttpServices;
  readonly answers: MemoryAnswers;
  readonly transport: Transport;
  readonly log: readonly LogLine[];
  close(): void;
}

const CONFIG: Config = {
  from: 'svc_src',
  dotenv: false,
  host: '127.0.0.1',
  port: 0,
  workers: 1,
  cores: 1,
  transport: 'auto',
  acceptHttp10: false,
  versionCheck: true,
  features: [],
  logLevel: 'debug',
  logContent: 'full',
  logFormat: 'auto',
  logSample: 1,
  slowMs: 0,
  cacheMemoryBytes: 2 ** 20,
  idempotencyTtlMs: 86_400_000,
  cache: false,
  calls: 'off',
  callsContent: 'all',
  callsSample: 1,
  callsMaxAgeMs: 86_400_000,
  callsMaxSizeBytes: 2 ** 30,
  playground: false,
  maxBodyBytes: 10_000,
  requestTimeoutMs: 60_000,
  streamTimeoutMs: 60_000,
  warmUp: 'off',
  drainTimeoutMs: 1_000,
  drainDelayMs: 0,
  partialIntervalMs: 50,
  maxInFlight: 100,
  maxQueue: 100,
  callerShare: 0.25,
  maxWorkerMemoryBytes: 0,
  maxWorkerAgeMs: 0,
  basePath: '',
  title: 'svc',
  openaiApi: false,
  mcp: false,
  mcpFunctions: '*',
  corsOrigins: [],
  exposePrompts: false,
  onLoss: 'accept',
  clientRegistry: 'open',
  dynamicTypes: 'on',
  coolDown: 'on',
  allowPrivateUrls: false,
  trustLoopback: false,
  env: {},
  secrets: [],
};

/** The parts of a server that most tests do not need. */
interface ExtraParts {
  readonly playground?: Playground | undefined;
  readonly doors?: readonly Door[];
}

/** The state of a limit of which nothing is used. */
function grantOf(units: number): Grant {
  return { granted: 0, remaining: units, resetMs: 0, window: 0 };
}

/** The one worker of the server. */
const WORKER = { number: 1, rssBytes: 50_000_000, lagSeconds: 0.25 };

export async function startServer(
  name: TransportName,
  overrides: Partial<Config> = {},
  limits: Partial<StreamLimits> = {},
  { playground, doors = [] }: ExtraParts = {},
): Promise<TestServer> {
  const log: LogLine[] = [];
  const runtime = new ScriptedRuntime();
  const answers = new MemoryAnswers({ maxBytes: 2 ** 20 });
  const logger = recordingLogger(log);
  const metrics = new ProcessMetrics({ functions: runtime.functionNames, clients: new Set(['Fast']) }, SOURCES);
  const config = { ...CONFIG, ...overrides };
  const program = { hash: 'abc', openapi: { openapi: '3.0.3' }, clients: [], functions: [] };
  const services = createServices(config, program, answers, {
    logger,
    redactor: new Redactor(config.secrets),
    runtime,
    metrics,
    version: '1.2.3',
    playground,
    onBody: () => undefined,
    limiter: overrides.keyFile === undefined ? undefined : localLimiter(overrides.keyFile.defaultLimits),
    streamLimits: { ...STREAM_LIMITS, ...limits },
    serverState: async () => ({ uptimeSeconds: 90, workers: [], failures: [], cooling: [] }),
    keyUses: async (asked) => ({ lastUse: [], grants: asked.map(({ units }) => grantOf(units)) }),
    metricsText: async (format) => new ClusterMetrics().text([metrics.data()], [WORKER], format),
  });
  services.health.ready = true;
  const transport = await createTransport(name, {
    handler: createHandler(services, doors),
    reject: createReject(logger),
    discardLimit: 100_000,
    bodyBudget: overrides.maxBodyBytes === undefined ? new BodyBudget(50_000, 12_500) : createBodyBudget(config),
    maxUnreadBytes: 64_000_000,
    maxConnections: 1_000,
    closeAbove: 1_000,
  });
  const port = await transport.listen('127.0.0.1', 0);
  const close = () => transport.close();
  return { url: `http://127.0.0.1:${port}`, port, runtime, services, answers, transport, log, close };
}

/** The limits of the one worker, counted in this process. */
function localLimiter(addressLimits: CallerLimits | undefined): Limiter {
  const desk = new LeaseDesk(new MemoryLedger());
  const holder = { recall: () => undefined };
  const source = {
    take: (request: LeaseRequest) => desk.take(holder, request),
    give: (units: ReturnedUnits) => desk.give(holder, units),
  };
  return new Limiter(new Leases({ source, workers: 1, onFailure: () => undefined }), addressLimits);
}

function recordingLogger(lines: LogLine[]): Logger {
  const record = (level: string) => (fields: LogFields, message: string) => void lines.push({ level, fields, message });
  return {
    level: 'debug',
    enabled: () => true,
    error: record('error'),
    warn: record('warn'),
    info: record('info'),
    debug: record('debug'),
  };
}
