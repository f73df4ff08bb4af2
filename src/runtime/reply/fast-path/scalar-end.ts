import { commaEndsToken, lineEndsToken, type BareContext } from '../text/bare-reader.ts';
import {
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
import { commentAhead, quoteEnds, type Verdict } from '../text/look-ahead.ts';

/*
 * The ends of scalars on the fast path: `no` leaves the reply to the tolerant parser. Doubtful cases use the functions
 * of the tolerant parser, so that both agree.
 */

/** Does the quote before `from` end its string? */
export function stringEnds({ text, isLast }: Cursor, from: number, inList: boolean): Verdict {
  const code = text.charCodeAt(from);
  if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return 'yes';
  if (code === DOUBLE_QUOTE) return 'no';
  return quoteEnds(text, from, { position: inList ? 'list' : 'object', innerQuotes: 0, isLast });
}

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
