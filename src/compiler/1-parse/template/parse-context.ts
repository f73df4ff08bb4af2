import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Span } from '../../../diagnostics/span.ts';
import type { TemplateSource } from '../template-source.ts';
import type { TokenizeContext } from './tokenize-expression.ts';

/** What one parse shares: the text, the way from its offsets to the file, and the problems found so far. */
export class ParseContext implements TokenizeContext {
  readonly text: string;
  readonly diagnostics: Diagnostic[] = [];
  readonly #source: TemplateSource;

  constructor(source: TemplateSource) {
    this.text = source.text;
    this.#source = source;
  }

  report(diagnostic: Diagnostic): void {
    this.diagnostics.push(diagnostic);
  }

  span(start: number, end: number): Span {
    return { file: this.#source.file, ...this.located(start, end) };
  }

  /** Offsets in the file. */
  located(start: number, end: number): { readonly start: number; readonly end: number } {
    return { start: this.#source.toFileOffset(start), end: this.#source.toFileOffset(end) };
  }
}
