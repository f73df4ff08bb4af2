import { existsSync } from 'node:fs';
import { DURATION_RULE, durationMs, numberWithUnit } from '../base/amounts.ts';
import { err, ok, type Result } from '../base/result.ts';
import { didYouMean } from '../base/suggestion.ts';
import { workerMemoryShare, workersThatFit, type ContainerLimits } from './container-limits.ts';
import { CLIENT_REGISTRY_POLICIES } from './key-file.ts';
import { callsAddress } from './calls-address.ts';
import { storeAddress } from './store-address.ts';

const MIB = 2 ** 20;

const LOG_LEVELS = ['off', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** One thing that a user can set. The help shows settings of one group together. */
export interface Setting<Value> {
  /** Long flag and placeholder, such as `--port <number>`. Absent for a credential: every user can see command lines. */
  readonly flag?: string;
  /** A second flag, for a setting that is on by default but that a variable can turn off. */
  readonly opposite?: readonly [flag: string, help: string];
  readonly variable: string;
  /** The variable of BAML's server with the same meaning, read if `variable` is not set. */
  readonly bamlVariable?: string;
  readonly group: SettingGroup;
  readonly help: string;
  /** Values contain credentials: no message quotes them. */
  readonly secret?: true;
  readonly parse: ParseValue<Value>;
  /** Written as a user would write it, or computed. Empty: the help shows no default. */
  readonly default: string | ComputedDefault<Value>;
}

export type SettingGroup =
  | 'Definitions'
  | 'Environment'
  | 'Listening'
  | 'Pages'
  | 'Doors'
  | 'Limits'
  | 'Answers'
  | 'Kept calls'
  | 'Processes'
  | 'Security'
  | 'Logging';

interface ComputedDefault<Value> {
  /** For the help; absent: the help shows no default. */
  readonly text?: string;
  readonly compute: (basis: DefaultBasis) => Value;
}

/** The facts on which computed defaults depend. */
export interface DefaultBasis {
  readonly limits: ContainerLimits;
  readonly workers: number;
  readonly logLevel: LogLevel;
}

/** More calls than a process usually serves at once, and few enough to keep the state of all of them in memory. */
const CALLS_PER_WORKER = 1024;

/** The default for limits that the workers share. */
const CALLS_OF_ALL_WORKERS = {
  text: `${String(CALLS_PER_WORKER)} per worker`,
  compute: ({ workers }: DefaultBasis) => workers * CALLS_PER_WORKER,
};

/** The setting is absent if no source sets it. */
const NO_DEFAULT = { compute: () => undefined };

/** Infers the type of the value from the parser. The variable is named after the flag unless it is given: `--port`, `SVC_PORT`. */
function setting<Value>(declared: Declared<Value>): Omit<Setting<Value>, 'group'> {
  const name = /^--(?:no-)?([a-z0-9-]+)/u.exec(declared.flag ?? '')?.[1] ?? '';
  return { variable: `SVC_${name.toUpperCase().replaceAll('-', '_')}`, ...declared };
}

type Declared<Value> = Omit<Setting<Value>, 'group' | 'variable'> & { readonly variable?: string };

function inGroup<Settings extends Readonly<Record<string, object>>>(
  group: SettingGroup,
  settings: Settings,
): { readonly [Key in keyof Settings]: Settings[Key] & { readonly group: SettingGroup } } {
  const entries = Object.entries(settings).map(([key, declared]) => [key, { ...declared, group }]);
  return Object.fromEntries(entries) as { [Key in keyof Settings]: Settings[Key] & { group: SettingGroup } };
}

/** Accepts `0` too, for settings where it means none. */
function zeroOr(parse: ParseValue<number>): ParseValue<number> {
  return (text) => {
    if (text === '0') return ok(0);
    const parsed = parse(text);
    return parsed.ok ? parsed : err(`0, or ${parsed.failure}`);
  };
}

/** If no source names a directory, svc reads the first of these that exists. */
export const DEFAULT_DIRECTORIES = ['./svc_src', './baml_src'] as const;

// --- every setting ----------------------------------------------------------------------------------------------------

/** Every setting, in the order of the help. A flag overrides its variable, which overrides `.env`. */
export const SETTINGS = {
  ...inGroup('Definitions', {
    /** Absent if no source names a directory and none of the default directories exists. */
    from: setting({
      flag: '--from <dir>',
      help: 'The definition files: a directory, or one file',
      parse: nonEmptyString('the path of a directory or file'),
      default: {
        text: DEFAULT_DIRECTORIES.join(', otherwise '),
        compute: () => DEFAULT_DIRECTORIES.find((directory) => existsSync(directory)),
      },
    }),
    features: setting({
      flag: '--features <name...>',
      help: 'beta turns on experimental features; display_all_warnings prints every warning',
      parse: keywords('beta', 'display_all_warnings'),
      default: '',
    }),
    versionCheck: setting({
      flag: '--no-version-check',
      help: 'Ignore the versions that generator blocks require',
      parse: yesOrNo,
      default: 'true',
    }),
  }),
  ...inGroup('Environment', {
    dotenv: setting({
      flag: '--dotenv',
      opposite: ['--no-dotenv', 'Do not read a .env file'],
      help: 'Read variables from a .env file too',
      parse: yesOrNo,
      default: { text: 'on', compute: () => true },
    }),
    dotenvPath: setting({
      flag: '--dotenv-path <file>',
      help: 'The .env file to read',
      parse: nonEmptyString('the path of a file'),
      default: { text: '.env if it exists', compute: () => undefined },
    }),
  }),
  ...inGroup('Listening', {
    port: setting({
      flag: '--port <number>',
      help: 'Port of the server; 0 selects a free one',
      parse: wholeNumber(0, 65_535),
      default: '2024',
    }),
    host: setting({
      flag: '--host <address>',
      help: 'Address of the server; 0.0.0.0 accepts callers from other machines',
      parse: nonEmptyString('an address or a host name such as 0.0.0.0, :: or localhost'),
      default: '0.0.0.0',
    }),
    /** Begins with a slash and ends without one, or is empty. */
    basePath: setting({
      flag: '--base-path <path>',
      help: 'Prefix of the path of every endpoint, such as /llm',
      parse: pathPrefix,
      default: '',
    }),
    metricsPort: setting({
      flag: '--metrics-port <number>',
      help: 'Serve /metrics on this port too',
      parse: wholeNumber(1, 65_535),
      default: NO_DEFAULT,
    }),
    transport: setting({
      flag: '--transport <name>',
      help: 'HTTP implementation: uws, node, or auto (node if the next two settings need it or uws does not load)',
      parse: keyword('auto', 'uws', 'node'),
      default: 'auto',
    }),
    acceptHttp10: setting({
      flag: '--accept-http-10',
      help: 'Accept HTTP/1.0, which nginx sends without proxy_http_version 1.1; needs the node transport',
      parse: yesOrNo,
      default: 'false',
    }),
    /** Absent: the default of each transport. */
    keepAliveTimeoutMs: setting({
      flag: '--keep-alive-timeout <duration>',
      help: 'How long to keep an idle connection open; needs the node transport',
      parse: duration(2_000),
      default: { text: '130s with node, about 10s with uws', compute: () => undefined },
    }),
  }),
  ...inGroup('Pages', {
    title: setting({
      flag: '--title <text>',
      help: 'Title of /docs and of the OpenAPI document',
      parse: nonEmptyString('a title'),
      default: 'svc',
    }),
    /** Absent: the version of svc. */
    apiVersion: setting({
      flag: '--api-version <text>',
      help: 'Version of your functions in the OpenAPI document',
      parse: nonEmptyString('a version such as 1.4.0'),
      default: { text: 'the version of svc', compute: () => undefined },
    }),
    playground: setting({
      flag: '--playground',
      help: 'Serve /playground, where callers with the key can see prompts and replies',
      parse: yesOrNo,
      default: 'false',
    }),
  }),
  ...inGroup('Doors', {
    openaiApi: setting({
      flag: '--openai-api',
      help: "Serve the functions as models of OpenAI's interface at /v1",
      parse: yesOrNo,
      default: 'false',
    }),
    mcp: setting({
      flag: '--mcp',
      help: 'Serve the functions as tools of the Model Context Protocol at /mcp',
      parse: yesOrNo,
      default: 'false',
    }),
    mcpFunctions: setting({
      flag: '--mcp-functions <glob>',
      help: 'The functions that are tools, as a pattern of names such as "Extract*,Summarize"',
      parse: namePatterns,
      default: '*',
    }),
  }),
  ...inGroup('Limits', {
    requestTimeoutMs: setting({
      flag: '--request-timeout <duration>',
      help: 'Longest time for a call, including retries and fallbacks',
      parse: duration(1),
      // Providers cut most non-streamed completions at ten minutes; half of it is long for a caller who waits.
      default: '5m',
    }),
    streamTimeoutMs: setting({
      flag: '--stream-timeout <duration>',
      help: 'Longest time for a stream',
      parse: duration(1),
      default: '10m',
    }),
    maxBodyBytes: setting({
      flag: '--max-body <size>',
      help: 'Largest request body',
      // V8 cannot hold a string above 512 MiB, and a body becomes one.
      parse: size(1, 512 * MIB - 1),
      default: '10MiB',
    }),
    /** For all workers together. */
    maxInFlight: setting({
      flag: '--max-in-flight <n>',
      help: 'Calls that the workers together serve at once',
      parse: wholeNumber(1, 1_000_000),
      default: CALLS_OF_ALL_WORKERS,
    }),
    /** For all workers together. */
    maxQueue: setting({
      flag: '--max-queue <n>',
      help: 'Calls that can wait while --max-in-flight is reached; svc answers further calls with 503',
      parse: wholeNumber(0, 1_000_000),
      default: CALLS_OF_ALL_WORKERS,
    }),
    /** From 0 to 1. */
    callerShare: setting({
      flag: '--caller-share <share>',
      help: 'Share of slots, waiting types and body memory that one address can use for its own clients, types and bodies',
      parse: share,
      // Only four addresses together can keep all others out, and one that brings its own clients still gets a useful share.
      default: '25%',
    }),
    coolDown: setting({
      flag: '--cool-down <policy>',
      help: 'Whether fallback and round-robin clients pass over members that keep failing: on or off',
      parse: keyword('on', 'off'),
      default: 'on',
    }),
  }),
  ...inGroup('Answers', {
    partialIntervalMs: setting({
      flag: '--partial-interval <duration>',
      help: 'Shortest time between two partial results of a stream; 0 sends every change',
      parse: duration(0),
      default: '50ms',
    }),
    onLoss: setting({
      flag: '--on-loss <policy>',
      help: 'Accept or refuse values that lack a part of the reply; a request can override this setting',
      parse: keyword('accept', 'refuse'),
      default: 'accept',
    }),
    prices: setting({
      flag: '--prices <file>',
      help: 'The file with the prices of models, in YAML or JSON, for the cost of calls',
      parse: nonEmptyString('the path of a file'),
      default: NO_DEFAULT,
    }),
    cache: setting({
      flag: '--cache',
      help: 'Return kept answers for calls whose client or request asks for a cache',
      parse: yesOrNo,
      default: 'false',
    }),
    /** 0: svc ignores idempotency keys. */
    idempotencyTtlMs: setting({
      flag: '--idempotency-ttl <duration>',
      help: 'How long the answer to a call with an Idempotency-Key is kept; 0 turns the header off',
      parse: duration(0),
      // Longer than the retries of queues and cron jobs.
      default: '24h',
    }),
    /** For all workers together: the primary keeps the answers. */
    cacheMemoryBytes: setting({
      flag: '--cache-memory <size>',
      help: 'Memory for kept answers; the least recently used ones make room for new ones',
      parse: size(MIB),
      // Small enough for the smallest container, and room for 60,000 answers of 1 KB.
      default: '64MiB',
    }),
  }),
  ...inGroup('Kept calls', {
    calls: setting({
      flag: '--calls <where>',
      help: 'Keep what callers asked and models replied: sqlite:PATH, or postgres://…; pass a URL with a password as SVC_CALLS',
      secret: true,
      parse: callsAddress,
      default: 'off',
    }),
    callsContent: setting({
      flag: '--calls-content <amount>',
      help: 'How much of a call to keep: none (no texts), values (arguments and values) or all (prompts and replies too)',
      parse: keyword('none', 'values', 'all'),
      default: 'all',
    }),
    /** From 0 to 1. */
    callsSample: setting({
      flag: '--calls-sample <share>',
      help: 'Share of calls to keep, such as 0.01',
      parse: share,
      default: '100%',
    }),
    callsMaxAgeMs: setting({
      flag: '--calls-max-age <duration>',
      help: 'How long calls are kept',
      parse: age,
      default: '30d',
    }),
    callsMaxSizeBytes: setting({
      flag: '--calls-max-size <size>',
      help: 'Size of the SQLite file from which the oldest calls make room for new ones',
      parse: size(MIB),
      default: '1GiB',
    }),
  }),
  ...inGroup('Processes', {
    workers: setting({
      flag: '--workers <n>',
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
      help: 'Resident memory above which a worker is replaced; 0 means never',
      parse: zeroOr(size(32 * MIB)),
      default: {
        text: "a share of the container's memory limit, 0 without one",
        compute: ({ limits, workers }) => workerMemoryShare(limits, workers),
      },
    }),
    maxWorkerAgeMs: setting({
      flag: '--max-worker-age <duration>',
      help: 'Age above which a worker is replaced; 0 means never',
      parse: zeroOr(duration(10_000)),
      default: '0',
    }),
    warmUp: setting({
      flag: '--warm-up <policy>',
      help: 'Whether each worker compiles its code by calls to itself, in up to 4 s of CPU time after its start: on or off',
      parse: keyword('on', 'off'),
      default: 'on',
    }),
    drainTimeoutMs: setting({
      flag: '--drain-timeout <duration>',
      help: 'How long calls and streams can continue after SIGTERM',
      parse: duration(0),
      default: '60s',
    }),
    drainDelayMs: setting({
      flag: '--drain-delay <duration>',
      help: 'How long to accept connections after readiness fails; 5s suits Kubernetes',
      parse: duration(0),
      default: '0',
    }),
    /** Absent: the machine shares nothing with others. */
    store: setting({
      flag: '--store <url>',
      help: 'Redis or Valkey that several machines share; pass a URL with a password as SVC_STORE',
      secret: true,
      parse: storeAddress,
      default: NO_DEFAULT,
    }),
  }),
  ...inGroup('Security', {
    /** Absent: svc serves without authentication. */
    apiKey: setting({
      variable: 'SVC_PASSWORD',
      bamlVariable: 'BAML_PASSWORD',
      help: 'API key that callers must send',
      parse: (text) => ok(text),
      default: NO_DEFAULT,
    }),
    keys: setting({
      flag: '--keys <file>',
      help: 'The file with the keys of callers and their limits, in YAML or JSON; svc reloads it when it changes',
      parse: nonEmptyString('the path of a file'),
      default: NO_DEFAULT,
    }),
    clientRegistry: setting({
      flag: '--client-registry <policy>',
      help: 'Clients that a request can select: open (also those it defines), known (those in the definition files) or off (none)',
      parse: keyword(...CLIENT_REGISTRY_POLICIES),
      default: 'open',
    }),
    dynamicTypes: setting({
      flag: '--dynamic-types <policy>',
      help: 'Whether requests can extend @@dynamic types: on or off',
      parse: keyword('on', 'off'),
      default: 'on',
    }),
    /** `*` for any; empty for none, and then svc sends no CORS headers. */
    corsOrigins: setting({
      flag: '--cors-origin <origins>',
      help: 'Origins whose pages can call svc from a browser, separated by commas; * allows any',
      parse: origins,
      default: '',
    }),
    allowPrivateUrls: setting({
      flag: '--allow-private-urls',
      help: 'Let requests name loopback and private addresses',
      parse: yesOrNo,
      default: 'false',
    }),
    trustLoopback: setting({
      flag: '--trust-loopback',
      help: 'Let programs on this machine name such addresses; do not set it behind a proxy on this machine',
      parse: yesOrNo,
      default: 'false',
    }),
    exposePrompts: setting({
      flag: '--expose-prompts',
      help: 'Show the prompt in validation failures, and let requests ask for prompts, replies and reasoning',
      parse: yesOrNo,
      default: 'false',
    }),
  }),
  ...inGroup('Logging', {
    logLevel: setting({
      flag: '--log-level <level>',
      bamlVariable: 'BAML_LOG',
      help: 'Lowest level to log: off, error, warn, info, debug or trace',
      parse: (text) => keyword(...LOG_LEVELS)(text.toLowerCase()),
      default: 'info',
    }),
    logFormat: setting({
      flag: '--log-format <format>',
      help: 'auto (short lines on a terminal, otherwise JSON), json, or pretty (for trying functions by hand)',
      parse: keyword('auto', 'json', 'pretty'),
      default: 'auto',
    }),
    slowMs: setting({
      flag: '--slow <duration>',
      help: 'Duration from which a call is logged at warn, with where its time went; 0 means never',
      parse: zeroOr(duration(1)),
      default: '0',
    }),
    /** From 0 to 1. */
    logSample: setting({
      flag: '--log-sample <share>',
      help: 'Share of successful calls to log, such as 0.01; failed and slow calls are always logged',
      parse: share,
      default: '100%',
    }),
    logContent: setting({
      flag: '--log-content <amount>',
      help: 'How much of bodies, prompts and replies to log: none, short (2 KB) or full',
      parse: keyword('none', 'short', 'full'),
      default: {
        text: 'full at levels debug and trace, otherwise short',
        compute: ({ logLevel }) => (logLevel === 'debug' || logLevel === 'trace' ? 'full' : 'short'),
      },
    }),
  }),
};

// --- parsers of values ------------------------------------------------------------------------------------------------

/** Parses the text of a setting. The failure completes the sentence `--port is "x", but must be …`. */
export type ParseValue<T> = (text: string) => Result<T, string>;

/** Single letters are powers of 1024, as in Docker and the JVM. */
const SIZE_UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['k', 2 ** 10],
  ['m', 2 ** 20],
  ['g', 2 ** 30],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
]);

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): ParseValue<number> {
  const allowed = err(`a whole number from ${String(min)} to ${String(max)}`);
  return (text) => {
    if (!/^\d{1,15}$/u.test(text)) return allowed;
    const value = Number(text);
    return value < min || value > max ? allowed : ok(value);
  };
}

/** A duration with a unit, in milliseconds: `500ms`, `60s`, `5m`, `2h`, `1d`. Zero needs no unit. */
function duration(minMs: number): ParseValue<number> {
  const least = minMs === 0 ? '0 or more' : `at least ${String(minMs)}ms`;
  const allowed = err(`${DURATION_RULE} (${least}, at most 24d)`);
  return (text) => {
    const value = durationMs(text);
    return value === undefined || value < minMs ? allowed : ok(value);
  };
}

/** Unlike durations, ages can exceed the 24 days of a timer. */
const AGE_UNITS: ReadonlyMap<string, number> = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** An age in milliseconds: `90m`, `12h`, `30d`. */
export function age(text: string): Result<number, string> {
  const value = numberWithUnit(text, AGE_UNITS);
  const fits = value !== undefined && value >= 60_000 && value <= 3_660 * 86_400_000;
  return fits ? ok(Math.floor(value)) : err('an age such as 90m, 12h or 30d (at least 1m, at most ten years)');
}

/** A size in bytes: `10MiB`, `512mb`, `64k`, `1048576`. */
function size(minBytes: number, maxBytes = 2 ** 40): ParseValue<number> {
  const least = minBytes === 0 ? '0 or more' : `at least ${String(minBytes)} bytes`;
  const allowed = err(`a size such as 64k, 512mb, 10MiB or 1048576 (${least}, at most ${String(maxBytes)} bytes)`);
  return (text) => {
    const value = numberWithUnit(text, SIZE_UNITS);
    return value === undefined || value < minBytes || value > maxBytes ? allowed : ok(Math.floor(value));
  };
}

/** A share, as a percentage or a fraction: `25%`, `0.25`. */
export function share(text: string): Result<number, string> {
  const match = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/u.exec(text);
  const value = Number(match?.[1]) / (match?.[2] === '%' ? 100 : 1);
  return value > 0 && value <= 1 ? ok(value) : err('a share such as 25% or 0.25 (more than 0, at most 100%)');
}

/** One of the words. */
export function keyword<T extends string>(...words: readonly T[]): ParseValue<T> {
  return (text) => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return ok(found);
    return err(`one of ${words.join(', ')}${sentenceAfter(didYouMean(text, words))}`);
  };
}

/** Any of the words, separated by commas or spaces; an empty string means none. */
function keywords<T extends string>(...words: readonly T[]): ParseValue<readonly T[]> {
  const parse = keyword(...words);
  return (text) => {
    const found = new Set<T>();
    for (const part of text.split(/[\s,]+/u)) {
      if (part === '') continue;
      const parsed = parse(part);
      if (!parsed.ok) return parsed;
      found.add(parsed.value);
    }
    return ok([...found]);
  };
}

const YES: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const NO: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);

/** `true` or `false`; also 1, yes, on and 0, no, off. */
export function yesOrNo(text: string): Result<boolean, string> {
  const word = text.toLowerCase();
  if (YES.has(word)) return ok(true);
  return NO.has(word) ? ok(false) : err('true or false');
}

/** Any string except a blank one; `allowed` describes the value. */
function nonEmptyString(allowed: string): ParseValue<string> {
  return (text) => (text.trim() === '' || text.includes('\0') ? err(allowed) : ok(text));
}

/** Patterns of names with `*`, separated by commas. */
function namePatterns(text: string): Result<string, string> {
  if (/^[\w*]+(?:,[\w*]+)*$/u.test(text)) return ok(text);
  return err('names with *, separated by commas, such as Extract*,Summarize');
}

/** A path prefix such as `/llm` or `/a/b`. Drops a slash at the end; a single slash means no prefix. */
function pathPrefix(text: string): Result<string, string> {
  const path = text.replace(/\/$/u, '');
  if (path === '' || /^(?:\/[\w.~-]+)+$/u.test(path)) return ok(path);
  return err('a path such as /llm: a slash, then letters, digits, "-", "_", "." or "~"');
}

/** Origins separated by commas or spaces, or `*`. */
function origins(text: string): Result<readonly string[], string> {
  const found = text.split(/[\s,]+/u).filter((part) => part !== '');
  for (const origin of found) {
    if (origin !== '*' && !isOrigin(origin)) {
      return err('* or origins such as https://app.example.com (scheme, host, port; no path), separated by commas');
    }
  }
  return ok(found.includes('*') ? ['*'] : found);
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/u.test(url.protocol) && url.origin === text.toLowerCase();
}

function sentenceAfter(sentence: string): string {
  return sentence === '' ? '' : `. ${sentence}`;
}
