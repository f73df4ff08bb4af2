import {
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  closersOf,
  codeAt,
  COMMA,
  DOT,
  DOUBLE_QUOTE,
  HASH,
  isDigit,
  isSpace,
  isWordCharacter,
  LESS_THAN,
  LINE_FEED,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  PLUS,
  SEMICOLON,
  SINGLE_QUOTE,
  skipBlanks,
  skipSpace,
  SLASH,
} from './characters.ts';
import { closingTagAhead, htmlCommentAhead, isNoteMark, noteAhead } from './after-member.ts';
import type { Cursor } from './cursor.ts';
import { isJsonNumber, jsonNumberOf } from './json-number.ts';
import {
  beginsWord,
  commentAhead,
  fenceAhead,
  JSON_WORDS,
  keyAhead,
  LOOK_AHEAD,
  phraseKeyAhead,
  type Verdict,
} from './look-ahead.ts';
import { REPAIR, ReplyNode } from './reply-node.ts';

/** Reads one token without quotes at a time: a number, a word, or a string whose quotes the model left out. */
export class BareReader {
  readonly #cursor: Cursor;
  /** The token being read; undefined after it has ended. */
  #node: ReplyNode | undefined = undefined;
  #inList = false;
  /** The token's container is itself inside a container. */
  #nested = false;
  /** The number of brackets opened inside the token and not closed. */
  #open = 0;
  /** The token contains no brackets and no spaces between words so far. */
  #simple = true;
  /** A space follows the last word. */
  #spaced = false;
  /** The last character taken from an earlier delta. */
  #lastCode = 0;
  /** The number of double quotes inside the token. */
  #quotes = 0;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  get ended(): boolean {
    return this.#node === undefined;
  }

  /**
   * Returns the offset after the number, `true`, `false` or `null` at the cursor, if it can be one, and all of it
   * and the character that ends it have arrived; otherwise -1. `first`: the character at the cursor.
   */
  completeEnd(first: number, inList: boolean): number {
    if (first !== MINUS && !isDigit(first) && !isWordStart(first)) return -1;
    const { text, at: start, isLast } = this.#cursor;
    let end = start + 1;
    while (end < text.length && isTokenCharacter(text.charCodeAt(end))) end += 1;
    const at = skipBlanks(text, end);
    const context = inList ? IN_LIST : isLast ? LAST : NOT_LAST;
    switch (codeAt(text, at)) {
      case COMMA:
        return commaEndsToken(text, at + 1, isDigit(text.charCodeAt(at - 1)), context) === 'yes' ? end : -1;
      case CLOSE_BRACE:
        return inList ? -1 : end;
      case CLOSE_BRACKET:
        return inList ? end : -1;
      case LINE_FEED:
        return lineEndsToken(text, at + 1, context, () => isJsonToken(text.slice(start, end))) === 'yes' ? end : -1;
      case SLASH:
        return at > end && commentAhead(text, at, isLast) === 'yes' ? end : -1;
      default:
        return -1;
    }
  }

  /** Begins the token at the cursor. */
  open(inList: boolean, nested: boolean): ReplyNode {
    const node = new ReplyNode('bare');
    this.#node = node;
    this.#inList = inList;
    this.#nested = nested;
    this.#open = 0;
    this.#simple = true;
    this.#spaced = false;
    this.#lastCode = 0;
    this.#quotes = 0;
    return node;
  }

  /** Reads on. Returns false if the answer needs more text. */
  read(): boolean {
    const node = this.#node;
    if (node === undefined) return true;
    const { text, at: start } = this.#cursor;
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (isWordCharacter(code) && !(this.#spaced && isNoteMark(code))) {
        if (this.#spaced) this.#simple = false;
        continue;
      }
      const verdict = this.#ends(at, at > start ? text.charCodeAt(at - 1) : this.#lastCode);
      if (verdict === 'no') continue;
      this.#take(node, start, at);
      if (verdict === 'wait') return false;
      if ((this.#quotes === 1 && code === DOUBLE_QUOTE) || code === SINGLE_QUOTE) this.#settleString(node);
      else settleBareToken(node);
      this.#node = undefined;
      return true;
    }
    this.#take(node, start, text.length);
    return true;
  }

  /** Ends a token whose end never arrived. */
  giveUp(): void {
    const node = this.#node;
    if (node === undefined) return;
    settleBareToken(node);
    node.complete = false;
    node.repairs |= REPAIR.unclosed;
    this.#node = undefined;
  }

  /** Ends a string whose opening quote is missing, at its closing quote. */
  #settleString(node: ReplyNode): void {
    node.kind = 'string';
    node.complete = true;
    node.quoted = true;
    node.plain = false;
    node.repairs |= REPAIR.quotes;
    this.#cursor.at += 1;
  }

  #take(node: ReplyNode, from: number, to: number): void {
    if (to > from) {
      node.text += this.#cursor.text.slice(from, to);
      this.#lastCode = this.#cursor.text.charCodeAt(to - 1);
    }
    this.#cursor.at = to;
  }

  #ends(at: number, before: number): Verdict {
    const { text, isLast } = this.#cursor;
    const code = text.charCodeAt(at);
    switch (code) {
      case COMMA:
        return commaEndsToken(text, at + 1, isDigit(before), this.#context());
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case CLOSE_PAREN:
        return this.#closerEnds(code);
      case OPEN_BRACE:
      case OPEN_BRACKET:
      case OPEN_PAREN:
        this.#open += 1;
        this.#simple = false;
        return 'no';
      case LINE_FEED:
        return this.#lineEnds(at);
      case SLASH:
        return isSpace(before) ? commentAhead(text, at, isLast) : 'no';
      case HASH:
        return isSpace(before) ? this.#hashEnds(at) : 'no';
      case SEMICOLON:
        return this.#isScalarTo(at) ? 'yes' : 'no';
      case LESS_THAN:
      case MINUS:
        return this.#isScalarTo(at) ? this.#markEnds(at, before) : 'no';
      case DOUBLE_QUOTE:
        return this.#quoteEnds(at);
      case SINGLE_QUOTE:
        return this.#singleQuoteEnds(at, before);
      default:
        if (isSpace(code)) this.#spaced = true;
        else if (isNoteMark(code) && this.#isScalarTo(at)) return noteAhead(text, at, isLast);
        return 'no';
    }
  }

  /** A `#` before a space opens a comment after a number or a word of JSON; anywhere else, it belongs to a text. */
  #hashEnds(at: number): Verdict {
    const { text, isLast } = this.#cursor;
    if (at + 1 >= text.length && !isLast) return 'wait';
    return isSpace(text.charCodeAt(at + 1)) && this.#isScalarTo(at) ? 'yes' : 'no';
  }

  /** A closing tag, a comment of HTML or a note ends a number or a word of JSON. */
  #markEnds(at: number, before: number): Verdict {
    const { text, isLast } = this.#cursor;
    const comment = htmlCommentAhead(text, at, isLast);
    const tag = comment === 'no' ? closingTagAhead(text, at, isLast) : comment;
    return tag === 'no' && isSpace(before) ? noteAhead(text, at, isLast) : tag;
  }

  /** True if the token up to `at` is a number or a word of JSON. */
  #isScalarTo(at: number): boolean {
    const { text, at: start } = this.#cursor;
    const before = this.#node?.text ?? '';
    return before.length + at - start <= LONGEST_SCALAR && isJsonToken((before + text.slice(start, at)).trim());
  }

  /** A quote ends a token before the next key, and a string whose opening quote is missing. */
  #quoteEnds(at: number): Verdict {
    const { text, isLast } = this.#cursor;
    const isKey = this.#simple && !this.#inList ? keyAhead(text, at, isLast) : 'no';
    if (isKey !== 'no') return isKey;
    this.#quotes += 1;
    if (this.#quotes !== 1) return 'no';
    const verdict = closingQuote(text, at + 1, this.#inList, isLast);
    if (verdict === 'wait') this.#quotes = 0;
    return verdict;
  }

  /** The only single quote of a token ends a string whose opening quote is missing, as a double quote does. */
  #singleQuoteEnds(at: number, before: number): Verdict {
    const { text, at: start, isLast } = this.#cursor;
    if (!isWordCharacter(before) && !isNoteMark(before)) return 'no';
    if (this.#node?.text.includes("'") === true || text.slice(start, at).includes("'")) return 'no';
    return closingQuote(text, at + 1, this.#inList, isLast);
  }

  #lineEnds(at: number): Verdict {
    const verdict = lineEndsToken(this.#cursor.text, at + 1, this.#context(), () => this.#isScalarTo(at));
    if (verdict !== 'no') return verdict;
    this.#open = 0;
    this.#spaced = true;
    return 'no';
  }

  #closerEnds(code: number): Verdict {
    if (this.#open > 0) {
      this.#open -= 1;
      return 'no';
    }
    if (code === CLOSE_PAREN) return 'no';
    if ((code === CLOSE_BRACKET) === this.#inList) return 'yes';
    return this.#simple && this.#nested ? 'yes' : 'no';
  }

  #context(): BareContext {
    return { inList: this.#inList, simple: this.#simple, open: this.#open, isLast: this.#cursor.isLast };
  }
}

/** Does the quote before `from`, the only one in its token, close a string? Only if a delimiter and a member follow. */
function closingQuote(text: string, from: number, inList: boolean, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(at);
  if (code === CLOSE_BRACE || code === CLOSE_BRACKET) return 'yes';
  if (code !== COMMA) return 'no';
  const next = skipSpace(text, at + 1);
  if (next - at > LOOK_AHEAD) return 'no';
  if (next >= text.length) return isLast ? 'yes' : 'wait';
  if (inList) return isWordCharacter(text.charCodeAt(next)) || closersOf(text.charCodeAt(next)) !== '' ? 'yes' : 'no';
  return keyAhead(text, next, isLast);
}

// --- the ends of tokens ----------------------------------------------------------------------------------------------

export interface BareContext {
  readonly inList: boolean;
  /** The token so far, trimmed, contains no spaces and no brackets. */
  readonly simple: boolean;
  /** The number of brackets opened inside the token and not closed. */
  readonly open: number;
  readonly isLast: boolean;
}

/** No number is longer, so longer tokens are not copied for the comparison. */
const LONGEST_SCALAR = 400;

const NOT_LAST: BareContext = { inList: false, simple: true, open: 0, isLast: false };
const LAST: BareContext = { ...NOT_LAST, isLast: true };
const IN_LIST: BareContext = { ...NOT_LAST, inList: true };

/** Does the comma before `from` end a token without quotes? */
function commaEndsToken(text: string, from: number, digitBefore: boolean, context: BareContext): Verdict {
  if (context.inList && context.open === 0) return 'yes';
  if (from >= text.length) return context.isLast ? 'yes' : 'wait';
  const next = text.charCodeAt(from);
  if (next === LINE_FEED || next === 13) return 'yes';
  if (context.open > 0) return 'no';
  if (next === DOUBLE_QUOTE || next === CLOSE_BRACE) return 'yes';
  if (!context.simple) return keyAhead(text, from, context.isLast);
  // `1,234` and `1,5` are one token each, unless a colon makes the second part a key.
  return isDigit(next) && digitBefore ? keyAhead(text, from, context.isLast) : memberAhead(text, from, context.isLast);
}

/** After one word and a comma, the token continues only with words that are not a key: `a, b and c`. */
function memberAhead(text: string, from: number, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'yes';
  if (at >= text.length) return isLast ? 'yes' : 'wait';
  return isWordCharacter(text.charCodeAt(at)) ? phraseKeyAhead(text, at, isLast) : 'yes';
}

/** Does the line break before `from` end a token without quotes? `isScalar`: the token is a number or a word of JSON. */
function lineEndsToken(text: string, from: number, context: BareContext, isScalar: () => boolean): Verdict {
  if (context.inList) return 'yes';
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return isScalar() ? 'yes' : 'no';
  if (at >= text.length) return context.isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(at);
  if (code === CLOSE_BRACE || code === CLOSE_BRACKET || isScalar()) return 'yes';
  if (code === BACKTICK) return fenceAhead(text, at, context.isLast);
  const quote = code === DOUBLE_QUOTE || code === SINGLE_QUOTE;
  return context.simple && quote ? 'yes' : keyAhead(text, at, context.isLast);
}

// --- the kinds of tokens ---------------------------------------------------------------------------------------------

/** True for the first letters of `true`, `false` and `null`. */
function isWordStart(code: number): boolean {
  return code === 116 || code === 102 || code === 110;
}

function isTokenCharacter(code: number): boolean {
  return isWordCharacter(code) || code === DOT || code === PLUS || code === MINUS;
}

/** True for `true`, `false`, `null` and numbers as JSON writes them. */
export function isJsonToken(text: string): boolean {
  return JSON_WORDS.includes(text) || isJsonNumber(text);
}

/** True while a growing token can still become a number, `true`, `false` or `null`. */
export function canBecomeScalar(text: string): boolean {
  return isWordStart(text.charCodeAt(0)) ? beginsWord(text) : NUMBER_HEAD.test(text);
}

/** The beginning of a number. */
const NUMBER_HEAD = /^-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d*)?)?$/u;

/** Decides the kind of a finished token without quotes. Python's and JavaScript's words for null are null as well. */
export function settleBareToken(node: ReplyNode): void {
  node.complete = true;
  const text = node.text.trim();
  node.text = text;
  const first = text.charCodeAt(0);
  if ((isDigit(first) || first === MINUS) && isJsonNumber(text)) {
    node.kind = 'number';
  } else if (jsonNumberOf(text) !== undefined) {
    node.kind = 'number';
    node.repairs |= REPAIR.unquotedValue;
  } else if (text === 'true' || text === 'false') {
    node.kind = 'boolean';
  } else if (text === 'null' || text === 'None' || text === 'undefined') {
    node.kind = 'null';
    if (text !== 'null') node.repairs |= REPAIR.unquotedValue;
  } else {
    node.kind = 'string';
    node.plain = false;
    node.repairs |= REPAIR.unquotedValue;
  }
}

/** Three dots mark members that the model left out. */
export function isEllipsis(text: string): boolean {
  return text === '...' || text === '…';
}

/** Splits a string without quotes into numbers, booleans and nulls; empty if it contains anything else. */
export function separateScalars(node: ReplyNode): readonly ReplyNode[] {
  if (node.kind !== 'string' || node.quoted || !/^\S+(?:\s+\S+)+$/u.test(node.text)) return [];
  const scalars = node.text.split(/\s+/u).map((text) => {
    const scalar = new ReplyNode('bare');
    scalar.text = text;
    settleBareToken(scalar);
    return scalar;
  });
  return scalars.some((scalar) => scalar.kind === 'string') ? [] : scalars;
}
