import { countUpTo } from '../../diagnostics/source-file.ts';
import {
  EmbeddedActionsParser,
  isRecognitionException,
  tokenLabel,
  tokenMatcher,
  type IParserErrorMessageProvider,
  type TokenType,
} from 'chevrotain';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { Span } from '../../diagnostics/span.ts';
import type { NameNode } from './syntax-nodes.ts';
import * as t from './tokens.ts';

/** The message of an exception is only the expected token; `parse` completes the sentence. */
const EXPECTATIONS: IParserErrorMessageProvider = {
  buildMismatchTokenMessage: ({ expected }) => tokenLabel(expected),
  buildNotAllInputParsedMessage: () => 'a definition',
  buildNoViableAltMessage: ({ customUserDescription }) => customUserDescription ?? 'something else',
  buildEarlyExitMessage: ({ customUserDescription }) => customUserDescription ?? 'something else',
};

/**
 * Spans, reports and recovery for all grammar rules. Brackets are balanced before the grammar runs, so recovery skips one
 * entry (to the end of its line) or one definition, and continues after it.
 */
abstract class RecoveringParser extends EmbeddedActionsParser {
  readonly diagnostics: Diagnostic[] = [];
  /** The `generator` and `test` blocks that have an end, readable or not. */
  readonly blocksNotServed: Span[] = [];
  protected file = '';
  /** True inside such a block. */
  protected notServed = false;
  #tokens: readonly t.DefinitionToken[] = [];
  /** Offsets of brackets without a partner, in ascending order. */
  #unmatchedBrackets: number[] = [];

  /**
   * `validate` checks the grammar for ambiguities. Only tests do so, because it takes longer than parsing most files.
   */
  constructor(validate: boolean) {
    super(t.VOCABULARY, { maxLookahead: 1, errorMessageProvider: EXPECTATIONS, skipValidations: !validate });
  }

  /** Resets the parser for another file. */
  protected begin(file: string, tokens: t.DefinitionToken[], brackets: readonly Diagnostic[]): void {
    this.input = tokens;
    this.diagnostics.length = 0;
    this.blocksNotServed.length = 0;
    this.file = file;
    this.#tokens = tokens;
    this.#unmatchedBrackets = brackets.map(({ span }) => span.start).toSorted((a, b) => a - b);
  }

  protected get report(): (...args: Parameters<typeof parseDiagnostic>) => void {
    return (...args) => this.ACTION(() => void this.diagnostics.push(parseDiagnostic(...args)));
  }

  /** Returns the token at a distance: 1 is the next one, 0 the current one. */
  protected peek(ahead = 1): t.DefinitionToken {
    return this.LA(ahead) as t.DefinitionToken;
  }

  protected nextIs(type: TokenType, ahead = 1): boolean {
    return tokenMatcher(this.LA(ahead), type);
  }

  /** Returns whether a next token exists on the current line. */
  protected nextOnSameLine(): boolean {
    const next = this.peek();
    return next.onNewLine === false && next.image !== '';
  }

  protected get atEnd(): boolean {
    return Number.isNaN(this.LA(1).startOffset);
  }

  /** Runs a rule. If the rule fails, which it reports itself, calls `recover` and returns undefined. */
  protected attempt<T>(rule: () => T, recover: (depth: number) => void): T | undefined {
    const { depth } = this.peek();
    try {
      return rule();
    } catch (failure) {
      if (!(failure instanceof Error) || !isRecognitionException(failure)) throw failure;
      recover(depth);
      return undefined;
    }
  }

  /** Skips to the next line that can begin a member of a block at that depth, or to the end of the block. */
  protected skipEntry(depth: number): void {
    this.skipUntil(depth, () => this.peek().onNewLine && this.#startsEntry());
  }

  /** Skips to the next definition at that depth, or to the end of the block. */
  protected skipDeclaration(depth: number): void {
    this.skipUntil(depth, () => this.atDeclaration());
  }

  /** Skips up to the next token of a type, but not beyond the definition. */
  protected skipTo(type: TokenType): void {
    this.skipUntil(this.peek(0).depth, () => this.nextIs(type) || this.atDeclaration());
  }

  /** Skips until `stop` returns true outside inner brackets, or until the brackets at that depth close. */
  protected skipUntil(depth: number, stop: () => boolean): void {
    for (let next = this.peek(); !this.atEnd && next.depth >= depth; next = this.peek()) {
      if (next.depth === depth && stop()) return;
      this.SKIP_TOKEN();
    }
  }

  /** Skips one token, or a whole bracketed part if the token is an opening bracket. */
  protected skipToken(): void {
    const closer = this.#closer();
    if (closer !== undefined) while (this.LA(1) !== closer && !this.atEnd) this.SKIP_TOKEN();
    this.SKIP_TOKEN();
  }

  /** Returns the tokens between the brackets that the next token opens. */
  protected tokensInside(): readonly t.DefinitionToken[] {
    const closer = this.#closer();
    const inside: t.DefinitionToken[] = [];
    for (let ahead = 2; closer !== undefined && this.LA(ahead) !== closer; ahead += 1) inside.push(this.peek(ahead));
    return inside;
  }

  protected atDeclaration(): boolean {
    const next = this.peek();
    if (next.startsDeclaration === true) return true;
    if (!next.onNewLine || !this.nextIs(t.DeclarationWord)) return false;
    return this.nextIs(t.Identifier, 2) || (next.tokenType === t.Client && this.nextIs(t.Less, 2));
  }

  protected spanOf(token: t.DefinitionToken): Span {
    return { file: this.file, start: token.startOffset, end: token.startOffset + token.image.length };
  }

  /** From the beginning of `token` to the end of the current token. */
  protected spanFrom(token: t.DefinitionToken): Span {
    const last = this.peek(0);
    return { file: this.file, start: token.startOffset, end: last.startOffset + last.image.length };
  }

  /** Reports a token in the place of another one. `advice`: how to correct it. */
  protected reportUnexpected(token: t.DefinitionToken, expected: string, advice = ''): void {
    this.report('parse/unexpected-token', this.spanOf(token), { expected, found: t.quoteToken(token), advice });
  }

  /** Returns whether that part of the file, which the parser has just read, contains an error. */
  protected brokenBetween(span: Span): true | undefined {
    const unmatched = this.#unmatchedBrackets;
    if (countUpTo(unmatched, span.end - 1) > countUpTo(unmatched, span.start - 1)) return true;
    for (let index = this.diagnostics.length - 1; index >= 0; index -= 1) {
      const found = this.diagnostics[index];
      const at = found?.span.start ?? -1;
      if (at < span.start) break;
      if (at < span.end && found?.severity === 'error') return true;
    }
    const thrown = this.errors.at(-1)?.token.startOffset ?? -1;
    return thrown >= span.start && thrown < span.end ? true : undefined;
  }

  protected nameOf(token: t.DefinitionToken): NameNode {
    return { text: token.image, span: this.spanOf(token) };
  }

  /** Returns the partner of the next token, if that is an opening bracket. */
  #closer(): t.DefinitionToken | undefined {
    return this.#tokens[this.peek().match ?? -1];
  }

  #startsEntry(): boolean {
    return this.nextIs(t.Identifier) || this.nextIs(t.Attribute) || this.nextIs(t.QuotedString);
  }
}

/** Diagnostics for tokens that are wrong in themselves, and for tokens that cannot begin a member of a block. */
export abstract class ReportingParser extends RecoveringParser {
  /** The kind of attribute whose arguments the parser is reading, if any. */
  protected argumentsOf: 'constraint' | 'attribute' | undefined;

  /** Reports a token that the tokenizer recognized as a mistake. */
  protected reportBroken(token: t.DefinitionToken): void {
    const span = this.spanOf(token);
    if (token.tokenType === t.UnterminatedString) this.report('parse/unterminated-string', span, {});
    else if (token.tokenType === t.UnterminatedExpression) this.report('parse/unterminated-expression', span, {});
    else if (token.tokenType === t.UnterminatedRawString) this.#reportRaw(token);
    else if (token.tokenType === t.InvalidValue) this.#reportInvalid(token);
  }

  protected reportStray(token: t.DefinitionToken, expected: string): void {
    const span = this.spanOf(token);
    const { image } = token;
    if (this.reportComment(token)) return;
    if (token.tokenType === t.Comma || token.tokenType === t.Semicolon) {
      return this.report('parse/separator-in-block', span, { text: image });
    }
    if (image === "'") this.report('parse/single-quotes', span, {});
    else if (BROKEN.has(token.tokenType)) this.reportBroken(token);
    else if (token.tokenType === t.Stray) this.report('parse/invalid-character', span, { text: image });
    else if (token.tokenType !== t.TooDeep) {
      const place = token.onNewLine || this.peek(-1).tokenType === t.LeftBrace ? expected : 'the end of the line';
      this.reportUnexpected(token, place, strayHint(token, expected));
    }
    this.skipEntry(token.depth);
  }

  /** Reports a comment in the syntax of another language, and returns whether the token is one. */
  protected reportComment(token: t.DefinitionToken): boolean {
    const text = isHashComment(token) ? '#' : ['/*', '{#'].find((opener) => token.image.startsWith(opener));
    if (text !== undefined) this.report('parse/unsupported-comment', this.spanOf(token), { text });
    return text !== undefined;
  }

  #reportRaw(token: t.DefinitionToken): void {
    const hashes = token.image.indexOf('"');
    const span = { file: this.file, start: token.startOffset, end: token.startOffset + hashes + 1 };
    this.report('parse/unterminated-raw-string', span, { text: `\`"${'#'.repeat(hashes)}\`` });
  }

  /** Reports `client<llm> Name` in a function. A block after the name defines a client, which belongs outside. */
  #reportClient(span: Span, name = 'Name'): void {
    const isDefinition = this.nextOnSameLine() && this.nextIs(t.LeftBrace);
    if (isDefinition) this.skipToken();
    this.report('parse/client-in-function', span, { name, isDefinition });
  }

  #reportInvalid(token: t.DefinitionToken): void {
    const { image } = token;
    const span = this.spanOf(token);
    const text = /[#@{([<>';]/.exec(image)?.[0];
    const second = SECOND_KEY.exec(image)?.[1];
    const client = this.peek(-1).image === 'client' ? CLIENT_HEAD.exec(image) : null;
    if (client !== null && (image.startsWith('<') || this.nextIs(t.LeftBrace))) this.#reportClient(span, client[1]);
    else if (text === "'" && image.startsWith("'")) this.report('parse/single-quotes', span, {});
    else if (CURLY_QUOTE.test(image)) this.report('parse/curly-quotes', span, {});
    else if (text === '#') this.report('parse/unsupported-comment', span, { text });
    else if (second !== undefined) this.report('parse/same-line', span, { text: `"${second}"` });
    else if (text !== undefined) {
      this.report('parse/unquoted-value', span, {
        text,
        expression: this.argumentsOf === 'constraint' && /[{<>]/u.test(text),
      });
    } else this.report('parse/invalid-number', span, { text: image });
  }
}

/** Returns a hint for a token in place of a member of a block. */
function strayHint(token: t.DefinitionToken, expected: string): string {
  if (token.image === '=' && expected === 'a field')
    return 'Fields have no default values: a type that ends in "?" is optional.';
  if (expected !== 'an enum value') return '';
  if (token.tokenType === t.QuotedString)
    return 'Write the name without quotes. `@alias("…")` changes what the model sees.';
  if (token.tokenType === t.Pipe) return 'Write one value per line.';
  return 'An enum value is only a name. `@alias("…")` changes what the model sees.';
}

export function isHashComment(token: t.DefinitionToken): boolean {
  return token.tokenType === t.Stray && token.image.startsWith('#');
}

const BROKEN = new Set([t.UnterminatedString, t.UnterminatedRawString, t.UnterminatedExpression, t.InvalidValue]);
/** A string or raw string whose quotes a word processor replaced. */
export const CURLY_QUOTE = /^#*[\u2018-\u201F]/u;
/** The part of `client<llm> Name` or `client Name` after its first word. */
const CLIENT_HEAD = /^(?:<\s*\w+\s*>\s*)?(\w+)?$/;
/** A second key with its block or list, after a value without quotes. */
const SECOND_KEY = /\s(\w+\s+[{[])/;
