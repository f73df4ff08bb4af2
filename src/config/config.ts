import { existsSync } from 'node:fs';
import { ok } from '../base/result.ts';
import type { PriceList } from '../schema/price-list.ts';
import type { TelemetrySettings } from './telemetry-settings.ts';
import { workerMemoryShare, workersThatFit } from './container-limits.ts';
import { CALLS_OF_ALL_WORKERS, LOG_LEVELS, NO_DEFAULT, setting, zeroOr, type Setting } from './setting.ts';
import {
  duration,
  keyword,
  keywords,
  nonEmptyString,
  origins,
  pathPrefix,
  share,
  size,
  wholeNumber,
  yesOrNo,
} from './setting-values.ts';

/** Everything that a user can set. The type, the flags, the variables and the help all derive from `SETTINGS`. */
export type Config = SettingValues & {
  /** Whole cores that this process can use, by CPU affinity and the container's quota. */
  readonly cores: number;
  /** Variables that definitions read through `env.X`, and providers through the names of their default variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The content of the file of prices; absent without one. */
  readonly priceList?: PriceList;
  /** Absent unless a standard variable of OpenTelemetry names a receiver. */
  readonly telemetry?: TelemetrySettings;
  /** Values that no log line may contain: the API key, and each variable that looks like a credential. */
  readonly secrets: readonly string[];
};

export type SettingKey = keyof typeof SETTINGS;

type ValueOf<Key extends SettingKey> = (typeof SETTINGS)[Key] extends Setting<infer Value> ? Value : never;

type OptionalKey = { [Key in SettingKey]: undefined extends ValueOf<Key> ? Key : never }[SettingKey];

/** Durations are in milliseconds, sizes in bytes. A setting without a default can be absent. */
export type SettingValues = { readonly [Key in Exclude<SettingKey, OptionalKey>]: ValueOf<Key> } & {
  readonly [Key in OptionalKey]?: ValueOf<Key>;
};

const MIB = 2 ** 20;

/** If no source names a directory, svc reads the first of these that exists. */
export const DEFAULT_DIRECTORIES = ['./svc_src', './baml_src'] as const;

/** Every setting, in the order of the help. A flag overrides its variable, which overrides `.env`. */
export const SETTINGS = {
  /** Absent if no source names a directory and none of the default directories exists. */
  from: setting({
    flag: '--from <dir>',
    variable: 'SVC_FROM',
    group: 'Definitions',
    help: 'The definition files: a directory, or one file',
    parse: nonEmptyString('the path of a directory or file'),
    default: {
      text: DEFAULT_DIRECTORIES.join(', otherwise '),
      compute: () => DEFAULT_DIRECTORIES.find((directory) => existsSync(directory)),
    },
  }),
  features: setting({
    flag: '--features <name...>',
    variable: 'SVC_FEATURES',
    group: 'Definitions',
    help: 'beta turns on experimental features; display_all_warnings prints every warning',
    parse: keywords('beta', 'display_all_warnings'),
    default: '',
  }),
  versionCheck: setting({
    flag: '--no-version-check',
    variable: 'SVC_VERSION_CHECK',
    group: 'Definitions',
    help: 'Ignore the versions that generator blocks require',
    parse: yesOrNo,
    default: 'true',
  }),
  dotenv: setting({
    flag: '--dotenv',
    opposite: ['--no-dotenv', 'Do not read a .env file'],
    variable: 'SVC_DOTENV',
    group: 'Environment',
    help: 'Read variables from a .env file too',
    parse: yesOrNo,
    default: { text: 'on', compute: () => true },
  }),
  dotenvPath: setting({
    flag: '--dotenv-path <file>',
    variable: 'SVC_DOTENV_PATH',
    group: 'Environment',
    help: 'The .env file to read',
    parse: nonEmptyString('the path of a file'),
    default: { text: '.env if it exists', compute: () => undefined },
  }),
  port: setting({
    flag: '--port <number>',
    variable: 'SVC_PORT',
    group: 'Listening',
    help: 'Port of the server; 0 selects a free one',
    parse: wholeNumber(0, 65_535),
    default: '2024',
  }),
  host: setting({
    flag: '--host <address>',
    variable: 'SVC_HOST',
    group: 'Listening',
    help: 'Address of the server; 0.0.0.0 accepts callers from other machines',
    parse: nonEmptyString('an address or a host name such as 0.0.0.0, :: or localhost'),
    default: '0.0.0.0',
  }),
  /** Begins with a slash and ends without one, or is empty. */
  basePath: setting({
    flag: '--base-path <path>',
    variable: 'SVC_BASE_PATH',
    group: 'Listening',
    help: 'Prefix of the path of every endpoint, such as /llm',
    parse: pathPrefix,
    default: '',
  }),
  metricsPort: setting({
    flag: '--metrics-port <number>',
    variable: 'SVC_METRICS_PORT',
    group: 'Listening',
    help: 'Serve /metrics on this port too',
    parse: wholeNumber(1, 65_535),
    default: NO_DEFAULT,
  }),
  transport: setting({
    flag: '--transport <name>',
    variable: 'SVC_TRANSPORT',
    group: 'Listening',
    help: 'HTTP implementation: uws, node, or auto (uws if its binary loads, otherwise node)',
    parse: keyword('auto', 'uws', 'node'),
    default: 'auto',
  }),
  keepAliveTimeoutMs: setting({
    flag: '--keep-alive-timeout <duration>',
    variable: 'SVC_KEEP_ALIVE_TIMEOUT',
    group: 'Listening',
    help: 'How long the node transport keeps an idle connection open',
    parse: duration(2_000),
    default: '10s',
  }),
  title: setting({
    flag: '--title <text>',
    variable: 'SVC_TITLE',
    group: 'Pages',
    help: 'Title of /docs and of the OpenAPI document',
    parse: nonEmptyString('a title'),
    default: 'svc',
  }),
  /** Absent: the version of svc. */
  apiVersion: setting({
    flag: '--api-version <text>',
    variable: 'SVC_API_VERSION',
    group: 'Pages',
    help: 'Version of your functions in the OpenAPI document',
    parse: nonEmptyString('a version such as 1.4.0'),
    default: { text: 'the version of svc', compute: () => undefined },
  }),
  playground: setting({
    flag: '--playground',
    variable: 'SVC_PLAYGROUND',
    group: 'Pages',
    help: 'Serve /playground, where callers with the key can see prompts and replies',
    parse: yesOrNo,
    default: 'false',
  }),
  requestTimeoutMs: setting({
    flag: '--request-timeout <duration>',
    variable: 'SVC_REQUEST_TIMEOUT',
    group: 'Limits',
    help: 'Longest time for a call, including retries and fallbacks',
    parse: duration(1),
    // Providers cut most non-streamed completions at ten minutes; half of it is long for a caller who waits.
    default: '5m',
  }),
  streamTimeoutMs: setting({
    flag: '--stream-timeout <duration>',
    variable: 'SVC_STREAM_TIMEOUT',
    group: 'Limits',
    help: 'Longest time for a stream',
    parse: duration(1),
    default: '10m',
  }),
  maxBodyBytes: setting({
    flag: '--max-body <size>',
    variable: 'SVC_MAX_BODY',
    group: 'Limits',
    help: 'Largest request body',
    // V8 cannot hold a string above 512 MiB, and a body becomes one.
    parse: size(1, 512 * MIB - 1),
    default: '10MiB',
  }),
  /** For all workers together. */
  maxInFlight: setting({
    flag: '--max-in-flight <n>',
    variable: 'SVC_MAX_IN_FLIGHT',
    group: 'Limits',
    help: 'Calls that the workers together serve at once',
    parse: wholeNumber(1, 1_000_000),
    default: CALLS_OF_ALL_WORKERS,
  }),
  /** For all workers together. */
  maxQueue: setting({
    flag: '--max-queue <n>',
    variable: 'SVC_MAX_QUEUE',
    group: 'Limits',
    help: 'Calls that can wait while --max-in-flight is reached; svc answers further calls with 503',
    parse: wholeNumber(0, 1_000_000),
    default: CALLS_OF_ALL_WORKERS,
  }),
  /** From 0 to 1. */
  callerShare: setting({
    flag: '--caller-share <share>',
    variable: 'SVC_CALLER_SHARE',
    group: 'Limits',
    help: 'Share of slots, waiting types and body memory that one address can use for its own clients, types and bodies',
    parse: share,
    // Only four addresses together can keep all others out, and one that brings its own clients still gets a useful share.
    default: '25%',
  }),
  partialIntervalMs: setting({
    flag: '--partial-interval <duration>',
    variable: 'SVC_PARTIAL_INTERVAL',
    group: 'Answers',
    help: 'Shortest time between two partial results of a stream; 0 sends every change',
    parse: duration(0),
    default: '50ms',
  }),
  onLoss: setting({
    flag: '--on-loss <policy>',
    variable: 'SVC_ON_LOSS',
    group: 'Answers',
    help: 'Accept or refuse values that lack a part of the reply; a request can override this setting',
    parse: keyword('accept', 'refuse'),
    default: 'accept',
  }),
  prices: setting({
    flag: '--prices <file>',
    variable: 'SVC_PRICES',
    group: 'Answers',
    help: 'The file with the prices of models, in YAML or JSON, for the cost of calls',
    parse: nonEmptyString('the path of a file'),
    default: NO_DEFAULT,
  }),
  workers: setting({
    flag: '--workers <n>',
    variable: 'SVC_WORKERS',
    group: 'Processes',
    help: 'Number of worker processes',
    parse: wholeNumber(1, 256),
    default: {
      text: 'one per core if memory allows, at least 2',
      // With a single worker, no one would serve while it is replaced.
      compute: ({ limits }) => Math.max(2, Math.min(limits.cores, workersThatFit(limits))),
    },
  }),
  maxWorkerMemoryBytes: setting({
    flag: '--max-worker-memory <size>',
    variable: 'SVC_MAX_WORKER_MEMORY',
    group: 'Processes',
    help: 'Resident memory above which a worker is replaced; 0 means never',
    parse: zeroOr(size(32 * MIB)),
    default: {
      text: "a share of the container's memory limit, 0 without one",
      compute: ({ limits, workers }) => workerMemoryShare(limits, workers),
    },
  }),
  maxWorkerAgeMs: setting({
    flag: '--max-worker-age <duration>',
    variable: 'SVC_MAX_WORKER_AGE',
    group: 'Processes',
    help: 'Age above which a worker is replaced; 0 means never',
    parse: zeroOr(duration(10_000)),
    default: '0',
  }),
  drainTimeoutMs: setting({
    flag: '--drain-timeout <duration>',
    variable: 'SVC_DRAIN_TIMEOUT',
    group: 'Processes',
    help: 'How long calls and streams can continue after SIGTERM',
    parse: duration(0),
    default: '60s',
  }),
  drainDelayMs: setting({
    flag: '--drain-delay <duration>',
    variable: 'SVC_DRAIN_DELAY',
    group: 'Processes',
    help: 'How long to accept connections after readiness fails; 5s suits Kubernetes',
    parse: duration(0),
    default: '0',
  }),
  /** Absent: svc serves without authentication. */
  apiKey: setting({
    variable: 'SVC_PASSWORD',
    bamlVariable: 'BAML_PASSWORD',
    group: 'Security',
    help: 'API key that callers must send',
    parse: (text) => ok(text),
    default: NO_DEFAULT,
  }),
  clientRegistry: setting({
    flag: '--client-registry <policy>',
    variable: 'SVC_CLIENT_REGISTRY',
    group: 'Security',
    help: 'Clients that a request can select: open (also those it defines), known (those in the definition files) or off (none)',
    parse: keyword('open', 'known', 'off'),
    default: 'open',
  }),
  dynamicTypes: setting({
    flag: '--dynamic-types <policy>',
    variable: 'SVC_DYNAMIC_TYPES',
    group: 'Security',
    help: 'Whether requests can extend @@dynamic types: on or off',
    parse: keyword('on', 'off'),
    default: 'on',
  }),
  /** `*` for any; empty for none, and then svc sends no CORS headers. */
  corsOrigins: setting({
    flag: '--cors-origin <origins>',
    variable: 'SVC_CORS_ORIGIN',
    group: 'Security',
    help: 'Origins whose pages can call svc from a browser, separated by commas; * allows any',
    parse: origins,
    default: '',
  }),
  allowPrivateUrls: setting({
    flag: '--allow-private-urls',
    variable: 'SVC_ALLOW_PRIVATE_URLS',
    group: 'Security',
    help: 'Let requests name loopback and private addresses',
    parse: yesOrNo,
    default: 'false',
  }),
  trustLoopback: setting({
    flag: '--trust-loopback',
    variable: 'SVC_TRUST_LOOPBACK',
    group: 'Security',
    help: 'Let programs on this machine name such addresses; do not set it behind a proxy on this machine',
    parse: yesOrNo,
    default: 'false',
  }),
  exposePrompts: setting({
    flag: '--expose-prompts',
    variable: 'SVC_EXPOSE_PROMPTS',
    group: 'Security',
    help: 'Show the prompt in validation failures, and let requests ask for prompts, replies and reasoning',
    parse: yesOrNo,
    default: 'false',
  }),
  logLevel: setting({
    flag: '--log-level <level>',
    variable: 'SVC_LOG_LEVEL',
    bamlVariable: 'BAML_LOG',
    group: 'Logging',
    help: 'Lowest level to log: off, error, warn, info, debug or trace',
    parse: (text) => keyword(...LOG_LEVELS)(text.toLowerCase()),
    default: 'info',
  }),
  logFormat: setting({
    flag: '--log-format <format>',
    variable: 'SVC_LOG_FORMAT',
    group: 'Logging',
    help: 'auto (short lines on a terminal, otherwise JSON), json, or pretty (for trying functions by hand)',
    parse: keyword('auto', 'json', 'pretty'),
    default: 'auto',
  }),
  slowMs: setting({
    flag: '--slow <duration>',
    variable: 'SVC_SLOW',
    group: 'Logging',
    help: 'Duration from which a call is logged at warn, with where its time went; 0 means never',
    parse: zeroOr(duration(1)),
    default: '0',
  }),
  /** From 0 to 1. */
  logSample: setting({
    flag: '--log-sample <share>',
    variable: 'SVC_LOG_SAMPLE',
    group: 'Logging',
    help: 'Share of successful calls to log, such as 0.01; failed and slow calls are always logged',
    parse: share,
    default: '100%',
  }),
  logContent: setting({
    flag: '--log-content <amount>',
    variable: 'SVC_LOG_CONTENT',
    group: 'Logging',
    help: 'How much of bodies, prompts and replies to log: none, short (2 KB) or full',
    parse: keyword('none', 'short', 'full'),
    default: {
      text: 'full at levels debug and trace, otherwise short',
      compute: ({ logLevel }) => (logLevel === 'debug' || logLevel === 'trace' ? 'full' : 'short'),
    },
  }),
};
