import { isJsonObject } from '../../base/json.ts';
import { onlySuggestion } from '../../base/suggestion.ts';
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
    const diagnostic = {
      code,
      severity,
      message,
      span,
      ...(help !== '' && { help }),
      ...(related.length > 0 && { related }),
    };
    const nearest = onlySuggestion(help);
    const name = isJsonObject(params) ? params['name'] : undefined;
    return nearest === undefined || typeof name !== 'string' ? diagnostic : misspelling(diagnostic, name, nearest);
  };
}

const MISSPELT = Symbol('the name that the text of the file contains, and the nearest known one');

/** A diagnostic whose help suggests one name. A factory does not know the text of the file, in which `withFix` finds the name. */
interface Misspelling extends Diagnostic {
  readonly [MISSPELT]?: { readonly name: string; readonly nearest: string };
}

function misspelling(diagnostic: Diagnostic, name: string, nearest: string): Misspelling {
  return { ...diagnostic, [MISSPELT]: { name, nearest } };
}

/**
 * Adds the fix of a diagnostic that suggests exactly one name: it replaces the name in `text`, the text of the file. There is none if
 * the span contains the name in another spelling, such as with escapes, or twice.
 */
export function withFix(diagnostic: Diagnostic, text: string): Diagnostic {
  const { [MISSPELT]: misspelt, ...plain }: Misspelling = diagnostic;
  if (misspelt === undefined) return diagnostic;
  const { file, start, end } = diagnostic.span;
  const [found, ...others] = text.slice(start, end).matchAll(wholeName(misspelt.name));
  if (found === undefined || others.length > 0) return plain;
  const from = start + found.index;
  return { ...plain, fix: { span: { file, start: from, end: from + misspelt.name.length }, text: misspelt.nearest } };
}

function wholeName(name: string): RegExp {
  return new RegExp(String.raw`(?<![\w-])${name.replaceAll(/[$()*+./?[\\\]^{|}]/gu, String.raw`\$&`)}(?![\w-])`, 'gu');
}

function worded<P>(wording: Wording<P>, params: P): string {
  return typeof wording === 'string' ? wording : wording(params);
}
