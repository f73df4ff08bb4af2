import { counted } from '../../base/amounts.ts';
import { checkSources } from '../../compiler/compile.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import { formatGithub, formatJson, formatSarif, visible } from '../../diagnostics/report-formats.ts';
import type { CheckOptions } from '../command-options.ts';
import { compileOptions, readDefinitions } from '../compile-definitions.ts';
import { fixDefinitions, writeFixed, type AppliedFix } from '../fix-definitions.ts';
import type { Invocation } from '../invocation.ts';
import { packageInfo } from '../package-info.ts';
import { prettyReport, summaryLine, type SummaryInput } from '../pretty-report.ts';
import { reportProblem, type ExitCode } from '../terminal.ts';

/**
 * `svc check`: reports every problem of the definition files, for people, editors or CI; with `--fix`, corrects misspelt names first.
 * Returns 1 if one is an error, or if there are more warnings than the options allow.
 */
export function checkCommand(invocation: Invocation): ExitCode {
  const { config, terminal } = invocation;
  // Commander has parsed them as CHECK_OPTIONS declares.
  const options = invocation.options as unknown as CheckOptions;
  const sources = readDefinitions(config);
  if (!sources.ok) return reportProblem(terminal, sources.failure);
  let { files } = sources.value;
  const check = (each: readonly SourceFile[]) => checkSources(each, compileOptions(config));
  if (options.fix === true) {
    const fixed = fixDefinitions(files, check);
    const written = writeFixed(files, fixed.files);
    if (!written.ok) return reportProblem(terminal, written.failure);
    // A report for a program must be alone on standard output.
    const stream = options.format === 'pretty' ? terminal.out : terminal.error;
    for (const each of fixed.applied) stream.write(fixLine(each));
    ({ files } = fixed);
  }
  const checked = { files, ...check(files) };
  terminal.out.write(report(checked, options.format, terminal.out.colour));
  if (checked.diagnostics.some((diagnostic) => diagnostic.severity === 'error')) return 1;
  const allowed = options.strict === true ? 0 : (options.maxWarnings ?? Infinity);
  const warnings = checked.diagnostics.length;
  if (warnings <= allowed) return 0;
  const limit = options.strict === true ? '--strict allows none' : `--max-warnings allows ${allowed}`;
  return reportProblem(terminal, `found ${counted(warnings, 'warning')}, but ${limit}`);
}

function fixLine({ file, line, from, to }: AppliedFix): string {
  return visible(`fixed: ${file}:${line} "${from}" -> "${to}"`).concat('\n');
}

function report(checked: SummaryInput, format: CheckOptions['format'], colour: boolean): string {
  switch (format) {
    case 'json':
      return formatJson(checked);
    case 'github':
      return formatGithub(checked);
    case 'sarif':
      return formatSarif(checked, packageInfo().version);
    case 'pretty':
      return `${prettyReport(checked, { colour, everyWarning: true })}${summaryLine(checked)}\n`;
  }
}
