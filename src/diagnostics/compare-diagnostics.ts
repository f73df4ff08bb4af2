import { compareText } from '../base/json.ts';
import type { Diagnostic } from './diagnostic.ts';

/** Orders by file, position, then code, so that the same files always give the same report. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compareText(a.span.file, b.span.file) ||
    a.span.start - b.span.start ||
    a.span.end - b.span.end ||
    compareText(a.code, b.code)
  );
}
