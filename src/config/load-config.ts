import { err, ok } from '../base/result.ts';
import type { Result } from '../base/result.ts';
import { nearestNames } from '../base/suggestion.ts';
import type { Config } from './config.ts';
import { containerLimits } from './container-limits.ts';
import type { ContainerLimits } from './container-limits.ts';
import { joinEnvironment, processVariables } from './environment.ts';
import type { DotenvChoice, Environment, Variables } from './environment.ts';
import { memoryShare } from './memory-plan.ts';
import { secretsOf } from './secrets.ts';
import { yesOrNo } from './setting-values.ts';
import { CALLS_OF_A_WORKER, SETTINGS } from './settings.ts';
import type { Setting, SettingKey } from './settings.ts';

/** What the command line gave, as text: `{ port: '8080', versionCheck: 'false' }`. */
export type FlagValues = Readonly<Partial<Record<SettingKey | 'dotenv' | 'dotenvPath', string>>>;

export interface LoadedConfig {
  readonly config: Config;
  /** Odd things that stop nothing, one line each. */
  readonly notes: readonly string[];
}

/** One line for the user, and the exit code: 2 for a value that is not allowed, 1 for a file that is not there. */
export interface ConfigFailure {
  readonly message: string;
  readonly exitCode: 1 | 2;
}

/** Where values come from, besides flags; the real process and machine unless a test says otherwise. */
export interface ConfigSources {
  readonly variables?: Variables;
  readonly limits?: ContainerLimits;
}

/** Variables that are read by name and have no flag: a credential on a command line is visible to every user. */
const OTHER_VARIABLES = ['SVC_PASSWORD', 'SVC_DOTENV', 'SVC_DOTENV_PATH'];

/** Joins flags, environment, `.env` and defaults, in this order of strength, and checks every value. */
export function loadConfig(flags: FlagValues, sources: ConfigSources = {}): Result<LoadedConfig, ConfigFailure> {
  const real = sources.variables ?? processVariables();
  const choice = dotenvChoice(flags, real);
  if (!choice.ok) return err({ message: choice.failure, exitCode: 2 });
  const environment = joinEnvironment(real, choice.value);
  if (!environment.ok) return err({ message: environment.failure, exitCode: 1 });
  const { variables } = environment.value;
  const limits = sources.limits ?? containerLimits();
  const reader = new SettingReader(flags, environment.value, limits);
  const config = readConfig(reader, variables, limits.cores);
  const fault = reader.fault ?? passwordFault(variables) ?? portFault(config);
  if (fault !== undefined) return err({ message: fault, exitCode: 2 });
  return ok({ config, notes: notesOn(variables) });
}

function dotenvChoice(flags: FlagValues, real: Variables): Result<DotenvChoice, string> {
  const enabled = yesOrNo(flags.dotenv ?? (real['SVC_DOTENV'] || 'true'));
  if (!enabled.ok) return err(notAllowed('SVC_DOTENV', real['SVC_DOTENV'] ?? '', enabled.failure));
  const path = flags.dotenvPath ?? real['SVC_DOTENV_PATH'];
  return ok(path === undefined || path === '' ? { enabled: enabled.value } : { enabled: enabled.value, path });
}

function readConfig(reader: SettingReader, variables: Variables, cores: number): Config {
  const workers = reader.read('workers', SETTINGS.workers);
  const logLevel = reader.read('logLevel', SETTINGS.logLevel);
  const metricsPort = reader.read('metricsPort', SETTINGS.metricsPort);
  const apiKey = variables['SVC_PASSWORD'];
  return {
    from: reader.read('from', SETTINGS.from),
    host: reader.read('host', SETTINGS.host),
    port: reader.read('port', SETTINGS.port),
    basePath: reader.read('basePath', SETTINGS.basePath),
    workers,
    cores,
    transport: reader.read('transport', SETTINGS.transport),
    versionCheck: reader.read('versionCheck', SETTINGS.versionCheck),
    features: reader.read('features', SETTINGS.features),
    logLevel,
    logContent: reader.read('logContent', {
      ...SETTINGS.logContent,
      fallback: logLevel === 'debug' || logLevel === 'trace' ? 'full' : 'short',
    }),
    maxBodyBytes: reader.read('maxBodyBytes', SETTINGS.maxBodyBytes),
    requestTimeoutMs: reader.read('requestTimeoutMs', SETTINGS.requestTimeoutMs),
    streamTimeoutMs: reader.read('streamTimeoutMs', SETTINGS.streamTimeoutMs),
    partialIntervalMs: reader.read('partialIntervalMs', SETTINGS.partialIntervalMs),
    keepAliveTimeoutMs: reader.read('keepAliveTimeoutMs', SETTINGS.keepAliveTimeoutMs),
    drainTimeoutMs: reader.read('drainTimeoutMs', SETTINGS.drainTimeoutMs),
    drainDelayMs: reader.read('drainDelayMs', SETTINGS.drainDelayMs),
    maxInFlight: reader.read('maxInFlight', { ...SETTINGS.maxInFlight, fallback: workers * CALLS_OF_A_WORKER }),
    maxQueue: reader.read('maxQueue', { ...SETTINGS.maxQueue, fallback: workers * CALLS_OF_A_WORKER }),
    maxWorkerMemoryBytes: reader.read('maxWorkerMemoryBytes', {
      ...SETTINGS.maxWorkerMemoryBytes,
      fallback: (limits) => memoryShare(limits, workers),
    }),
    maxWorkerAgeMs: reader.read('maxWorkerAgeMs', SETTINGS.maxWorkerAgeMs),
    ...(metricsPort === undefined ? {} : { metricsPort }),
    corsOrigins: reader.read('corsOrigins', SETTINGS.corsOrigins),
    clientRegistry: reader.read('clientRegistry', SETTINGS.clientRegistry),
    allowPrivateUrls: reader.read('allowPrivateUrls', SETTINGS.allowPrivateUrls),
    exposePrompts: reader.read('exposePrompts', SETTINGS.exposePrompts),
    ...(apiKey === undefined ? {} : { apiKey }),
    env: variables,
    secrets: secretsOf(variables),
  };
}

/** Reads settings one by one and keeps the first fault. */
class SettingReader {
  fault: string | undefined;
  readonly #flags: FlagValues;
  readonly #environment: Environment;
  readonly #limits: ContainerLimits;

  constructor(flags: FlagValues, environment: Environment, limits: ContainerLimits) {
    this.#flags = flags;
    this.#environment = environment;
    this.#limits = limits;
  }

  /** The value from the strongest source that has one. After a fault the default is returned, and never used. */
  read<T>(key: SettingKey, setting: Setting<T>): T {
    const flag = this.#flags[key];
    if (flag !== undefined) return this.#parse(flag, setting, setting.flag.replace(/ .*/u, ''));
    const text = this.#environment.variables[setting.variable];
    if (text === undefined || text === '' || isServiceLink(setting.variable, text)) return this.#fallback(setting);
    const fromFile = this.#environment.fromFile.has(setting.variable);
    const file = fromFile ? ` in ${this.#environment.dotenvFile ?? '.env'}` : '';
    return this.#parse(text, setting, `${setting.variable}${file}`);
  }

  #parse<T>(text: string, setting: Setting<T>, source: string): T {
    const parsed = setting.parse(text);
    if (parsed.ok) return parsed.value;
    this.fault ??= notAllowed(source, text, parsed.failure);
    return this.#fallback(setting);
  }

  #fallback<T>(setting: Setting<T>): T {
    const { fallback } = setting;
    return isDerived(fallback) ? fallback(this.#limits) : fallback;
  }
}

function isDerived<T>(fallback: T | ((limits: ContainerLimits) => T)): fallback is (limits: ContainerLimits) => T {
  return typeof fallback === 'function';
}

function notAllowed(source: string, text: string, allowed: string): string {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return `${source} is ${JSON.stringify(shown)}, but has to be ${allowed}`;
}

/** Kubernetes gives every pod `SVC_PORT=tcp://10.0.0.7:2024` when a Service in its namespace is called "svc". */
function isServiceLink(variable: string, text: string): boolean {
  return variable === 'SVC_PORT' && text.startsWith('tcp://');
}

/** An empty key would mean an open server to one reader and an empty password to another, so neither is guessed. */
function passwordFault(variables: Variables): string | undefined {
  if (variables['SVC_PASSWORD'] !== '') return undefined;
  return 'SVC_PASSWORD is empty: give it a value, or unset it to serve without a key';
}

function portFault({ port, metricsPort }: Config): string | undefined {
  if (metricsPort !== port) return undefined;
  return `--metrics-port is ${port}, the port of the calls, where /metrics is served anyway: choose another one`;
}

function notesOn(variables: Variables): readonly string[] {
  const known = new Set([...Object.values(SETTINGS).map((setting) => setting.variable), ...OTHER_VARIABLES]);
  const notes: string[] = [];
  for (const name of Object.keys(variables)) {
    if (!name.startsWith('SVC_') || known.has(name) || /^SVC_(?:SERVICE|PORT)_/u.test(name)) continue;
    const [nearest] = nearestNames(name, known);
    if (nearest !== undefined) notes.push(`"${name}" is no setting of svc. Did you mean "${nearest}"?`);
  }
  if ((variables['SVC_PASSWORD'] ?? 'long enough').length < 8) {
    notes.push('SVC_PASSWORD has fewer than 8 characters: it can be guessed; give it at least 16');
  }
  return notes;
}
