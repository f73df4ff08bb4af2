import type { Diagnostic, RelatedSpan, Severity } from '../diagnostic.ts';
import type { Span } from '../span.ts';

export interface Named {
  readonly name: string;
}

/** A part of the file. */
export interface Text {
  readonly text: string;
}

/** A text, or its wording for the parts of the file that it quotes. */
type Wording<P> = string | ((params: P) => string);

/** One kind of problem: its severity, what is wrong in the user's words, and what to do: an empty string adds nothing. */
interface Entry<P> {
  readonly severity: Severity;
  readonly message: Wording<P>;
  readonly help: Wording<P>;
}

/** Creates the diagnostic for a code; `params` are the texts that its message quotes. */
type DiagnosticFactory<P> = <C extends keyof P & string>(
  code: C,
  span: Span,
  params: P[C],
  related?: readonly RelatedSpan[],
) => Diagnostic;

export function error<P = object>(message: Wording<P>, help: Wording<P> = ''): Entry<P> {
  return { severity: 'error', message, help };
}

export function warning<P = object>(message: Wording<P>, help: Wording<P> = ''): Entry<P> {
  return { severity: 'warning', message, help };
}

/** Creates a factory for a table of entries, typed by code. */
export function factoryOf<P extends object>(entries: { readonly [C in keyof P]: Entry<P[C]> }): DiagnosticFactory<P> {
  return (code, span, params, related = []) => {
    const { severity, ...wordings } = entries[code];
    const message = worded(wordings.message, params);
    const help = worded(wordings.help, params);
    return { code, severity, message, span, ...(help !== '' && { help }), ...(related.length > 0 && { related }) };
  };
}

function worded<P>(wording: Wording<P>, params: P): string {
  return typeof wording === 'string' ? wording : wording(params);
}
