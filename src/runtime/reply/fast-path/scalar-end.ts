import { commaEndsToken, lineEndsToken, type BareContext } from '../text/bare-end.ts';
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
import type { Verdict } from '../text/look-ahead.ts';
import type { ReaderCursor } from '../text/reader-cursor.ts';
import { commentAhead, quoteEnds } from '../text/string-end.ts';

/*
 * Where a scalar is over that the straight reader may take: `no` leaves it to the tolerant reader, whose own verdicts
 * these are wherever there is a doubt.
 */

/** Does the quote before `from` end its text? */
export function textEnds({ text, isLast }: ReaderCursor, from: number, inList: boolean): Verdict {
  const code = text.charCodeAt(from);
  if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return 'yes';
  if (code === DOUBLE_QUOTE) return 'no';
  return quoteEnds(text, from, { place: inList ? 'list' : 'object', innerQuotes: 0, isLast });
}

/** Is a token without quotes over at `end`? */
export function tokenEnds({ text, isLast }: ReaderCursor, end: number, inList: boolean): Verdict {
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

/** True while a token may go on to be a number, `true`, `false` or `null`. */
export function mayBecomeScalar(token: string): boolean {
  return !isWordStart(token.charCodeAt(0)) || WORDS.some((word) => word.startsWith(token));
}

/** True for `true`, `false` and `null`. */
export function isWord(token: string): boolean {
  return WORDS.includes(token);
}

/** The first letter of `true`, `false` or `null`. */
export function isWordStart(code: number): boolean {
  return code === 116 || code === 102 || code === 110;
}

export function isTokenCharacter(code: number): boolean {
  return isWordCharacter(code) || code === DOT || code === PLUS || code === MINUS;
}

/** Past the spaces at `from`, but no line break. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code !== LINE_FEED && isSpace(code); code = text.charCodeAt(at)) at += 1;
  return at;
}
