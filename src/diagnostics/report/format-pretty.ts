import { codeFrame, visible } from '../code-frame.ts';
import type { Diagnostic, RelatedSpan } from '../diagnostic.ts';
import { COLOURED, PLAIN, type Paint } from '../paint.ts';
import type { Span } from '../span.ts';
import { Places, type ReportInput } from './report-input.ts';

/** For people: each problem with its place, the lines around it, what to do, and the other places it has to do with. */
export function formatPretty(input: ReportInput, colour: boolean): string {
  const places = new Places(input.files);
  const paint = colour ? COLOURED : PLAIN;
  return input.diagnostics.map((diagnostic) => `${describe(diagnostic, places, paint)}\n`).join('\n');
}

function describe(diagnostic: Diagnostic, places: Places, paint: Paint): string {
  const { severity, code, message, help, span, related } = diagnostic;
  const lines = [
    `${paint.severity(severity, severity)}${paint.dim(` ${code}`)} ${paint.bold(visible(message))}`,
    ...located(span, places, paint, '^'),
  ];
  if (help !== undefined) lines.push(`   ${paint.dim('=')} ${visible(help)}`);
  for (const other of related ?? []) lines.push(...alsoAt(other, places, paint));
  return lines.join('\n');
}

function alsoAt({ span, message }: RelatedSpan, places: Places, paint: Paint): readonly string[] {
  return [`   ${paint.dim('=')} ${visible(message)}:`, ...located(span, places, paint, '-')];
}

function located(span: Span, places: Places, paint: Paint, mark: '^' | '-'): readonly string[] {
  const { line, column } = places.place(span).start;
  const file = places.file(span);
  const place = `  ${paint.dim('-->')} ${visible(span.file)}:${String(line)}:${String(column)}`;
  return file === undefined ? [place] : [place, codeFrame(file, span, paint, mark)];
}
