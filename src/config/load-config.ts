import { invariant } from '../base/invariant.ts';
import { err, ok, type Result } from '../base/result.ts';
import { nearestNames } from '../base/suggestion.ts';
import { SETTINGS, type DefaultBasis, type LogLevel, type Setting } from './settings.ts';
import type { Config, SettingKey, SettingValues } from './config.ts';
import { containerLimits, type ContainerLimits } from './container-limits.ts';
import {
  joinDotenv,
  localDotenv,
  processVariables,
  secretsOf,
  type JoinedVariables,
  type EnvironmentVariables,
} from './environment.ts';
import { callsSecrets } from './calls-address.ts';
import { storeSecrets } from './store-address.ts';
import { telemetrySettings } from './telemetry-settings.ts';

export interface LoadedConfig {
  readonly config: Config;
  /** Probable mistakes that prevent nothing, one sentence each. */
  readonly warnings: readonly string[];
}

/** One line for the user, and the exit code: 2 for a value that is not allowed, 1 for a file that cannot be read. */
export interface ConfigFailure {
  readonly message: string;
  readonly exitCode: 1 | 2;
}

/** The sources of values besides flags; by default the actual process and machine. */
export interface ConfigSources {
  readonly variables?: EnvironmentVariables;
  readonly limits?: ContainerLimits;
  readonly defaults?: CommandDefaults;
}

/** The defaults of a command where they differ from those of the settings, written as a user would write them. */
export type CommandDefaults = Readonly<Partial<Record<SettingKey, string>>>;

/** Reads every setting from its strongest source: the flag, the variable, `.env`, or the default. */
export function loadConfig(flags: Partial<SettingValues>, sources: ConfigSources): Result<LoadedConfig, ConfigFailure> {
  const real = { variables: sources.variables ?? processVariables(), fromFile: new Set<string>() };
  const { limits = containerLimits(), defaults = {} } = sources;
  const dotenv = new SettingReader({ flags, ...real, limits, defaults });
  const readsFile = dotenv.read('dotenv');
  const path = dotenv.read('dotenvPath');
  if (dotenv.fault !== undefined) return err({ message: dotenv.fault, exitCode: 2 });
  const joined: Result<JoinedVariables, string> = readsFile ? joinDotenv(real.variables, path) : ok(real);
  if (!joined.ok) return err({ message: joined.failure, exitCode: 1 });
  const { variables } = joined.value;
  const reader = new SettingReader({ flags, ...joined.value, limits, defaults });
  const settings = reader.readAll();
  const telemetry = telemetrySettings(variables, (variable, allowed) => reader.refuse(variable, allowed));
  const own = telemetry === undefined ? {} : { telemetry };
  const secrets = secretsOf(variables, [...storeSecrets(settings.store), ...callsSecrets(settings.calls)]);
  const needsNode = settingOfNode(settings);
  const transport = needsNode !== undefined && settings.transport === 'auto' ? 'node' : settings.transport;
  const config = { ...settings, ...own, transport, cores: limits.cores, env: variables, secrets };
  const unread = readsFile && path === undefined ? localDotenv() : {};
  const fault =
    reader.fault ?? passwordFault(variables, unread) ?? portFault(config) ?? transportFault(config, needsNode);
  if (fault !== undefined) return err({ message: fault, exitCode: 2 });
  return ok({ config, warnings: warningsAbout(variables) });
}

/** The line for a value that a setting does not allow. `source` is a flag or a variable, `allowed` the parser's failure. */
export function badValue(source: string, text: string, allowed: string): string {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return `${source} is ${JSON.stringify(shown)}, but must be ${allowed}`;
}

interface SettingSources extends JoinedVariables {
  readonly flags: Partial<SettingValues>;
  readonly limits: ContainerLimits;
  readonly defaults: CommandDefaults;
}

/** `SETTINGS`, with the relation between a key and its value that the compiler needs for a generic key. */
const TYPED_SETTINGS: { readonly [Key in SettingKey]: Setting<SettingValues[Key]> } = SETTINGS;

const SECRET_VARIABLES: ReadonlySet<string> = new Set(
  Object.values<Setting<unknown>>(SETTINGS).flatMap(({ variable, secret }) => (secret === true ? [variable] : [])),
);

/** Reads settings and keeps the first fault. */
class SettingReader implements DefaultBasis {
  fault: string | undefined;
  readonly #sources: SettingSources;

  constructor(sources: SettingSources) {
    this.#sources = sources;
  }

  get limits(): ContainerLimits {
    return this.#sources.limits;
  }

  get workers(): number {
    return this.read('workers');
  }

  get logLevel(): LogLevel {
    return this.read('logLevel');
  }

  readAll(): SettingValues {
    const keys = Object.keys(SETTINGS) as readonly SettingKey[];
    return Object.fromEntries(keys.map((key) => [key, this.read(key)])) as unknown as SettingValues;
  }

  /** After a fault, returns the default, which no one uses. */
  read<Key extends SettingKey>(key: Key): SettingValues[Key] {
    const { flags, variables } = this.#sources;
    const setting = TYPED_SETTINGS[key];
    const flag = flags[key];
    if (flag !== undefined) return flag;
    const variable = variableOf(setting, variables);
    const text = variables[variable];
    if (text === undefined || text === '' || isServiceLink(variable, text)) return this.#defaultOf(key);
    const parsed = setting.parse(text);
    if (parsed.ok) return parsed.value;
    this.refuse(variable, parsed.failure);
    return this.#defaultOf(key);
  }

  /** Records the first variable whose value is not allowed. */
  refuse(variable: string, allowed: string): void {
    const { variables, fromFile, file = '.env' } = this.#sources;
    const source = fromFile.has(variable) ? `${variable} in ${file}` : variable;
    // Headers contain keys.
    const isSecret = variable.endsWith('_HEADERS') || SECRET_VARIABLES.has(variable);
    this.fault ??= isSecret ? `${source} must be ${allowed}` : badValue(source, variables[variable] ?? '', allowed);
  }

  #defaultOf<Key extends SettingKey>(key: Key): SettingValues[Key] {
    const setting = TYPED_SETTINGS[key];
    const text = this.#sources.defaults[key] ?? setting.default;
    if (typeof text !== 'string') return text.compute(this);
    const parsed = setting.parse(text);
    invariant(parsed.ok, `the default of ${setting.variable} is not allowed`);
    return parsed.value;
  }
}

/** Returns the variable that determines a setting: its own if it is set, otherwise that of BAML's server. */
function variableOf({ variable, bamlVariable }: Setting<unknown>, variables: EnvironmentVariables): string {
  const usesOther = bamlVariable !== undefined && variables[variable] === undefined;
  return usesOther && variables[bamlVariable] !== undefined ? bamlVariable : variable;
}

/** Kubernetes sets `SVC_PORT=tcp://10.0.0.7:2024` in every pod if a Service in its namespace is called "svc". */
function isServiceLink(variable: string, text: string): boolean {
  return variable === 'SVC_PORT' && text.startsWith('tcp://');
}

/**
 * An empty key could mean an open server or an empty password, so svc does not guess. A key in `.env.local` protects BAML's
 * server, so svc does not replace that server with an open one.
 */
function passwordFault(variables: EnvironmentVariables, unread: EnvironmentVariables): string | undefined {
  const variable = variableOf(SETTINGS.apiKey, variables);
  if (variables[variable] === '') return `${variable} is empty. Set it to a key, or unset it to serve without one.`;
  const other = variableOf(SETTINGS.apiKey, unread);
  if (variables[variable] !== undefined || unread[other] === undefined) return undefined;
  return `".env.local" sets ${other}, but svc reads only ".env". Move the variable to ".env", pass --dotenv-path .env.local, or pass --no-dotenv to serve without a key.`;
}

function portFault({ port, metricsPort }: Config): string | undefined {
  if (metricsPort !== port) return undefined;
  return `--metrics-port is ${port}, the same as --port, which serves /metrics already. Choose another port.`;
}

/** The flag of a setting that only node:http has: `--transport auto` selects node:http for it. */
function settingOfNode({ acceptHttp10, keepAliveTimeoutMs }: SettingValues): string | undefined {
  if (acceptHttp10) return '--accept-http-10';
  return keepAliveTimeoutMs === undefined ? undefined : '--keep-alive-timeout';
}

function transportFault({ transport }: Config, needsNode: string | undefined): string | undefined {
  if (needsNode === undefined || transport !== 'uws') return undefined;
  return `${needsNode} has no effect with --transport uws. Remove it, or pass --transport auto, which then uses node:http.`;
}

function warningsAbout(variables: EnvironmentVariables): readonly string[] {
  const known = new Set<string>(Object.values(SETTINGS).map((setting) => setting.variable));
  const warnings: string[] = [];
  for (const name of Object.keys(variables)) {
    if (!name.startsWith('SVC_') || known.has(name) || /^SVC_(?:SERVICE|PORT)_/u.test(name)) continue;
    const [nearest] = nearestNames(name, known);
    if (nearest !== undefined) warnings.push(`svc has no setting "${name}". Did you mean "${nearest}"?`);
  }
  return [...warnings, ...warningsAboutPassword(variables)];
}

function warningsAboutPassword(variables: EnvironmentVariables): readonly string[] {
  const variable = variableOf(SETTINGS.apiKey, variables);
  const password = variables[variable];
  if (password === undefined) return [];
  const warnings: string[] = [];
  if (password.length < 8) {
    warnings.push(`${variable} has fewer than 8 characters and can be guessed. Use at least 16.`);
  }
  if ((variables['BAML_PASSWORD'] ?? password) !== password) {
    warnings.push('SVC_PASSWORD and BAML_PASSWORD differ. svc uses SVC_PASSWORD.');
  }
  return warnings;
}
