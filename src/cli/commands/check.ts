import { Command, Option } from 'commander';
import { COMPILE_SETTINGS } from '../load-settings.ts';
import { REPORT_FORMATS } from '../report-formats.ts';
import { addSettingOptions } from '../setting-options.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** `svc check`: every problem of the definition files, in a form for people, editors or CI. */
export function checkCommand(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const command = new Command('check')
    .description('report every problem in the definition files')
    .addOption(new Option('--format <name>', 'form of the report').choices(REPORT_FORMATS).default('pretty'));
  return addSettingOptions(command, COMPILE_SETTINGS).action(async () => {
    const { checkDefinitions } = await import('./check-definitions.ts');
    finish(checkDefinitions(command, terminal));
  });
}
