import { formatPretty } from '../diagnostics/report/format-pretty.ts';
import type { Compiled } from './compile-definitions.ts';

export interface ReportStyle {
  readonly colour: boolean;
  /** All warnings; otherwise the first few and how many more there are. */
  readonly everyWarning: boolean;
}

/** At start a screen of warnings would hide the line that says where the server listens. */
const SHOWN_WARNINGS = 5;

/** Every error and, by style, every or the first few warnings, for people; empty when there is nothing to say. */
export function prettyReport(compiled: Compiled, style: ReportStyle): string {
  const warnings = compiled.diagnostics.filter((diagnostic) => diagnostic.severity === 'warning');
  const hidden = new Set(style.everyWarning ? [] : warnings.slice(SHOWN_WARNINGS));
  const shown = compiled.diagnostics.filter((diagnostic) => !hidden.has(diagnostic));
  if (shown.length === 0) return '';
  const rest = hidden.size === 0 ? '' : `${moreWarnings(hidden.size)}\n\n`;
  return `${formatPretty({ diagnostics: shown, files: compiled.files }, style.colour)}\n${rest}`;
}

/** `5 files, 6 functions, 5 clients: no problems`. */
export function summaryLine(compiled: Compiled): string {
  const errors = compiled.diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length;
  const warnings = compiled.diagnostics.length - errors;
  const problems = [errors > 0 ? counted(errors, 'error') : '', warnings > 0 ? counted(warnings, 'warning') : ''];
  const outcome = problems.filter((text) => text !== '').join(', ') || 'no problems';
  const { program } = compiled;
  const content = [counted(compiled.files.length, 'file')];
  if (program !== undefined) {
    content.push(counted(program.functions.length, 'function'), counted(program.clients.length, 'client'));
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
