import { COLOURED, PLAIN, codeFrame, visible, type Paint } from '../code-frame.ts';
import type { Diagnostic, RelatedSpan } from '../diagnostic.ts';
import type { Span } from '../span.ts';
import { SpanLocator, type ReportInput } from './report-input.ts';

/** For people: each problem with its place, the lines around it, what to do, and the other locator it has to do with. */
export function formatPretty(input: ReportInput, colour: boolean): string {
  const locator = new SpanLocator(input.files);
  const paint = colour ? COLOURED : PLAIN;
  return input.diagnostics.map((diagnostic) => `${describe(diagnostic, locator, paint)}\n`).join('\n');
}

function describe(diagnostic: Diagnostic, locator: SpanLocator, paint: Paint): string {
  const { severity, code, message, help, span, related } = diagnostic;
  const lines = [
    `${paint.severity(severity, severity)}${paint.dim(` ${code}`)} ${paint.bold(visible(message))}`,
    ...located(span, locator, paint, '^'),
  ];
  if (help !== undefined) lines.push(`   ${paint.dim('=')} ${visible(help).replaceAll('\n', '\n     ')}`);
  for (const other of related ?? []) lines.push(...alsoAt(other, locator, paint));
  return lines.join('\n');
}

function alsoAt({ span, message }: RelatedSpan, locator: SpanLocator, paint: Paint): readonly string[] {
  return [`   ${paint.dim('=')} ${visible(message)}:`, ...located(span, locator, paint, '-')];
}

function located(span: Span, locator: SpanLocator, paint: Paint, mark: '^' | '-'): readonly string[] {
  const { line, column } = locator.range(span).start;
  const file = locator.file(span);
  const place = `  ${paint.dim('-->')} ${visible(span.file)}:${String(line)}:${String(column)}`;
  return file === undefined ? [place] : [place, codeFrame(file, span, paint, mark)];
}
