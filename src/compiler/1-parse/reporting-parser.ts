import { quoteText } from './quote-text.ts';
import { RecoveringParser } from './recovering-parser.ts';
import * as t from './tokens.ts';

/** What all grammar rules say of tokens that are a mistake in themselves, or stand where nothing begins with them. */
export abstract class ReportingParser extends RecoveringParser {
  /** Which arguments are being read, if any. */
  protected argumentsOf: 'constraint' | 'attribute' | undefined;

  /** Says what is wrong with a token that was recognised as a mistake. */
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
    if (isHashComment(token)) return this.report('parse/unsupported-comment', span, { text: '#' });
    if (image.startsWith('/*')) return this.report('parse/unsupported-comment', span, { text: '/*' });
    if (image.startsWith('{#')) return this.report('parse/unsupported-comment', span, { text: '{#' });
    if (token.tokenType === t.Comma || token.tokenType === t.Semicolon) {
      return this.report('parse/separator-in-block', span, { text: image });
    }
    if (image === "'") this.report('parse/single-quotes', span, {});
    else if (BROKEN.has(token.tokenType)) this.reportBroken(token);
    else if (token.tokenType === t.Stray) this.report('parse/invalid-character', span, { text: image });
    else if (token.tokenType !== t.TooDeep) {
      const place = token.onNewLine || this.peek(-1).tokenType === t.LeftBrace ? expected : 'the end of the line';
      const advice = strayAdvice(token, expected);
      this.report('parse/unexpected-token', span, { expected: place, found: quoteText(image), advice });
    }
    this.skipEntry(token.depth);
  }

  #reportRaw(token: t.DefinitionToken): void {
    const hashes = token.image.indexOf('"');
    const span = { file: this.file, start: token.startOffset, end: token.startOffset + hashes + 1 };
    this.report('parse/unterminated-raw-string', span, { text: `\`"${'#'.repeat(hashes)}\`` });
  }

  #reportInvalid(token: t.DefinitionToken): void {
    const { image } = token;
    const span = this.spanOf(token);
    const text = /[#@{([<>';]/.exec(image)?.[0];
    const second = SECOND_KEY.exec(image)?.[1];
    if (text === "'" && image.startsWith("'")) this.report('parse/single-quotes', span, {});
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

/** What is meant by a token where a member of a block is expected. */
function strayAdvice(token: t.DefinitionToken, expected: string): string {
  if (token.image === '=' && expected === 'a field')
    return 'Fields have no default values: a type that ends in "?" is optional.';
  if (expected !== 'an enum value') return '';
  if (token.tokenType === t.QuotedString)
    return 'Values are names without quotes; `@alias("…")` gives one another text.';
  if (token.tokenType === t.Pipe) return 'Write one value per line.';
  return 'A value is a name alone; `@alias("…")` is what the model sees in its place.';
}

export function isHashComment(token: t.DefinitionToken): boolean {
  return token.tokenType === t.Stray && token.image.startsWith('#');
}

const BROKEN = new Set([t.UnterminatedString, t.UnterminatedRawString, t.UnterminatedExpression, t.InvalidValue]);
/** What word processors make of the quotes of a string or raw string. */
export const CURLY_QUOTE = /^#*[\u2018-\u201F]/u;
/** A second key with its block or list, behind a value without quotes. */
const SECOND_KEY = /\s(\w+\s+[{[])/;
