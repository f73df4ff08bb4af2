import type { Command } from 'commander';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/config.ts';
import { SETTINGS } from '../config/settings.ts';
import type { SettingKey } from '../config/settings.ts';
import { flagValues } from './setting-options.ts';
import type { ExitCode, Terminal } from './terminal.ts';

/** Settings of the commands that only compile. */
export const COMPILE_SETTINGS: readonly SettingKey[] = ['from', 'versionCheck', 'features'];

/** Settings of the formatter. */
export const FORMAT_SETTINGS: readonly SettingKey[] = ['from'];

/** Settings of the server: all. */
export const SERVE_SETTINGS = Object.keys(SETTINGS) as readonly SettingKey[];

/** The configuration, or what the command ends with after the user was told why. Notes go to the error output. */
export function loadSettings(
  command: Command,
  keys: readonly SettingKey[],
  terminal: Terminal,
): { readonly config: Config } | { readonly code: ExitCode } {
  const loaded = loadConfig(flagValues(command, keys));
  if (!loaded.ok) {
    terminal.error.write(`svc: ${loaded.failure.message}\n`);
    return { code: loaded.failure.exitCode };
  }
  for (const note of loaded.value.notes) terminal.error.write(`svc: ${note}\n`);
  return { config: loaded.value.config };
}
