import type { Command } from 'commander';
import { formatGithub } from '../../diagnostics/report/format-github.ts';
import { formatJson } from '../../diagnostics/report/format-json.ts';
import { formatSarif } from '../../diagnostics/report/format-sarif.ts';
import { checkSources } from '../../compiler/check-sources.ts';
import { readSources } from '../../compiler/read-sources.ts';
import { compileOptions } from '../compile-options.ts';
import { COMPILE_SETTINGS, loadSettings } from '../load-settings.ts';
import { packageInfo } from '../package-info.ts';
import { prettyReport, summaryLine } from '../pretty-report.ts';
import type { Summarised } from '../pretty-report.ts';
import { REPORT_FORMATS } from '../report-formats.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** Reads, checks and reports, without emitting anything; 1 when a diagnostic is an error. */
export function checkDefinitions(command: Command, terminal: Terminal): ExitCode {
  const settings = loadSettings(command, COMPILE_SETTINGS, terminal);
  if ('code' in settings) return settings.code;
  const files = readSources(settings.config.from);
  if (!files.ok) {
    terminal.error.write(`svc: ${files.failure}\n`);
    return 1;
  }
  const checked = { files: files.value, ...checkSources(files.value, compileOptions(settings.config)) };
  const format = REPORT_FORMATS.find((name) => name === command.getOptionValue('format')) ?? 'pretty';
  terminal.out.write(report(checked, format, terminal.out.colour));
  return checked.diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? 1 : 0;
}

function report(checked: Summarised, format: (typeof REPORT_FORMATS)[number], colour: boolean): string {
  switch (format) {
    case 'pretty':
      return `${prettyReport(checked, { colour, everyWarning: true })}${summaryLine(checked)}\n`;
    case 'json':
      return formatJson(checked);
    case 'github':
      return formatGithub(checked);
    case 'sarif':
      return formatSarif(checked, packageInfo().version);
  }
}
