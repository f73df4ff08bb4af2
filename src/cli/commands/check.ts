import { checkSources } from '../../compiler/compile.ts';
import { formatGithub, formatJson, formatSarif } from '../../diagnostics/report-formats.ts';
import { compileOptions, readDefinitions } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import { packageInfo } from '../package-info.ts';
import { prettyReport, summaryLine, type SummaryInput } from '../pretty-report.ts';
import { reportProblem, type ExitCode } from '../terminal.ts';

/** `svc check`: reports every problem of the definition files, for people, editors or CI. Returns 1 if one is an error. */
export function checkCommand({ config, options, terminal }: Invocation): ExitCode {
  const sources = readDefinitions(config);
  if (!sources.ok) return reportProblem(terminal, sources.failure);
  const { files } = sources.value;
  const checked = { files, ...checkSources(files, compileOptions(config)) };
  terminal.out.write(report(checked, options['format'], terminal.out.colour));
  return checked.diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? 1 : 0;
}

function report(checked: SummaryInput, format: unknown, colour: boolean): string {
  switch (format) {
    case 'json':
      return formatJson(checked);
    case 'github':
      return formatGithub(checked);
    case 'sarif':
      return formatSarif(checked, packageInfo().version);
    default:
      return `${prettyReport(checked, { colour, everyWarning: true })}${summaryLine(checked)}\n`;
  }
}
