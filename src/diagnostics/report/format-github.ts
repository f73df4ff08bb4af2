import type { Diagnostic } from '../diagnostic.ts';
import { SpanLocator, type ReportInput } from './report-input.ts';

/**
 * Workflow commands, one per line. GitHub shows them next to the changed lines.
 * See "Workflow commands for GitHub Actions", section "Setting an error message".
 */
export function formatGithub(input: ReportInput): string {
  const locator = new SpanLocator(input.files);
  return input.diagnostics.map((diagnostic) => `${command(diagnostic, locator)}\n`).join('');
}

function command({ severity, code, message, help, span }: Diagnostic, locator: SpanLocator): string {
  const { start, end } = locator.range(span);
  const properties = [
    `file=${property(span.file)}`,
    `line=${String(start.line)}`,
    `endLine=${String(end.line)}`,
    // GitHub accepts columns only for a range within one line.
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
