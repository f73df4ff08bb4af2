import { writeFileSync } from 'node:fs';
import { parse } from '../../compiler/1-parse/parse.ts';
import { formatSource } from '../../compiler/format-source.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import { readDefinitions } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import { prettyReport } from '../pretty-report.ts';
import { reportProblem, type ExitCode, type Terminal } from '../terminal.ts';

/**
 * `svc fmt`: formats every definition file, or with `--check` lists those that need it. Returns 1 if a file has a syntax
 * error, or if `--check` lists one.
 */
export function fmtCommand({ config, options, terminal }: Invocation): ExitCode {
  const sources = readDefinitions(config);
  if (!sources.ok) return reportProblem(terminal, sources.failure);
  const { files } = sources.value;
  const broken = files.filter((file) => !isReadable(file, terminal));
  const unformatted = files.filter((file) => !broken.includes(file) && formatSource(file.text) !== file.text);
  const checkOnly = options['check'] === true;
  for (const file of unformatted) {
    if (!checkOnly) writeFileSync(file.path, formatSource(file.text));
    terminal.out.write(`${checkOnly ? 'not formatted' : 'formatted'}: ${file.path}\n`);
  }
  return broken.length > 0 || (checkOnly && unformatted.length > 0) ? 1 : 0;
}

/** Returns whether svc can read all of a file, and reports what it cannot: where a bracket is missing, the nesting is unknown. */
function isReadable(file: SourceFile, terminal: Terminal): boolean {
  const { diagnostics, readable } = parse(file);
  const style = { colour: terminal.error.colour, everyWarning: true };
  if (!readable) terminal.error.write(prettyReport({ files: [file], diagnostics }, style));
  return readable;
}
