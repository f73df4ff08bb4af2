import { counted } from '../base/amounts.ts';
import { formatPretty, type ReportInput } from '../diagnostics/report-formats.ts';
import type { Config } from '../config/config.ts';
import type { Definitions } from '../schema/program.ts';
import type { TerminalStream } from './terminal.ts';

export interface SummaryInput extends ReportInput {
  /** Absent if a diagnostic is an error. */
  readonly definitions?: Pick<Definitions, 'functions' | 'clients'>;
}

export interface ReportStyle {
  readonly colour: boolean;
  /** Shows all warnings; otherwise the first few, and the number of the others. */
  readonly everyWarning: boolean;
}

/** The style of a command whose warnings a feature shows. */
export function reportStyle({ features }: Pick<Config, 'features'>, { colour }: TerminalStream): ReportStyle {
  return { colour, everyWarning: features.includes('display_all_warnings') };
}

/** At start, more warnings would hide the line with the server's address. */
const SHOWN_WARNINGS = 5;

/** Every error, and every warning or the first few, as text for people. An empty string if there are none. */
export function prettyReport(report: ReportInput, style: ReportStyle): string {
  const warnings = report.diagnostics.filter((diagnostic) => diagnostic.severity === 'warning');
  const hidden = new Set(style.everyWarning ? [] : warnings.slice(SHOWN_WARNINGS));
  const shown = report.diagnostics.filter((diagnostic) => !hidden.has(diagnostic));
  if (shown.length === 0) return '';
  const rest = hidden.size === 0 ? '' : `${moreWarnings(hidden.size)}\n\n`;
  return `${formatPretty({ diagnostics: shown, files: report.files }, style.colour)}\n${rest}`;
}

/** `5 files, 6 functions, 5 clients: no problems`. */
export function summaryLine(report: SummaryInput): string {
  const errors = report.diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length;
  const warnings = report.diagnostics.length - errors;
  const problems = [errors > 0 ? counted(errors, 'error') : '', warnings > 0 ? counted(warnings, 'warning') : ''];
  const outcome = problems.filter((text) => text !== '').join(', ') || 'no problems';
  const { definitions } = report;
  const content = [counted(report.files.length, 'file')];
  if (definitions !== undefined) {
    content.push(counted(definitions.functions.length, 'function'), counted(definitions.clients.length, 'client'));
  }
  return `${content.join(', ')}: ${outcome}`;
}

function moreWarnings(count: number): string {
  const more = count === 1 ? '1 more warning' : `${String(count)} more warnings`;
  return `${more}: to see them, use "svc check" or "--features display_all_warnings"`;
}
