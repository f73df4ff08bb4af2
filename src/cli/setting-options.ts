import { Option } from 'commander';
import type { Command } from 'commander';
import type { FlagValues } from '../config/load-config.ts';
import { SETTINGS } from '../config/settings.ts';
import type { SettingKey } from '../config/settings.ts';

const DOTENV_OPTIONS = [
  ['dotenv', new Option('--dotenv', 'read a .env file (default: on; variable: SVC_DOTENV)')],
  ['dotenv', new Option('--no-dotenv', 'read no .env file')],
  [
    'dotenvPath',
    new Option('--dotenv-path <file>', 'the file to read (default: .env, if there is one; variable: SVC_DOTENV_PATH)'),
  ],
] as const;

/** Adds the flags of the given settings to a command, and the three that decide about `.env`. */
export function addSettingOptions(command: Command, keys: readonly SettingKey[]): Command {
  for (const key of keys) command.addOption(settingOption(key));
  for (const [, option] of DOTENV_OPTIONS) command.addOption(option);
  return command;
}

/** The flags that were really given, as text. */
export function flagValues(command: Command, keys: readonly SettingKey[]): FlagValues {
  const values: Partial<Record<keyof FlagValues, string>> = {};
  const wanted = [...keys.map((key) => [key, settingOption(key)] as const), ...DOTENV_OPTIONS];
  for (const [key, option] of wanted) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) === 'cli') values[key] = asText(command.getOptionValue(name));
  }
  return values;
}

function settingOption(key: SettingKey): Option {
  const { flag, variable, description, fallback, fallbackText } = SETTINGS[key];
  const shown = fallbackText ?? String(fallback);
  return new Option(flag, `${description} (default: ${shown}; variable: ${variable})`);
}

function asText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}
