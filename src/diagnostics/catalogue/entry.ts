import type { Diagnostic, RelatedSpan, Severity } from '../diagnostic.ts';
import type { Span } from '../span.ts';

/** One kind of problem: its severity, what is wrong in the user's words, and what to do. */
export interface Entry<P> {
  readonly severity: Severity;
  readonly message: (params: P) => string;
  /** An empty string if there is nothing to add. */
  readonly help: (params: P) => string;
}

/** Creates the diagnostic for a code; `params` are the texts that its message quotes. */
export type DiagnosticFactory<P> = <C extends keyof P & string>(
  code: C,
  span: Span,
  params: P[C],
  related?: readonly RelatedSpan[],
) => Diagnostic;

export function error<P = object>(message: (params: P) => string, help: (params: P) => string = noHelp): Entry<P> {
  return { severity: 'error', message, help };
}

export function warning<P = object>(message: (params: P) => string, help: (params: P) => string = noHelp): Entry<P> {
  return { severity: 'warning', message, help };
}

/** Creates a factory for a table of entries, typed by code. */
export function factoryOf<P extends object>(entries: { readonly [C in keyof P]: Entry<P[C]> }): DiagnosticFactory<P> {
  return (code, span, params, related) => {
    const entry = entries[code];
    const help = entry.help(params);
    return {
      code,
      severity: entry.severity,
      message: entry.message(params),
      span,
      ...(help !== '' && { help }),
      ...(related !== undefined && related.length > 0 && { related }),
    };
  };
}

function noHelp(): string {
  return '';
}
