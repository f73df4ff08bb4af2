import type { Diagnostic } from '../diagnostic.ts';
import { Places, type ReportInput } from './report-input.ts';

/**
 * Workflow commands, one line each: GitHub shows them beside the changed lines.
 * See "Workflow commands for GitHub Actions", section "Setting an error message".
 */
export function formatGithub(input: ReportInput): string {
  const places = new Places(input.files);
  return input.diagnostics.map((diagnostic) => `${command(diagnostic, places)}\n`).join('');
}

function command({ severity, code, message, help, span }: Diagnostic, places: Places): string {
  const { start, end } = places.place(span);
  const properties = [
    `file=${property(span.file)}`,
    `line=${String(start.line)}`,
    `endLine=${String(end.line)}`,
    // GitHub takes columns only when the place is within one line.
    ...(start.line === end.line ? [`col=${String(start.column)}`, `endColumn=${String(end.column)}`] : []),
    `title=${property(code)}`,
  ];
  return `::${severity} ${properties.join(',')}::${data(help === undefined ? message : `${message}\n${help}`)}`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
