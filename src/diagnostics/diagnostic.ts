import type { Span } from './span.ts';

export type Severity = 'error' | 'warning';

/** One problem in the definitions. The catalogue has one factory for each code. */
export interface Diagnostic {
  /** `parse/…`, `check/…`, `template/…` or `config/…`; stable, documented in docs/errors.md. */
  readonly code: string;
  readonly severity: Severity;
  /** What is wrong, in the user's words; quotes around their text. */
  readonly message: string;
  /** What to do about it. */
  readonly help?: string;
  readonly span: Span;
  readonly related?: readonly RelatedSpan[];
}

/** Another place that has to do with the problem, as the first site of a duplicate. */
export interface RelatedSpan {
  readonly span: Span;
  readonly message: string;
}
