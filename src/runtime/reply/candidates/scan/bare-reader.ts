import { Ahead, type Verdict, type Cursor } from './cursor.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  closersOf,
  codeAt,
  COMMA,
  DOT,
  DOUBLE_QUOTE,
  isDigit,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  PLUS,
  SINGLE_QUOTE,
  skipBlanks,
  skipSpace,
} from './characters.ts';
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
    const { text, at: start } = this.#cursor;
    let end = start + 1;
    while (end < text.length && isTokenCharacter(text.charCodeAt(end))) end += 1;
    const at = skipBlanks(text, end);
    switch (codeAt(text, at)) {
      case COMMA:
        return inList || codeAt(text, at + 1) === LINE_FEED || codeAt(text, skipSpace(text, at + 1)) === DOUBLE_QUOTE
          ? end
          : -1;
      case CLOSE_BRACE:
        return inList ? -1 : end;
      case CLOSE_BRACKET:
        return inList ? end : -1;
      case LINE_FEED:
        return inList || (isJsonToken(text.slice(start, end)) && skipSpace(text, at) < text.length) ? end : -1;
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
      if (isWordCharacter(code)) {
        if (this.#spaced) this.#simple = false;
        continue;
      }
      const verdict = this.#ends(at, at > start ? text.charCodeAt(at - 1) : this.#lastCode);
      if (verdict === 'no') continue;
      this.#take(node, start, at);
      if (verdict === 'wait') return false;
      if (this.#quotes === 1 && code === DOUBLE_QUOTE) this.#settleString(node);
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
    const code = this.#cursor.text.charCodeAt(at);
    switch (code) {
      case COMMA:
        return this.#commaEnds(at, before);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case CLOSE_PAREN:
        return this.#closerEnds(code);
      case OPEN_BRACE:
      case OPEN_BRACKET:
      case OPEN_PAREN:
        if (code === OPEN_BRACE && this.#isScalarTo(at)) return 'yes';
        this.#open += 1;
        this.#simple = false;
        return 'no';
      case LINE_FEED:
        return this.#lineEnds(at);
      case DOUBLE_QUOTE:
        return this.#quoteEnds(at, before);
      default:
        if (isSpace(code)) this.#spaced = true;
        return 'no';
    }
  }

  #ahead(at: number): Ahead {
    return new Ahead(this.#cursor.text, at, this.#cursor.isLast);
  }

  /** A comma ends an item of a list. In an object, it ends a token only if no more words of a sentence follow. */
  #commaEnds(at: number, before: number): Verdict {
    if (this.#open === 0 && (this.#inList || codeAt(this.#cursor.text, at + 1) === LINE_FEED)) return 'yes';
    const ahead = this.#ahead(at + 1);
    const next = ahead.skipSpace(at + 1);
    const code = ahead.code(next);
    if (this.#open > 0) return ahead.answer(ahead.code(at + 1) === LINE_FEED);
    const isMember = closersOf(code) !== '' || ahead.key(next) !== undefined || ahead.phraseKey(next) !== undefined;
    if (isMember || ahead.hasLineFeed(at + 1, next)) return ahead.answer(true);
    // `1,234` and `1,5` are one token each.
    if (isDigit(before) && next === at + 1 && isDigit(code)) return ahead.answer(false);
    return ahead.answer(!isWordCharacter(code) || this.#isScalarTo(at));
  }

  /** True if the token up to `at` is a number or a word of JSON. */
  #isScalarTo(at: number): boolean {
    const { text, at: start } = this.#cursor;
    const before = this.#node?.text ?? '';
    return before.length + at - start <= LONGEST_SCALAR && isJsonToken((before + text.slice(start, at)).trim());
  }

  /** A quote ends a token before the next key, and a string whose opening quote is missing. */
  #quoteEnds(at: number, before: number): Verdict {
    const ahead = this.#ahead(at);
    if (!this.#inList && (this.#simple || isSpace(before)) && ahead.key(at) !== undefined) return ahead.answer(true);
    if (this.#inList && isSpace(before) && this.#isScalarTo(at)) return 'yes';
    const ends = this.#quotes === 0 && this.#closingQuote(ahead, at + 1);
    if (!ahead.isShort) this.#quotes += 1;
    return ahead.answer(ends);
  }

  /** Does the quote before `from`, the only one in its token, close a string? Only if a delimiter and a member follow. */
  #closingQuote(ahead: Ahead, from: number): boolean {
    const at = ahead.skipSpace(from);
    const code = ahead.code(at);
    if (code < 0 || code === CLOSE_BRACE || code === CLOSE_BRACKET) return true;
    if (code !== COMMA) return false;
    const next = ahead.skipSpace(at + 1);
    if (!this.#inList) return ahead.key(next) !== undefined;
    return isWordCharacter(ahead.code(next)) || closersOf(ahead.code(next)) !== '';
  }

  #lineEnds(at: number): Verdict {
    if (this.#inList) return 'yes';
    const ahead = this.#ahead(at + 1);
    const next = ahead.skipSpace(at + 1);
    const code = ahead.code(next);
    const isEnd = code < 0 || code === CLOSE_BRACE || code === CLOSE_BRACKET || ahead.startsWith('```', next);
    const isMember =
      (this.#simple && (code === DOUBLE_QUOTE || code === SINGLE_QUOTE)) || ahead.key(next) !== undefined;
    const ends = isEnd || isMember || this.#isScalarTo(at);
    if (ahead.isShort || ends) return ahead.answer(ends);
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
}

/** No number is longer, so longer tokens are not copied for the comparison. */
const LONGEST_SCALAR = 400;

// --- the kinds of tokens ---------------------------------------------------------------------------------------------

const JSON_WORDS: readonly string[] = ['null', 'true', 'false'];

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
  return isWordStart(text.charCodeAt(0)) ? JSON_WORDS.some((word) => word.startsWith(text)) : NUMBER_HEAD.test(text);
}

/** The beginning of a number. */
const NUMBER_HEAD = /^-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d*)?)?$/u;

/** A call with one argument, as MongoDB and programming languages write special values: `ObjectId("1")`, `NumberLong(2)`. */
const CALL = /^\p{Lu}\w*\((?:"([^"]*)"|'([^']*)'|(-?\d+(?:\.\d+)?))\)$/u;

/** Decides the kind of a finished token without quotes. Python's and JavaScript's words for null are null as well. */
export function settleBareToken(node: ReplyNode): void {
  node.complete = true;
  const source = node.text.trim();
  node.text = source;
  node.kind = kindOf(source);
  if (node.kind === 'number' ? isJsonNumber(source) : JSON_WORDS.includes(source)) return;
  node.repairs |= REPAIR.unquotedValue;
  const [, inDouble, inSingle, number] = (source.endsWith(')') ? CALL.exec(source) : undefined) ?? [];
  node.text = inDouble ?? inSingle ?? number ?? source;
  if (number !== undefined) node.kind = 'number';
  if (node.kind === 'string') node.plain = false;
}

function kindOf(text: string): 'number' | 'boolean' | 'null' | 'string' {
  if (jsonNumberOf(text) !== undefined) return 'number';
  if (text === 'true' || text === 'false') return 'boolean';
  return text === 'null' || text === 'None' || text === 'undefined' ? 'null' : 'string';
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

/** True for a JSON number. */
export function isJsonNumber(text: string): boolean {
  let at = text.charCodeAt(0) === MINUS ? 1 : 0;
  const first = text.charCodeAt(at);
  if (!isDigit(first)) return false;
  const whole = skipDigits(text, at);
  if (first === 48 && whole > at + 1) return false;
  at = whole;
  if (at === text.length) return true;
  if (text.charCodeAt(at) === DOT) {
    const fraction = skipDigits(text, at + 1);
    if (fraction === at + 1) return false;
    at = fraction;
  }
  return at === text.length || isExponent(text, at);
}

function isExponent(text: string, from: number): boolean {
  const letter = text.charCodeAt(from);
  if (letter !== 101 && letter !== 69) return false;
  const sign = text.charCodeAt(from + 1);
  const start = sign === MINUS || sign === 43 ? from + 2 : from + 1;
  const end = skipDigits(text, start);
  return end > start && end === text.length;
}

function skipDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

/** A number as programming languages write it. An exponent can break off. */
const NUMBER = /^([+\-−]?)(?:(0|[1-9]\d*(?:_\d+)*)(?:\.(\d*(?:_\d+)*))?|\.(\d+))(?:([eE][+-]?\d+)|[eE][+-]?)?$/u;
const HEXADECIMAL = /^([+\-−]?)(0[xX][\da-fA-F]+)$/u;
const MAX_LENGTH = 1000;

/**
 * Returns the JSON text of a number as JSON or a programming language writes it: `+270`, `.5`, `5.`, `1_000`, `0x1F`,
 * or with a typographic minus sign. Undefined for any other text.
 */
export function jsonNumberOf(text: string): string | undefined {
  if (isJsonNumber(text)) return text;
  const code = text.charCodeAt(0);
  if (
    text.length > MAX_LENGTH ||
    !(isDigit(code) || code === DOT || code === MINUS || code === 43 || code === 0x2212)
  ) {
    return undefined;
  }
  const hexadecimal = HEXADECIMAL.exec(text);
  if (hexadecimal !== null) return signed(hexadecimal[1], String(BigInt(hexadecimal[2] ?? '')));
  const parts = NUMBER.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '0', decimals, only, exponent = ''] = parts;
  const fraction = decimals === '' ? undefined : (decimals ?? only);
  return signed(sign, (whole + (fraction === undefined ? '' : `.${fraction}`)).replaceAll('_', '') + exponent);
}

function signed(sign: string | undefined, digits: string): string {
  return sign === '-' || sign === '−' ? `-${digits}` : digits;
}
