import { formatPretty } from '../diagnostics/report/format-pretty.ts';
import type { Definitions } from '../schema/program.ts';
import type { ReportInput } from '../diagnostics/report/report-input.ts';

/** What a summary counts. */
export interface Summarised extends ReportInput {
  /** Absent when a diagnostic is an error. */
  readonly definitions?: Pick<Definitions, 'functions' | 'clients'>;
}

export interface ReportStyle {
  readonly colour: boolean;
  /** All warnings; otherwise the first few and how many more there are. */
  readonly everyWarning: boolean;
}

/** At start a screen of warnings would hide the line that says where the server listens. */
const SHOWN_WARNINGS = 5;

/** Every error and, by style, every or the first few warnings, for people; empty when there is nothing to say. */
export function prettyReport(report: ReportInput, style: ReportStyle): string {
  const warnings = report.diagnostics.filter((diagnostic) => diagnostic.severity === 'warning');
  const hidden = new Set(style.everyWarning ? [] : warnings.slice(SHOWN_WARNINGS));
  const shown = report.diagnostics.filter((diagnostic) => !hidden.has(diagnostic));
  if (shown.length === 0) return '';
  const rest = hidden.size === 0 ? '' : `${moreWarnings(hidden.size)}\n\n`;
  return `${formatPretty({ diagnostics: shown, files: report.files }, style.colour)}\n${rest}`;
}

/** `5 files, 6 functions, 5 clients: no problems`. */
export function summaryLine(report: Summarised): string {
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
  return `${more}: see them with "svc check" or "--features display_all_warnings"`;
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${String(count)} ${noun}s`;
}
