import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { templateTooDeep, unexpectedToken } from '../../../diagnostics/catalogue/template.ts';
import type { Span } from '../../../diagnostics/span.ts';
import type { Token, TokenizeContext } from './tokenize-expression.ts';
import type { TemplateSource } from '../dedent.ts';

/** The most nested brackets. People write fewer than ten; the limit keeps the stack of the parser small. */
const MAX_NESTING = 100;

const END: Token = { type: 'end', text: '', start: 0, end: 0 };

/**
 * A cursor over the tokens of one tag. The first problem moves the cursor to the end, where every rule stops: a tag has
 * at most one error, and no rule has to unwind.
 */
export class TokenReader {
  readonly context: ParseContext;
  readonly #tokens: readonly Token[];
  #at = 0;
  #nesting = 0;
  #failed = false;

  constructor(context: ParseContext, tokens: readonly Token[]) {
    this.context = context;
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  get following(): Token {
    return this.#tokens[this.#at + 1] ?? END;
  }

  /** The end of the token before the cursor. */
  get previousEnd(): number {
    return this.#tokens[this.#at - 1]?.end ?? this.current.start;
  }

  get failed(): boolean {
    return this.#failed;
  }

  next(): Token {
    const token = this.current;
    if (token.type !== 'end') this.#at += 1;
    return token;
  }

  isOperator(text: string): boolean {
    return this.current.type === 'operator' && this.current.text === text;
  }

  isWord(text: string): boolean {
    return this.current.type === 'name' && this.current.text === text;
  }

  /** Skips the current token if it is this operator, and returns whether it was. */
  skipOperator(text: string): boolean {
    const found = this.isOperator(text);
    if (found) this.next();
    return found;
  }

  skipWord(text: string): boolean {
    const found = this.isWord(text);
    if (found) this.next();
    return found;
  }

  expectOperator(text: string): void {
    if (!this.skipOperator(text)) this.failExpected(`"${text}"`);
  }

  expectWord(text: string): void {
    if (!this.skipWord(text)) this.failExpected(`"${text}"`);
  }

  expectName(what: string): Token {
    if (this.current.type !== 'name') this.failExpected(what);
    return this.next();
  }

  expectEnd(): void {
    if (this.current.type === 'end') return;
    this.failExpected('the end of the tag', this.isOperator('=') ? 'Compare with "==".' : undefined);
  }

  failExpected(expected: string, help?: string): void {
    const token = this.current;
    const found = token.type === 'end' ? 'the end' : `"${token.text}"`;
    this.fail(unexpectedToken(this.#spanOf(token), { expected, found, help }));
  }

  fail(diagnostic: Diagnostic): void {
    if (!this.#failed) this.context.report(diagnostic);
    this.#failed = true;
    this.#at = Math.max(0, this.#tokens.length - 1);
  }

  failTooDeep(): void {
    this.fail(templateTooDeep(this.#spanOf(this.current)));
  }

  /** Runs a rule one level deeper. Beyond the limit, the rule starts at the end of the tag. */
  nested<T>(rule: () => T): T {
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) this.failTooDeep();
    const result = rule();
    this.#nesting -= 1;
    return result;
  }

  #spanOf(token: Token): Span {
    return this.context.span(token.start, Math.max(token.end, token.start));
  }
}

/** The shared state of one parse: the text, its position in the file, and the diagnostics so far. */
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

  /** Converts offsets in the text to offsets in the file. */
  located(start: number, end: number): { readonly start: number; readonly end: number } {
    return { start: this.#source.toFileOffset(start), end: this.#source.toFileOffset(end) };
  }
}
