import {
  ASTERISK,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  COLON,
  COMMA,
  EQUALS,
  isDigit,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  SEMICOLON,
  skipSpace,
  SLASH,
} from './characters.ts';
import { fenceAhead, keyAhead, LOOK_AHEAD, type Verdict } from './look-ahead.ts';

/** Where a string stands: what may follow it depends on that. */
export type Place = 'key' | 'object' | 'list';

export interface QuoteContext {
  readonly place: Place;
  /** Quotes already taken as part of this string. */
  readonly innerQuotes: number;
  readonly isLast: boolean;
}

/**
 * Does the quote before `from` end its string? Models forget to escape quotes, so only what follows can tell:
 * a delimiter ends the string, anything else makes the quote a part of it.
 */
export function quoteEnds(text: string, from: number, context: QuoteContext): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'yes';
  if (at >= text.length) return context.isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(at);
  if (context.place === 'key') return keyEnds(code, at > from);
  switch (code) {
    case CLOSE_BRACE:
      return context.place === 'object' || isEven(context) ? 'yes' : 'no';
    case CLOSE_BRACKET:
      return context.place === 'list' || isEven(context) ? 'yes' : 'no';
    case COMMA:
    case SEMICOLON:
      return isEven(context) ? 'yes' : commaEnds(text, at + 1, context);
    case SLASH:
      return commentAhead(text, at, context.isLast);
    case BACKTICK:
      return fenceAhead(text, at, context.isLast);
    default:
      return memberAhead(text, from, at, context);
  }
}

/** A key ends before its colon, or, when that is missing, before a value that stands apart. */
function keyEnds(code: number, apart: boolean): Verdict {
  if (code === COLON || code === EQUALS || code === CLOSE_BRACE) return 'yes';
  const value = code === OPEN_BRACE || code === OPEN_BRACKET || isDigit(code) || closersOf(code) !== '';
  return apart && value ? 'yes' : 'no';
}

/** Quotes inside a text come in pairs, so a delimiter after an odd one is usually text. */
function isEven(context: QuoteContext): boolean {
  return context.innerQuotes % 2 === 0;
}

/** After an odd quote and a comma, only a line break or the next key proves the end. */
function commaEnds(text: string, from: number, context: QuoteContext): Verdict {
  if (from >= text.length) return context.isLast ? 'yes' : 'wait';
  const next = text.charCodeAt(from);
  if (next === LINE_FEED || next === 13) return 'yes';
  return context.place === 'object' ? keyAhead(text, from, context.isLast) : 'no';
}

/** Does the slash at `at` start a comment? */
export function commentAhead(text: string, at: number, isLast: boolean): Verdict {
  if (at + 1 >= text.length) return isLast ? 'no' : 'wait';
  const next = text.charCodeAt(at + 1);
  return next === SLASH || next === ASTERISK ? 'yes' : 'no';
}

/** The next member may follow without a comma. */
function memberAhead(text: string, from: number, at: number, context: QuoteContext): Verdict {
  const code = text.charCodeAt(at);
  const quote = closersOf(code) !== '';
  const opens = code === OPEN_BRACE || code === OPEN_BRACKET;
  if (!quote && !opens && !isWordCharacter(code) && code !== MINUS) return 'no';
  const newLine = hasLineFeed(text, from, at);
  if (opens) return newLine && context.place === 'list' && context.innerQuotes === 0 ? 'yes' : 'no';
  if (context.place === 'object') return quote || newLine ? keyAhead(text, at, context.isLast) : 'no';
  if (!quote) return newLine && context.innerQuotes === 0 ? scalarAhead(text, at, context.isLast) : 'no';
  return newLine || (at > from && context.innerQuotes === 0) ? textAhead(text, at + 1, context.isLast) : 'no';
}

/** A number, a truth value or null that has a line of its own, up to a comma or the end of the list. */
function scalarAhead(text: string, from: number, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let end = from;
  while (end < limit && !ENDS_SCALAR.has(text.charCodeAt(end))) end += 1;
  if (end === limit && !isLast) return limit === from + LOOK_AHEAD ? 'no' : 'wait';
  return SCALAR.test(text.slice(from, end)) ? 'yes' : 'no';
}

const ENDS_SCALAR: ReadonlySet<number> = new Set([LINE_FEED, 13, COMMA, CLOSE_BRACKET]);
const SCALAR = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null) *$/u;

/** A quote that opens a text, rather than one that closes it. */
function textAhead(text: string, from: number, isLast: boolean): Verdict {
  if (from >= text.length) return isLast ? 'no' : 'wait';
  const code = text.charCodeAt(from);
  return isSpace(code) || code === COMMA || code === CLOSE_BRACKET ? 'no' : 'yes';
}

function hasLineFeed(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) === LINE_FEED) return true;
  return false;
}
