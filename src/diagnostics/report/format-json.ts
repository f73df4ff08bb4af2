import type { Span } from '../span.ts';
import { SpanLocator, type ReportInput } from './report-input.ts';

/** For programs: one object with all problems. Lines and columns start at 1; columns count UTF-16 units. */
export function formatJson(input: ReportInput): string {
  const locator = new SpanLocator(input.files);
  const located = (span: Span): object => ({ file: span.file, ...locator.range(span) });
  const diagnostics = input.diagnostics.map(({ severity, code, message, help, span, related }) => ({
    severity,
    code,
    message,
    help,
    ...located(span),
    related: related?.map((other) => ({ message: other.message, ...located(other.span) })),
  }));
  const errors = input.diagnostics.filter(({ severity }) => severity === 'error').length;
  return `${JSON.stringify({ errors, warnings: input.diagnostics.length - errors, diagnostics }, undefined, 2)}\n`;
}
