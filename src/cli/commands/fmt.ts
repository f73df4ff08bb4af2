import { Command } from 'commander';
import { FORMAT_SETTINGS } from '../load-settings.ts';
import { addSettingOptions } from '../setting-options.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** `svc fmt`: brings the definition files into the usual layout. */
export function fmtCommand(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const command = new Command('fmt')
    .description('lay out the definition files: indentation, spaces, empty lines, ends of lines')
    .option('--check', 'change nothing; exit with 1 when a file is not laid out so');
  return addSettingOptions(command, FORMAT_SETTINGS).action(async () => {
    const { formatDefinitions } = await import('./format-definitions.ts');
    finish(formatDefinitions(command, terminal));
  });
}
