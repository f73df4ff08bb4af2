import type { Command } from 'commander';
import { stringify } from 'yaml';
import { compileDefinitions } from '../compile-definitions.ts';
import { COMPILE_SETTINGS, loadSettings } from '../load-settings.ts';
import { prettyReport } from '../pretty-report.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** Compiles and prints the OpenAPI document; 1 when there is none for the errors. */
export function printDocument(command: Command, terminal: Terminal): ExitCode {
  const settings = loadSettings(command, COMPILE_SETTINGS, terminal);
  if ('code' in settings) return settings.code;
  const compiled = compileDefinitions(settings.config);
  if (!compiled.ok) {
    terminal.error.write(`svc: ${compiled.failure}\n`);
    return 1;
  }
  const { program } = compiled.value;
  if (program === undefined) {
    terminal.error.write(prettyReport(compiled.value, { colour: terminal.error.colour, everyWarning: false }));
    return 1;
  }
  const asYaml = command.getOptionValue('format') === 'yaml';
  // Anchors are legal YAML, but several client generators do not resolve them.
  const yamlOptions = { aliasDuplicateObjects: false, lineWidth: 0 };
  const text = asYaml ? stringify(program.openapi, yamlOptions) : `${JSON.stringify(program.openapi, null, 2)}\n`;
  terminal.out.write(text);
  return 0;
}
