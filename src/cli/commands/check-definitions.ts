import type { Command } from 'commander';
import { formatGithub } from '../../diagnostics/report/format-github.ts';
import { formatJson } from '../../diagnostics/report/format-json.ts';
import { formatSarif } from '../../diagnostics/report/format-sarif.ts';
import type { Compiled } from '../compile-definitions.ts';
import { compileDefinitions } from '../compile-definitions.ts';
import { COMPILE_SETTINGS, loadSettings } from '../load-settings.ts';
import { packageInfo } from '../package-info.ts';
import { prettyReport, summaryLine } from '../pretty-report.ts';
import { REPORT_FORMATS } from '../report-formats.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** Compiles and reports; 1 when a diagnostic is an error. */
export function checkDefinitions(command: Command, terminal: Terminal): ExitCode {
  const settings = loadSettings(command, COMPILE_SETTINGS, terminal);
  if ('code' in settings) return settings.code;
  const compiled = compileDefinitions(settings.config);
  if (!compiled.ok) {
    terminal.error.write(`svc: ${compiled.failure}\n`);
    return 1;
  }
  const format = REPORT_FORMATS.find((name) => name === command.getOptionValue('format')) ?? 'pretty';
  terminal.out.write(report(compiled.value, format, terminal.out.colour));
  return compiled.value.diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? 1 : 0;
}

function report(compiled: Compiled, format: (typeof REPORT_FORMATS)[number], colour: boolean): string {
  switch (format) {
    case 'pretty':
      return `${prettyReport(compiled, { colour, everyWarning: true })}${summaryLine(compiled)}\n`;
    case 'json':
      return formatJson(compiled);
    case 'github':
      return formatGithub(compiled);
    case 'sarif':
      return formatSarif(compiled, packageInfo().version);
  }
}
