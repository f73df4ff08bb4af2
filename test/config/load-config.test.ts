import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import type { SettingKey, SettingValues } from '../../src/config/config.ts';
import { badValue, loadConfig, type ConfigFailure, type LoadedConfig } from '../../src/config/load-config.ts';

const LIMITS = { cores: 4 };
const home = process.cwd();
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-config-'));
  process.chdir(directory);
});

afterEach(() => {
  process.chdir(home);
  rmSync(directory, { recursive: true });
});

function load(
  flags: Partial<SettingValues> = {},
  variables: Record<string, string> = {},
  limits = LIMITS,
): LoadedConfig {
  const loaded = loadConfig(flags, { variables, limits });
  if (!loaded.ok) throw new Error(loaded.failure.message);
  return loaded.value;
}

function fail(flags: Partial<SettingValues> = {}, variables: Record<string, string> = {}): ConfigFailure {
  const loaded = loadConfig(flags, { variables, limits: LIMITS });
  if (loaded.ok) throw new Error('the values were accepted');
  return loaded.failure;
}

/** The text of each source, if it exists, and the port that wins. */
const PRECEDENCE = [
  { flag: 1, variable: '2', file: '3', wins: 1 },
  { flag: 1, variable: '2', file: undefined, wins: 1 },
  { flag: 1, variable: undefined, file: '3', wins: 1 },
  { flag: undefined, variable: '2', file: '3', wins: 2 },
  { flag: undefined, variable: '2', file: undefined, wins: 2 },
  { flag: undefined, variable: undefined, file: '3', wins: 3 },
  { flag: undefined, variable: undefined, file: undefined, wins: 2024 },
  // A variable that is set to an empty string hides the one in the file and means the default.
  { flag: undefined, variable: '', file: '3', wins: 2024 },
];

test.each(PRECEDENCE)('with flag $flag, variable $variable and .env $file the port is $wins', (row) => {
  if (row.file !== undefined) writeFileSync('.env', `SVC_PORT=${row.file}\n`);
  const flags = row.flag === undefined ? {} : { port: row.flag };
  const variables = row.variable === undefined ? {} : { SVC_PORT: row.variable };
  expect(load(flags, variables).config.port).toBe(row.wins);
});

test('without any source, every setting has its documented default', () => {
  const { env, ...config } = load().config;
  expect(env).toEqual({});
  expect(config).toEqual({
    dotenv: true,
    host: '0.0.0.0',
    port: 2024,
    basePath: '',
    title: 'svc',
    workers: 4,
    cores: 4,
    transport: 'auto',
    versionCheck: true,
    features: [],
    logLevel: 'info',
    logContent: 'short',
    logFormat: 'auto',
    logSample: 1,
    slowMs: 0,
    playground: false,
    openaiApi: false,
    mcp: false,
    mcpFunctions: '*',
    maxBodyBytes: 10_485_760,
    cache: false,
    cacheMemoryBytes: 67_108_864,
    calls: 'off',
    callsContent: 'all',
    callsSample: 1,
    callsMaxAgeMs: 2_592_000_000,
    callsMaxSizeBytes: 1_073_741_824,
    idempotencyTtlMs: 86_400_000,
    requestTimeoutMs: 300_000,
    streamTimeoutMs: 600_000,
    partialIntervalMs: 50,
    onLoss: 'accept',
    drainTimeoutMs: 60_000,
    acceptHttp10: false,
    drainDelayMs: 0,
    maxInFlight: 4096,
    maxQueue: 4096,
    callerShare: 0.25,
    coolDown: 'on',
    warmUp: 'on',
    maxWorkerMemoryBytes: 0,
    maxWorkerAgeMs: 0,
    corsOrigins: [],
    clientRegistry: 'open',
    dynamicTypes: 'on',
    allowPrivateUrls: false,
    trustLoopback: false,
    exposePrompts: false,
    secrets: [],
  });
});

test('one core still gets two workers', () => {
  expect(load({}, {}, { cores: 1 }).config.workers).toBe(2);
});

test.each([
  [0.25, 2],
  [0.5, 2],
  [1, 5],
  [4, 26],
  [64, 64],
])('on 64 cores with %d GiB there are %d workers: as many as memory allows, and at least two', (gib, workers) => {
  const loaded = loadConfig({}, { variables: {}, limits: { cores: 64, memoryBytes: gib * 2 ** 30 } });
  expect(loaded.ok && loaded.value.config.workers).toBe(workers);
  expect(loaded.ok && loaded.value.config.maxWorkerMemoryBytes).toBeGreaterThanOrEqual(128 * 2 ** 20);
});

test('--metrics-port cannot be the same as --port', () => {
  const loaded = loadConfig({ port: 9000, metricsPort: 9000 }, { variables: {}, limits: { cores: 2 } });
  expect(loaded).toMatchObject({ ok: false, failure: { exitCode: 2 } });
});

test.each([
  ['--accept-http-10', { acceptHttp10: true }],
  ['--keep-alive-timeout', { keepAliveTimeoutMs: 75_000 }],
] as const)('%s makes auto select node:http, and is refused with uws', (flag, settings) => {
  expect(load(settings, {}).config.transport).toBe('node');
  expect(load({ ...settings, transport: 'node' }, {}).config.transport).toBe('node');
  expect(fail({ ...settings, transport: 'uws' }, {})).toEqual({
    exitCode: 2,
    message: `${flag} has no effect with --transport uws. Remove it, or pass --transport auto, which then uses node:http.`,
  });
});

test('the workers and one that drains share the memory that the primary and the spare worker leave', () => {
  const loaded = loadConfig({}, { variables: {}, limits: { cores: 4, memoryBytes: 2 ** 30 } });
  expect(loaded.ok && loaded.value.config.maxWorkerMemoryBytes).toBe(Math.floor((2 ** 30 * 0.9 - 136 * 2 ** 20) / 5));
});

test('at debug, bodies are logged in full unless --log-content limits them', () => {
  expect(load({ logLevel: 'debug' }).config.logContent).toBe('full');
  expect(load({ logLevel: 'debug', logContent: 'none' }).config.logContent).toBe('none');
});

function loadForCommand(flags: object, variables: Record<string, string>): unknown {
  const defaults = { host: '127.0.0.1', trustLoopback: 'true' };
  return loadConfig(flags, { variables, limits: { cores: 2 }, defaults });
}

test('the default of a command replaces that of the setting, and every other source overrides it', () => {
  expect(loadForCommand({}, {})).toMatchObject({
    value: { config: { host: '127.0.0.1', trustLoopback: true, port: 2024 } },
  });
  expect(loadForCommand({}, { SVC_HOST: '::', SVC_TRUST_LOOPBACK: 'no' })).toMatchObject({
    value: { config: { host: '::', trustLoopback: false } },
  });
  expect(loadForCommand({ host: 'localhost' }, { SVC_HOST: '::' })).toMatchObject({
    value: { config: { host: 'localhost' } },
  });
});

test('loading .env prints nothing', () => {
  const out = vi.spyOn(process.stdout, 'write');
  const log = vi.spyOn(console, 'log');
  writeFileSync('.env', '\uFEFF# keys\nOPENAI_API_KEY="from the file"\nSVC_WORKERS=7 # seven\n');
  const { config } = load();
  expect(config.workers).toBe(7);
  expect(config.env['OPENAI_API_KEY']).toBe('from the file');
  expect(out).not.toHaveBeenCalled();
  expect(log).not.toHaveBeenCalled();
});

test('loading does not change the variables of this process', () => {
  writeFileSync('.env', 'SVC_TEST_OF_DOTENV=1\n');
  load();
  expect(process.env['SVC_TEST_OF_DOTENV']).toBeUndefined();
});

test('a variable of the environment overrides the one in .env for definitions too', () => {
  writeFileSync('.env', 'OPENAI_API_KEY=file\nOTHER=file\n');
  expect(load({}, { OPENAI_API_KEY: 'real' }).config.env).toEqual({ OPENAI_API_KEY: 'real', OTHER: 'file' });
});

test('with --no-dotenv or SVC_DOTENV=false, .env is not read', () => {
  writeFileSync('.env', 'SVC_PORT=3\n');
  expect(load({ dotenv: false }).config.port).toBe(2024);
  expect(load({}, { SVC_DOTENV: 'false' }).config.port).toBe(2024);
  expect(load({ dotenv: true }, { SVC_DOTENV: 'false' }).config.port).toBe(3);
});

test('a message about a value in the file of --dotenv-path names the file', () => {
  writeFileSync('prod.env', 'SVC_PORT=banana\n');
  expect(fail({ dotenvPath: 'prod.env' })).toEqual({
    exitCode: 2,
    message: 'SVC_PORT in prod.env is "banana", but must be a whole number from 0 to 65535',
  });
});

test('a --dotenv-path that cannot be read ends with exit code 1', () => {
  mkdirSync('folder');
  expect(fail({ dotenvPath: 'missing.env' })).toEqual({
    exitCode: 1,
    message:
      '"missing.env" cannot be read: it does not exist. Pass an existing file to --dotenv-path, or use --no-dotenv.',
  });
  expect(fail({ dotenvPath: 'folder' }).message).toContain('it is a directory');
});

test('a directory called .env is ignored', () => {
  mkdirSync('.env');
  expect(load().config.port).toBe(2024);
});

const BAD_VALUES: ReadonlyArray<readonly [SettingKey, string, string]> = [
  ['from', ' ', 'the path of a directory'],
  ['port', '65536', 'a whole number from 0 to 65535'],
  ['port', '-1', 'a whole number'],
  ['port', '80.5', 'a whole number'],
  ['port', '0x50', 'a whole number'],
  ['port', ' 80', 'a whole number'],
  ['host', ' ', 'an address or a host name'],
  ['basePath', 'llm', 'a path such as /llm'],
  ['basePath', '/a//b', 'a path such as /llm'],
  ['title', ' ', 'a title'],
  ['apiVersion', ' ', 'a version such as'],
  ['versionCheck', 'maybe', 'true or false'],
  ['dotenv', 'perhaps', 'true or false'],
  ['dotenvPath', ' ', 'the path of a file'],
  ['features', 'betta', 'one of beta, display_all_warnings. Did you mean "beta"?'],
  ['workers', '0', 'a whole number from 1 to 256'],
  ['transport', 'http2', 'one of auto, uws, node'],
  ['logLevel', 'inof', 'one of off, error, warn, info, debug, trace. Did you mean "info"?'],
  ['logContent', 'some', 'one of none, short, full'],
  ['slowMs', '10', 'a duration with a unit'],
  ['logSample', '0', 'a share such as 25% or 0.25'],
  ['logFormat', 'text', 'one of auto, json, pretty'],
  ['playground', 'maybe', 'true or false'],
  ['openaiApi', 'maybe', 'true or false'],
  ['mcp', 'maybe', 'true or false'],
  ['mcpFunctions', 'Extract-*', 'names with *, separated by commas'],
  ['acceptHttp10', 'maybe', 'true or false'],
  ['maxBodyBytes', '10 apples', 'a size such as'],
  ['maxBodyBytes', '1GiB', 'a size such as'],
  ['maxBodyBytes', '0', 'a size such as'],
  ['keys', ' ', 'the path of a file'],
  ['cache', 'maybe', 'true or false'],
  ['cacheMemoryBytes', '64k', 'at least 1048576 bytes'],
  ['idempotencyTtlMs', '24', 'a duration with a unit'],
  ['calls', 'mysql://user:secret@db/calls', 'off, sqlite:PATH'],
  ['callsContent', 'some', 'one of none, values, all'],
  ['callsSample', '0', 'a share'],
  ['callsMaxAgeMs', '30', 'an age such as 90m'],
  ['callsMaxSizeBytes', '1k', 'at least 1048576 bytes'],
  ['requestTimeoutMs', '60', 'a duration with a unit'],
  ['requestTimeoutMs', '25d', 'at most 24d'],
  ['streamTimeoutMs', '0', 'a duration with a unit'],
  ['partialIntervalMs', '-5ms', 'a duration with a unit'],
  ['drainTimeoutMs', 'soon', 'a duration with a unit'],
  ['keepAliveTimeoutMs', '1s', 'at least 2000ms'],
  ['drainDelayMs', '5sec', 'a duration with a unit'],
  ['maxInFlight', '0', 'a whole number from 1'],
  ['maxQueue', 'many', 'a whole number from 0'],
  ['callerShare', '25', 'a share such as 25% or 0.25'],
  ['callerShare', '0', 'a share such as'],
  ['callerShare', '101%', 'at most 100%'],
  ['onLoss', 'fail', 'one of accept, refuse'],
  ['prices', ' ', 'the path of a file'],
  ['keys', ' ', 'the path of a file'],
  ['maxWorkerMemoryBytes', '1MiB', 'at least 33554432 bytes'],
  ['maxWorkerAgeMs', '1s', 'at least 10000ms'],
  ['metricsPort', '99999', 'a whole number from 1 to 65535'],
  ['corsOrigins', 'example.com', '* or origins such as https://app.example.com'],
  ['corsOrigins', 'https://example.com/path', '* or origins'],
  ['clientRegistry', 'closed', 'one of open, known, off'],
  ['dynamicTypes', 'yes', 'one of on, off'],
  ['coolDown', '30s', 'one of on, off'],
  ['warmUp', '2s', 'one of on, off'],
  ['allowPrivateUrls', 'si', 'true or false'],
  ['trustLoopback', 'local', 'true or false'],
  ['exposePrompts', '2', 'true or false'],
  ['store', 'redis://', 'a URL such as redis://host:6379'],
];

test.each(BAD_VALUES)('%s cannot be "%s"', (key, text, allowed) => {
  const { variable, secret }: Setting<unknown> = SETTINGS[key];
  const failure = fail({}, { [variable]: text });
  expect(failure.exitCode).toBe(2);
  const quoted = secret === true ? '' : `is ${JSON.stringify(text)}, but `;
  expect(failure.message).toContain(`${variable} ${quoted}must be `);
  expect(failure.message).toContain(allowed);
  expect(failure.message).not.toContain('\n');
});

test('every setting has a bad value above, except for the password, which can be any string', () => {
  const tried = new Set<string>(BAD_VALUES.map(([key]) => key));
  expect(Object.keys(SETTINGS).filter((key) => !tried.has(key))).toEqual(['apiKey']);
});

test('a message quotes the first 60 characters of a bad value, on one line', () => {
  expect(badValue('--host', `a\n${'b'.repeat(100)}`, 'shorter')).toBe(
    `--host is "a\\n${'b'.repeat(58)}…", but must be shorter`,
  );
});

const GOOD_VALUES: ReadonlyArray<readonly [SettingKey, string, unknown]> = [
  ['maxBodyBytes', '10MiB', 10_485_760],
  ['maxBodyBytes', '512kb', 512_000],
  ['maxBodyBytes', '64k', 65_536],
  ['maxBodyBytes', '1.5 MB', 1_500_000],
  ['maxBodyBytes', '1048576', 1_048_576],
  ['requestTimeoutMs', '500ms', 500],
  ['requestTimeoutMs', '60s', 60_000],
  ['requestTimeoutMs', '5m', 300_000],
  ['requestTimeoutMs', '1.5h', 5_400_000],
  ['keepAliveTimeoutMs', '75s', 75_000],
  ['drainDelayMs', '0', 0],
  ['maxWorkerAgeMs', '1d', 86_400_000],
  ['callerShare', '12.5%', 0.125],
  ['callerShare', '1', 1],
  ['features', 'beta,display_all_warnings', ['beta', 'display_all_warnings']],
  ['features', 'beta beta', ['beta']],
  ['basePath', '/llm/', '/llm'],
  ['basePath', '/', ''],
  ['corsOrigins', 'https://a.example, http://localhost:3000', ['https://a.example', 'http://localhost:3000']],
  ['corsOrigins', 'https://a.example,*', ['*']],
  ['logLevel', 'DEBUG', 'debug'],
  ['versionCheck', 'off', false],
  ['metricsPort', '9090', 9090],
];

test.each(GOOD_VALUES)('%s can be "%s"', (key, text, value) => {
  expect(load({}, { [SETTINGS[key].variable]: text }).config[key]).toEqual(value);
});

test('every setting has its own variable with the prefix SVC_', () => {
  const variables = Object.values(SETTINGS).map((setting) => setting.variable);
  expect(new Set(variables).size).toBe(variables.length);
  for (const variable of variables) expect(variable).toMatch(/^SVC_[A-Z0-9_]+$/u);
});

test('an empty password is an error, since it could mean an open server', () => {
  expect(fail({}, { SVC_PASSWORD: '' })).toEqual({
    exitCode: 2,
    message: 'SVC_PASSWORD is empty. Set it to a key, or unset it to serve without one.',
  });
});

test('the password comes from the environment or .env, and a short one causes a warning', () => {
  expect(load({}, { SVC_PASSWORD: 'a long enough one' }).config.apiKey).toBe('a long enough one');
  writeFileSync('.env', 'SVC_PASSWORD=short\n');
  const { config, warnings } = load();
  expect(config.apiKey).toBe('short');
  expect(warnings.join()).toContain('fewer than 8 characters');
});

test('a variable whose name is close to one of a setting causes a warning', () => {
  expect(load({}, { SVC_PROT: '80', SVC_ZEBRA: '1' }).warnings).toEqual([
    'svc has no setting "SVC_PROT". Did you mean "SVC_PORT"?',
  ]);
});

test('the service links of Kubernetes are not settings', () => {
  const links = { SVC_PORT: 'tcp://10.0.0.7:2024', SVC_SERVICE_HOST: '10.0.0.7', SVC_PORT_2024_TCP: 'tcp://10.0.0.7' };
  const { config, warnings } = load({}, links);
  expect(config.port).toBe(2024);
  expect(warnings).toEqual([]);
});

test("BAML_PASSWORD and BAML_LOG mean the same as on BAML's server, unless the variable of svc is set", () => {
  const baml = { BAML_PASSWORD: 'a long enough one', BAML_LOG: 'WARN' };
  expect(load({}, baml).config).toMatchObject({ apiKey: 'a long enough one', logLevel: 'warn' });
  expect(load({}, baml).config.secrets).toEqual(['a long enough one']);
  const own = { SVC_PASSWORD: 'the password of svc', SVC_LOG_LEVEL: 'error' };
  expect(load({}, { ...baml, ...own }).config).toMatchObject({ apiKey: 'the password of svc', logLevel: 'error' });
  writeFileSync('.env', 'SVC_PASSWORD=the password of svc\nBAML_LOG=off\n');
  expect(load({}, { BAML_PASSWORD: 'x' }).config).toMatchObject({ apiKey: 'the password of svc', logLevel: 'off' });
});

test('no value of BAML_PASSWORD starts an open server unnoticed', () => {
  expect(fail({}, { BAML_PASSWORD: '' })).toEqual({
    exitCode: 2,
    message: 'BAML_PASSWORD is empty. Set it to a key, or unset it to serve without one.',
  });
  expect(load({}, { BAML_PASSWORD: 'short' }).warnings[0]).toMatch(/^BAML_PASSWORD has fewer than 8 characters/u);
  const both = { SVC_PASSWORD: 'a long enough one', BAML_PASSWORD: 'another long one' };
  expect(load({}, both).warnings).toEqual(['SVC_PASSWORD and BAML_PASSWORD differ. svc uses SVC_PASSWORD.']);
});

test('a password in .env.local, which BAML reads and svc does not, is an error unless another source has one', () => {
  writeFileSync('.env.local', 'BAML_PASSWORD=a long enough one\n');
  expect(fail()).toEqual({
    exitCode: 2,
    message:
      '".env.local" sets BAML_PASSWORD, but svc reads only ".env". ' +
      'Move the variable to ".env", pass --dotenv-path .env.local, or pass --no-dotenv to serve without a key.',
  });
  expect(load({ dotenvPath: '.env.local' }).config.apiKey).toBe('a long enough one');
  expect(load({ dotenv: false }).config.apiKey).toBeUndefined();
  expect(load({}, { SVC_PASSWORD: 'the password of svc' }).config.apiKey).toBe('the password of svc');
  writeFileSync('.env.local', 'OPENAI_API_KEY=other\n');
  expect(load().config.env).toEqual({});
});

test('a value of BAML_LOG that is not a level is refused with a list of the levels', () => {
  expect(fail({}, { BAML_LOG: 'warning' }).message).toMatch(
    /^BAML_LOG is "warning", but must be one of off, error, warn/u,
  );
});
