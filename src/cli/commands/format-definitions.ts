import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parse } from '../../compiler/1-parse/parse.ts';
import { formatSource } from '../../compiler/format-source.ts';
import { readSources } from '../../compiler/read-sources.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import { FORMAT_SETTINGS, loadSettings } from '../load-settings.ts';
import { prettyReport } from '../pretty-report.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** Lays out every file, or with `--check` only tells; 1 for a file with errors, and for one that `--check` finds. */
export function formatDefinitions(command: Command, terminal: Terminal): ExitCode {
  const settings = loadSettings(command, FORMAT_SETTINGS, terminal);
  if ('code' in settings) return settings.code;
  const files = readSources(settings.config.from);
  if (!files.ok) {
    terminal.error.write(`svc: ${files.failure}\n`);
    return 1;
  }
  const broken = files.value.filter((file) => hasErrors(file, terminal));
  const changed = files.value.filter((file) => !broken.includes(file) && formatSource(file.text) !== file.text);
  const checkOnly = command.getOptionValue('check') === true;
  for (const file of changed) {
    if (!checkOnly) writeFileSync(file.path, formatSource(file.text));
    terminal.out.write(`${checkOnly ? 'not laid out' : 'laid out'}: ${file.path}\n`);
  }
  return broken.length > 0 || (checkOnly && changed.length > 0) ? 1 : 0;
}

/** A file with syntax errors is left alone: where a bracket is missing, nobody knows what is inside what. */
function hasErrors(file: SourceFile, terminal: Terminal): boolean {
  const diagnostics = parse(file).diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  terminal.error.write(
    prettyReport({ files: [file], diagnostics }, { colour: terminal.error.colour, everyWarning: true }),
  );
  return diagnostics.length > 0;
}
