import { commaEndsToken, lineEndsToken, type BareContext } from '../text/bare-reader.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DOT,
  DOUBLE_QUOTE,
  isDigit,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  MINUS,
  PLUS,
  SLASH,
} from '../text/characters.ts';
import type { Cursor } from '../text/cursor.ts';
import { GrowingText } from '../text/growing-text.ts';
import { commentAhead, type Verdict } from '../text/look-ahead.ts';
import { quoteEnds, type QuoteContext } from '../text/string-end.ts';

/*
 * The ends of scalars on the fast path: `no` leaves the reply to the tolerant parser. Doubtful cases use the functions
 * of the tolerant parser, so that both agree.
 */

/** Does the quote before `from` end its string? */
export function stringEnds({ text, isLast }: Cursor, from: number, inList: boolean): Verdict {
  const code = text.charCodeAt(from);
  if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return 'yes';
  if (code === DOUBLE_QUOTE) return 'no';
  const context = inList ? STRING_IN_LIST : STRING_IN_OBJECT;
  return quoteEnds(text, from, isLast ? { ...context, isLast } : context);
}

const STRING_IN_OBJECT: QuoteContext = {
  position: 'object',
  innerQuotes: 0,
  quoting: false,
  brackets: 0,
  closers: '"',
  isLast: false,
};
const STRING_IN_LIST: QuoteContext = { ...STRING_IN_OBJECT, position: 'list' };

/** Does a token without quotes end at `end`? */
export function tokenEnds({ text, isLast }: Cursor, end: number, inList: boolean): Verdict {
  const at = skipBlanks(text, end);
  if (at >= text.length) return 'wait';
  const context = isLast ? { ...IN_OBJECT, inList, isLast } : inList ? IN_LIST : IN_OBJECT;
  switch (text.charCodeAt(at)) {
    case COMMA:
      return commaEndsToken(text, at + 1, isDigit(text.charCodeAt(at - 1)), context);
    case CLOSE_BRACE:
      return inList ? 'no' : 'yes';
    case CLOSE_BRACKET:
      return inList ? 'yes' : 'no';
    case LINE_FEED:
      return lineEndsToken(text, at + 1, context);
    case SLASH:
      return at > end ? commentAhead(text, at, isLast) : 'no';
    default:
      return 'no';
  }
}

const IN_OBJECT: BareContext = { inList: false, simple: true, open: 0, isLast: false };
const IN_LIST: BareContext = { ...IN_OBJECT, inList: true };

const WORDS = ['true', 'false', 'null'];

/** True while a token can still become a number, `true`, `false` or `null`. */
export function canBecomeScalar(token: string): boolean {
  return !isWordStart(token.charCodeAt(0)) || WORDS.some((word) => word.startsWith(token));
}

/** True for `true`, `false` and `null`. */
export function isWord(token: string): boolean {
  return WORDS.includes(token);
}

/** True for the first letters of `true`, `false` and `null`. */
export function isWordStart(code: number): boolean {
  return code === 116 || code === 102 || code === 110;
}

export function isTokenCharacter(code: number): boolean {
  return isWordCharacter(code) || code === DOT || code === PLUS || code === MINUS;
}

/** Skips the spaces at `from`, but no line break. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code !== LINE_FEED && isSpace(code); code = text.charCodeAt(at)) at += 1;
  return at;
}

// --- strings ---------------------------------------------------------------------------------------------------------

/** The reason why reading stopped: the closing quote, the end of the text at hand, or something that is not JSON. */
export type OpenStringStop = 'quote' | 'end' | 'surprise';

/** A string between double quotes whose end has not arrived. Its content is kept as JSON text. */
export class OpenString {
  readonly #cursor: Cursor;
  #json = new GrowingText();

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /** The JSON text so far, with both quotes. */
  get json(): string {
    return `"${this.#json.text}"`;
  }

  /** Begins the string whose opening quote is at the cursor. */
  begin(): void {
    this.#json = new GrowingText();
    this.#cursor.at += 1;
  }

  /** Reads on, up to the closing quote. */
  read(): OpenStringStop {
    const { text, at: start } = this.#cursor;
    let canonical = true;
    let at = start;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === DOUBLE_QUOTE) return this.#take(start, at, canonical) ? 'quote' : 'surprise';
      if (code < 32) return 'surprise';
      if (code === BACKSLASH) {
        const length = escapeLength(text, at);
        if (at + length > text.length) break;
        canonical &&= isCanonicalEscape(text.charCodeAt(at + 1));
        at += length;
      } else at += 1;
    }
    return this.#take(start, beforeHalf(text, start, at), canonical) ? 'end' : 'surprise';
  }

  #take(from: number, to: number, canonical: boolean): boolean {
    if (to <= from) return true;
    const source = this.#cursor.text.slice(from, to);
    const json = canonical ? source : rewriteString(`"${source}"`)?.slice(1, -1);
    if (json === undefined) return false;
    this.#json.append(json);
    this.#cursor.at = to;
    return true;
  }
}

function escapeLength(text: string, at: number): number {
  return text.charCodeAt(at + 1) === 117 ? 6 : 2;
}

/** Returns `to`, or the start of half of a surrogate pair that ends there and waits for the other half. */
function beforeHalf(text: string, from: number, to: number): number {
  if (to > from && isHigh(text.charCodeAt(to - 1))) return to - 1;
  const escape = to - 6;
  const isEscape = escape >= from && text.startsWith('\\u', escape) && isHigh(parseInt(text.slice(escape + 2, to), 16));
  return isEscape ? escape : to;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** True for the characters after a backslash that JSON.stringify writes in the same way: n t r b f " \ */
export function isCanonicalEscape(code: number): boolean {
  switch (code) {
    case 110:
    case 116:
    case 114:
    case 98:
    case 102:
    case DOUBLE_QUOTE:
    case BACKSLASH:
      return true;
    default:
      return false;
  }
}

/** Returns a JSON string, with its quotes, as JSON.stringify writes it; undefined if one of its escapes is unknown. */
export function rewriteString(source: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(source));
  } catch {
    return undefined;
  }
}
