import { existsSync } from 'node:fs';
import { Option, type Command } from 'commander';
import type { Config, SettingKey, SettingValues } from '../config/config.ts';
import { SETTINGS, type Setting } from '../config/settings.ts';
import { badValue, loadConfig, type CommandDefaults } from '../config/load-config.ts';
import type { ExitCode, Terminal } from './terminal.ts';

/** A parsed command line, joined with the environment. */
export interface Invocation {
  readonly terminal: Terminal;
  readonly config: Config;
  readonly flags: Partial<SettingValues>;
  readonly defaults: CommandDefaults;
  /** The values of the command's own options, such as `format`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The arguments of a command that takes several. */
  readonly paths: readonly string[];
}

/** Adds the flags of settings to a command that has its own options already. Its help describes the variables of settings. */
export function addSettings(command: Command, keys: readonly SettingKey[], defaults: CommandDefaults = {}): Command {
  const own = new Set(command.options.map(({ helpGroupHeading = '' }) => helpGroupHeading.replace(':', '')));
  for (const key of keys) {
    const setting: Setting<unknown> = SETTINGS[key];
    const { flag, opposite, group, help } = setting;
    if (flag === undefined)
      command.addHelpText('after', `\nVariables without a flag:\n  ${variablesOf(setting)}  ${help}`);
    else
      command.addOption(new SettingOption(command, key, [flag, helpOf(setting, defaults[key])]).helpGroup(`${group}:`));
    if (opposite !== undefined) command.addOption(new SettingOption(command, key, opposite).helpGroup(`${group}:`));
  }
  return command.addHelpText('after', `\n${variablesOfFlags([...own])}`);
}

/** States how the variable of a flag is called. Options that are not settings have none. */
function variablesOfFlags(groupsWithout: readonly string[]): string {
  const [last, ...others] = groupsWithout.toReversed();
  const groups = [others.toReversed().join(', '), last].filter((part) => part !== '').join(' and ');
  const flags = last === undefined ? 'Each' : `Except under ${groups}, each`;
  return (
    `${flags} flag has an environment variable:${last === undefined ? ' ' : '\n'}--dotenv-path is SVC_DOTENV_PATH.\n` +
    'A flag overrides its variable, which overrides the .env file.'
  );
}

/** The settings of a command that differ from those of the others. */
export interface Presets {
  /** Settings that its user cannot change. */
  readonly fixed?: Partial<SettingValues>;
  readonly defaults?: CommandDefaults;
  /** The command takes several paths, and decides itself which of them are the definitions. */
  readonly manyPaths?: true;
}

/** Loads the configuration for a parsed command. After reporting a failure, returns its exit code. */
export function createInvocation(
  command: Command,
  terminal: Terminal,
  { fixed = {}, defaults = {}, manyPaths }: Presets = {},
): Invocation | ExitCode {
  const options = command.opts<Record<string, unknown>>();
  const given = Object.keys(SETTINGS).filter((key) => command.getOptionValueSource(key) === 'cli');
  // `SettingOption` parsed these values and stored them under the keys of their settings.
  const parsed = Object.fromEntries(given.map((key) => [key, options[key]])) as Partial<SettingValues>;
  const directory = manyPaths === true ? {} : directoryArgument(command, parsed.from);
  const flags = { ...fixed, ...parsed, ...directory };
  const loaded = loadConfig(flags, { defaults });
  if (!loaded.ok) {
    terminal.error.write(`svc: ${loaded.failure.message}\n`);
    return loaded.failure.exitCode;
  }
  for (const warning of loaded.value.warnings) terminal.error.write(`svc: ${warning}\n`);
  const paths = manyPaths === true ? command.args : [];
  return { terminal, config: loaded.value.config, flags, defaults, options, paths };
}

/** Reads the argument of a command, which means the same as `--from`. */
function directoryArgument(command: Command, from: string | undefined): Pick<SettingValues, 'from'> {
  const [text] = command.args;
  if (text === undefined) return {};
  const shown = JSON.stringify(text);
  if (from !== undefined) {
    command.error(`both the argument ${shown} and --from ${JSON.stringify(from)} name the definitions: pass only one`);
  }
  const parsed = SETTINGS.from.parse(text);
  return parsed.ok ? { from: parsed.value } : command.error(badValue('the argument', text, parsed.failure));
}

/**
 * A flag that commander parses with the parser of its setting. Its variable is not commander's `env()`, for the reasons in
 * docs/adr/0010-settings-are-declared-once.md.
 */
class SettingOption extends Option {
  readonly #command: Command;
  readonly #key: SettingKey;

  constructor(command: Command, key: SettingKey, [flag, help]: readonly [string, string]) {
    super(flag, help);
    this.#command = command;
    this.#key = key;
    // Commander would also call the parser for a flag without a value.
    if (this.required) this.argParser((text, previous: unknown) => this.#parse(text, previous));
  }

  override attributeName(): SettingKey {
    return this.#key;
  }

  /** `previous` holds the values of a repeatable flag so far. */
  #parse(text: string, previous: unknown): unknown {
    const parsed = SETTINGS[this.#key].parse(text);
    if (!parsed.ok) this.#command.error(this.#fault(text, parsed.failure));
    return Array.isArray(previous) && Array.isArray(parsed.value) ? [...previous, ...parsed.value] : parsed.value;
  }

  /** A flag with several values also takes the argument of the command if the argument follows it. */
  #fault(text: string, allowed: string): string {
    const flag = this.long ?? this.flags;
    const { secret }: Setting<unknown> = SETTINGS[this.#key];
    if (secret === true) return `${flag} must be ${allowed}`;
    if (!this.variadic || !existsSync(text)) return badValue(flag, text, allowed);
    return `${flag} takes all values that follow it, including ${JSON.stringify(text)}: pass the directory before the flag`;
  }
}

/** `Port to listen on (default: 2024)`, and the variable of BAML's server if there is one. */
function helpOf(setting: Setting<unknown>, commandDefault: string | undefined): string {
  const { flag = '', help, default: ofSetting } = setting;
  const fallback = commandDefault ?? ofSetting;
  const isSwitch = !flag.includes('<');
  const text = typeof fallback === 'string' ? fallback : fallback.text;
  const shown = isSwitch && typeof fallback === 'string' ? defaultOfSwitch(flag, fallback) : (text ?? '');
  const variables = setting.bamlVariable === undefined ? '' : ` (env: ${variablesOf(setting)})`;
  return `${help}${shown === '' ? '' : ` (default: ${shown})`}${variables}`;
}

/** A flag such as --no-version-check turns off what is on: the help shows a default only if the flag has no effect. */
function defaultOfSwitch(flag: string, fallback: string): string {
  return fallback === 'true' && !flag.startsWith('--no-') ? 'on' : '';
}

function variablesOf({ variable, bamlVariable }: Setting<unknown>): string {
  return bamlVariable === undefined ? variable : `${variable} or ${bamlVariable}`;
}
