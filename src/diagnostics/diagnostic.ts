import { compareText } from '../base/json.ts';
import type { Span } from './span.ts';

export type Severity = 'error' | 'warning';

/** One problem in the definitions. The catalogue has one factory for each code. */
export interface Diagnostic {
  /** `parse/…`, `check/…`, `template/…` or `config/…`; stable, documented in docs/errors.md. */
  readonly code: string;
  readonly severity: Severity;
  /** States what is wrong, in the user's words, with quotes around their text. */
  readonly message: string;
  /** States what to do about it. */
  readonly help?: string;
  readonly span: Span;
  readonly related?: readonly RelatedSpan[];
  /** Present if there is one obvious correction, such as the nearest name. */
  readonly fix?: Fix;
}

/** A change of the text that corrects the problem. */
export interface Fix {
  readonly span: Span;
  readonly text: string;
}

/** Returns the text of a file with these changes, which are of this file and do not overlap. */
export function withFixes(text: string, fixes: readonly Fix[]): string {
  let result = '';
  let done = 0;
  for (const { span, text: replacement } of fixes.toSorted((a, b) => a.span.start - b.span.start)) {
    result += text.slice(done, span.start) + replacement;
    done = span.end;
  }
  return result + text.slice(done);
}

/** Another position that concerns the problem, such as the first declaration of a duplicate. */
export interface RelatedSpan {
  readonly span: Span;
  readonly message: string;
}

/** Orders by file, position, then code, so that the same files always give the same report. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compareText(a.span.file, b.span.file) ||
    a.span.start - b.span.start ||
    a.span.end - b.span.end ||
    compareText(a.code, b.code)
  );
}
