import { ok } from '../base/result.ts';
import type { Config } from './config.ts';
import type { ContainerLimits } from './container-limits.ts';
import { roomForWorkers } from './memory-plan.ts';
import {
  duration,
  nonEmptyText,
  oneOf,
  origins,
  pathPrefix,
  size,
  wholeNumber,
  wordsOf,
  yesOrNo,
} from './setting-values.ts';
import type { ParseValue } from './setting-values.ts';

/** One thing that a flag or a variable decides. */
export interface Setting<T> {
  /** The long flag with its placeholder, as in `--port <number>`; a flag that starts with `--no-` turns it off. */
  readonly flag: string;
  readonly variable: string;
  readonly description: string;
  readonly parse: ParseValue<T>;
  readonly fallback: T | ((limits: ContainerLimits) => T);
  /** How the default is told in the help, where the value itself says too little. */
  readonly fallbackText?: string;
}

/** The keys of Config that a setting decides; the others follow from the environment and the machine. */
export type SettingKey = Exclude<keyof Config, 'cores' | 'apiKey' | 'env' | 'secrets'>;

type Settings = { readonly [K in SettingKey]: Setting<Config[K] | (undefined extends Config[K] ? undefined : never)> };

const MIB = 2 ** 20;

/** More than one process usually has under way, and few enough that memory holds what all of them hold. */
export const CALLS_OF_A_WORKER = 1024;

/** Every setting, in the order of the help text. */
export const SETTINGS: Settings = {
  from: {
    flag: '--from <dir>',
    variable: 'SVC_FROM',
    description: 'directory of the definition files',
    parse: nonEmptyText('the path of a directory'),
    fallback: './svc_src',
  },
  port: {
    flag: '--port <number>',
    variable: 'SVC_PORT',
    description: 'port to listen on; 0 takes a free one',
    parse: wholeNumber(0, 65_535),
    fallback: 2024,
  },
  host: {
    flag: '--host <address>',
    variable: 'SVC_HOST',
    description: 'address to listen on',
    parse: nonEmptyText('an address or a host name such as 0.0.0.0, :: or localhost'),
    fallback: '0.0.0.0',
  },
  basePath: {
    flag: '--base-path <path>',
    variable: 'SVC_BASE_PATH',
    description: 'path put before every endpoint',
    parse: pathPrefix,
    fallback: '',
    fallbackText: 'none',
  },
  versionCheck: {
    flag: '--no-version-check',
    variable: 'SVC_VERSION_CHECK',
    description: 'start although a generator block asks for another version',
    parse: yesOrNo,
    fallback: true,
    fallbackText: 'checked',
  },
  features: {
    flag: '--features <name...>',
    variable: 'SVC_FEATURES',
    description: 'beta: experimental features, without their warnings; display_all_warnings: print every warning',
    parse: wordsOf('beta', 'display_all_warnings'),
    fallback: [],
    fallbackText: 'none',
  },
  workers: {
    flag: '--workers <n>',
    variable: 'SVC_WORKERS',
    description: 'number of worker processes',
    parse: wholeNumber(1, 256),
    // One worker alone would leave nobody to serve while it is replaced.
    fallback: (limits) => Math.max(2, Math.min(limits.cores, roomForWorkers(limits))),
    fallbackText: 'one for each core, at least 2, as far as the container has memory for them',
  },
  transport: {
    flag: '--transport <name>',
    variable: 'SVC_TRANSPORT',
    description: 'HTTP implementation: auto, uws or node; auto takes uws where its binary loads',
    parse: oneOf('auto', 'uws', 'node'),
    fallback: 'auto',
  },
  logLevel: {
    flag: '--log-level <level>',
    variable: 'SVC_LOG_LEVEL',
    description: 'off, error, warn, info, debug or trace',
    parse: (text) => oneOf('off', 'error', 'warn', 'info', 'debug', 'trace')(text.toLowerCase()),
    fallback: 'info',
  },
  logContent: {
    flag: '--log-content <amount>',
    variable: 'SVC_LOG_CONTENT',
    description: 'how much of bodies, prompts and replies is logged: none, short (2 KB) or full',
    parse: oneOf('none', 'short', 'full'),
    fallback: 'short',
    fallbackText: 'short; full at level debug and trace',
  },
  maxBodyBytes: {
    flag: '--max-body <size>',
    variable: 'SVC_MAX_BODY',
    description: 'largest request body',
    // V8 cannot hold a string above 512 MiB, and a body becomes one.
    parse: size(1, 512 * MIB - 1),
    fallback: 10 * MIB,
    fallbackText: '10MiB',
  },
  requestTimeoutMs: {
    flag: '--request-timeout <duration>',
    variable: 'SVC_REQUEST_TIMEOUT',
    description: 'longest time of a call, retries and fallbacks included',
    parse: duration(1),
    // Providers cut most non-streamed completions at ten minutes; half of it is long for a caller who waits.
    fallback: 300_000,
    fallbackText: '5m',
  },
  streamTimeoutMs: {
    flag: '--stream-timeout <duration>',
    variable: 'SVC_STREAM_TIMEOUT',
    description: 'longest time of a stream',
    parse: duration(1),
    fallback: 600_000,
    fallbackText: '10m',
  },
  partialIntervalMs: {
    flag: '--partial-interval <duration>',
    variable: 'SVC_PARTIAL_INTERVAL',
    description: 'least time between two partial results of a stream; 0: one for every change',
    parse: duration(0),
    fallback: 50,
    fallbackText: '50ms',
  },
  keepAliveTimeoutMs: {
    flag: '--keep-alive-timeout <duration>',
    variable: 'SVC_KEEP_ALIVE_TIMEOUT',
    description: 'how long idle connections stay open, with --transport node alone',
    parse: duration(2_000),
    fallback: 10_000,
    fallbackText: '10s',
  },
  drainTimeoutMs: {
    flag: '--drain-timeout <duration>',
    variable: 'SVC_DRAIN_TIMEOUT',
    description: 'how long calls and streams may go on after SIGTERM',
    parse: duration(0),
    fallback: 60_000,
    fallbackText: '60s',
  },
  drainDelayMs: {
    flag: '--drain-delay <duration>',
    variable: 'SVC_DRAIN_DELAY',
    description: 'time between failing readiness and refusing connections; 5s suits Kubernetes',
    parse: duration(0),
    fallback: 0,
  },
  maxInFlight: {
    flag: '--max-in-flight <n>',
    variable: 'SVC_MAX_IN_FLIGHT',
    description: 'calls served at once by the server, shared out equally among its workers',
    parse: wholeNumber(1, 1_000_000),
    fallback: 2 * CALLS_OF_A_WORKER,
    fallbackText: '1024 for each worker',
  },
  maxQueue: {
    flag: '--max-queue <n>',
    variable: 'SVC_MAX_QUEUE',
    description: 'calls that wait when as many as allowed are served, shared out like them; more get 503',
    parse: wholeNumber(0, 1_000_000),
    fallback: 2 * CALLS_OF_A_WORKER,
    fallbackText: '1024 for each worker',
  },
  maxWorkerMemoryBytes: {
    flag: '--max-worker-memory <size>',
    variable: 'SVC_MAX_WORKER_MEMORY',
    description: 'resident memory above which a worker is replaced; 0: never',
    parse: (text) => (text === '0' ? ok(0) : size(32 * MIB)(text)),
    fallback: 0,
    fallbackText: "the container's limit shared out, or never",
  },
  maxWorkerAgeMs: {
    flag: '--max-worker-age <duration>',
    variable: 'SVC_MAX_WORKER_AGE',
    description: 'age above which a worker is replaced; 0: never',
    parse: (text) => (text === '0' ? ok(0) : duration(10_000)(text)),
    fallback: 0,
    fallbackText: 'never',
  },
  metricsPort: {
    flag: '--metrics-port <number>',
    variable: 'SVC_METRICS_PORT',
    description: 'serve /metrics on a port of its own as well',
    parse: wholeNumber(1, 65_535),
    fallback: undefined,
    fallbackText: 'none',
  },
  corsOrigins: {
    flag: '--cors-origin <origins>',
    variable: 'SVC_CORS_ORIGIN',
    description: 'origins that browsers may call from, separated by commas; * for any',
    parse: origins,
    fallback: [],
    fallbackText: 'none',
  },
  clientRegistry: {
    flag: '--client-registry <policy>',
    variable: 'SVC_CLIENT_REGISTRY',
    description: 'clients of a request: open (any), known (only those of the definition files) or off',
    parse: oneOf('open', 'known', 'off'),
    fallback: 'open',
  },
  allowPrivateUrls: {
    flag: '--allow-private-urls',
    variable: 'SVC_ALLOW_PRIVATE_URLS',
    description: 'let requests name loopback and private addresses',
    parse: yesOrNo,
    fallback: false,
    fallbackText: 'refused',
  },
  exposePrompts: {
    flag: '--expose-prompts',
    variable: 'SVC_EXPOSE_PROMPTS',
    description: 'show the prompt in validation failures',
    parse: yesOrNo,
    fallback: false,
    fallbackText: 'hidden',
  },
};
