import { Command, Option } from 'commander';
import { COMPILE_SETTINGS } from '../load-settings.ts';
import { addSettingOptions } from '../setting-options.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** `svc openapi`: the document that a server would give at /openapi.json, for client generators. */
export function openapiCommand(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const command = new Command('openapi')
    .description('print the OpenAPI document of the functions')
    .addOption(new Option('--format <name>', 'form of the document').choices(['json', 'yaml']).default('json'));
  return addSettingOptions(command, COMPILE_SETTINGS).action(async () => {
    const { printDocument } = await import('./print-document.ts');
    finish(printDocument(command, terminal));
  });
}
