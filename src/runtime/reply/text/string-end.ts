import {
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  COLON,
  COMMA,
  DOT,
  EQUALS,
  GREATER_THAN,
  HASH,
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
import { closingTagAhead, ellipsisAhead, htmlCommentAhead, noteAhead, periodAhead } from './after-member.ts';
import { commentAhead, fenceAhead, keyAhead, LOOK_AHEAD, type Verdict } from './look-ahead.ts';

/*
 * The ends of strings. Models forget to escape quotes, so a quote ends its string only if the text after it continues the
 * JSON around the string. Quotes inside a string come in pairs, and so do brackets: while a quotation or a bracket is
 * open inside the string, more evidence is needed.
 */

/** The position of a string, which determines the text that can follow it. */
export type StringPosition = 'key' | 'object' | 'list';

/** The properties of the string so far that determine where it ends. */
export interface QuoteContext {
  readonly position: StringPosition;
  /** The number of quotes already taken as part of this string. */
  readonly innerQuotes: number;
  /** The last of them opened a quotation that has not ended. */
  readonly quoting: boolean;
  /** The number of brackets that are open in a string with inner quotes. */
  readonly brackets: number;
  /** The string ends in a space, so that it can go on in a string on the next line. */
  readonly endsInSpace: boolean;
  /** The quotes that can end the string. */
  readonly closers: string;
  readonly isLast: boolean;
}

/** The context of a string between double quotes without quotes inside. */
export const IN_OBJECT: QuoteContext = {
  position: 'object',
  innerQuotes: 0,
  quoting: false,
  brackets: 0,
  endsInSpace: false,
  closers: '"',
  isLast: false,
};
export const IN_LIST: QuoteContext = { ...IN_OBJECT, position: 'list' };

/** Does the quote before `from` end its string? */
export function quoteEnds(text: string, from: number, context: QuoteContext): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'yes';
  if (at >= text.length) return context.isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(at);
  if (context.position === 'key') return keyEnds(text, at, at > from, context.isLast);
  switch (code) {
    case CLOSE_BRACE:
    case CLOSE_BRACKET:
      return context.innerQuotes === 0 ? 'yes' : closersEnd(text, at, context);
    case COMMA:
    case SEMICOLON:
      return commaEnds(text, at + 1, context);
    case SLASH:
      return isPlain(context) ? commentAhead(text, at, context.isLast) : 'no';
    case HASH:
      return isPlain(context) && at > from ? hashEnds(text, at, context) : 'no';
    case BACKTICK:
      return fenceAhead(text, at, context.isLast);
    case COLON:
      return context.position === 'list' && context.innerQuotes === 0 ? keyValueAhead(text, at + 1, context) : 'no';
    case EQUALS:
      return context.position === 'list' && context.innerQuotes === 0 ? arrowAhead(text, at, context) : 'no';
    default: {
      const member = memberAhead(text, from, at, context);
      return member === 'no' ? textAhead(text, from, at, context) : member;
    }
  }
}

/** A key ends before its colon or, if that is missing, before a value that is separated from it by a space. */
function keyEnds(text: string, at: number, isSeparate: boolean, isLast: boolean): Verdict {
  const code = text.charCodeAt(at);
  if (code === COLON || code === EQUALS || code === CLOSE_BRACE) return 'yes';
  const value = code === OPEN_BRACE || code === OPEN_BRACKET || isDigit(code) || closersOf(code) !== '';
  if (!isSeparate || value) return isSeparate ? 'yes' : 'no';
  return scalarAhead(text, at, isLast, true);
}

/** In a list that was not closed, a colon after a string makes it a key if a value follows. */
function keyValueAhead(text: string, from: number, { isLast }: QuoteContext): Verdict {
  const at = skipSpace(text, from);
  if (at >= text.length) return isLast ? 'no' : 'wait';
  if (at - from > LOOK_AHEAD) return 'no';
  const code = text.charCodeAt(at);
  if (closersOf(code) !== '' || code === OPEN_BRACE || code === OPEN_BRACKET) return 'yes';
  return scalarAhead(text, at, isLast, true);
}

/** In an array of PHP, `=>` and a value follow a key. */
function arrowAhead(text: string, at: number, context: QuoteContext): Verdict {
  if (at + 1 >= text.length) return context.isLast ? 'no' : 'wait';
  return text.charCodeAt(at + 1) === GREATER_THAN ? keyValueAhead(text, at + 2, context) : 'no';
}

/** No quotation and no bracket is open inside the string. */
export function isPlain({ quoting, brackets }: QuoteContext): boolean {
  return !quoting && brackets === 0;
}

// --- before closing brackets -----------------------------------------------------------------------------------------

/**
 * Do the brackets at `from` close the JSON around a string with inner quotes? They belong to the string if a quote
 * follows them at once, or if they close what is open inside the string and another quote follows.
 */
function closersEnd(text: string, from: number, context: QuoteContext): Verdict {
  const { closers, brackets, isLast } = context;
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let at = from;
  let count = 0;
  for (; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) count += 1;
    else if (!isSpace(code)) break;
  }
  if (at === limit) return limit === text.length && !isLast ? 'wait' : 'yes';
  if (closers.includes(text.charAt(at))) return hasLineFeed(text, from, at) ? keyAhead(text, at, isLast) : 'no';
  const code = text.charCodeAt(at);
  const delimits = code === COMMA || code === BACKTICK || hasLineFeed(text, from, at);
  if (count > brackets && delimits) return 'yes';
  if (count > brackets && !context.quoting && code !== SEMICOLON) return 'yes';
  return not(quoteAhead(text, at, context));
}

/** Does another quote that can end the string follow within the look-ahead? */
function quoteAhead(text: string, from: number, { closers, isLast }: QuoteContext): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) if (closers.includes(text.charAt(at))) return 'yes';
  return limit === text.length && !isLast ? 'wait' : 'no';
}

function not(verdict: Verdict): Verdict {
  return verdict === 'wait' ? 'wait' : verdict === 'yes' ? 'no' : 'yes';
}

// --- before commas ---------------------------------------------------------------------------------------------------

/** Is the comma before `from` one between members? Always after a string without inner quotes. */
function commaEnds(text: string, from: number, context: QuoteContext): Verdict {
  const { innerQuotes, brackets, isLast } = context;
  if (innerQuotes === 0 && context.closers === '"') return 'yes';
  const at = skipSpace(text, from);
  if (at >= text.length) return isLast ? 'yes' : 'wait';
  if (at - from > LOOK_AHEAD) return 'yes';
  const member =
    context.position === 'object' ? fieldAhead(text, from, at, context) : itemAhead(text, from, at, context);
  if (member !== 'yes' || brackets === 0) return member;
  return not(bracketsCloseAhead(text, at, context));
}

/** Does a member of an object follow at `at`, after the comma before `from`? */
function fieldAhead(text: string, from: number, at: number, context: QuoteContext): Verdict {
  const code = text.charCodeAt(at);
  if (closersOf(code) !== '') return keyAhead(text, at, context.isLast);
  const isNext = !context.quoting || hasLineFeed(text, from, at);
  if (!isNext) return 'no';
  if (code === CLOSE_BRACE || code === CLOSE_BRACKET || code === COMMA || code === HASH) return 'yes';
  if (code === SLASH) return commentAhead(text, at, context.isLast);
  return keyAhead(text, at, context.isLast);
}

/** Does a member of a list follow at `at`, after the comma before `from`? */
function itemAhead(text: string, from: number, at: number, context: QuoteContext): Verdict {
  const code = text.charCodeAt(at);
  if (closersOf(code) !== '') return context.quoting ? wholeItemAhead(text, at, context) : 'yes';
  if (context.quoting && !hasLineFeed(text, from, at)) return 'no';
  if (code === OPEN_BRACE || code === OPEN_BRACKET || code === CLOSE_BRACKET || code === HASH) return 'yes';
  if (code === SLASH) return commentAhead(text, at, context.isLast);
  return scalarAhead(text, at, context.isLast);
}

/** Does a string follow at `at` that ends before the end of the list, or before another member? */
export function wholeItemAhead(text: string, at: number, context: QuoteContext): Verdict {
  const { isLast } = context;
  const end = quoteIn(text, at + 1, context.closers);
  if (end < 0) return text.length >= at + LOOK_AHEAD || isLast ? 'yes' : 'wait';
  const next = skipSpace(text, end + 1);
  if (next >= text.length) return isLast ? 'yes' : 'wait';
  if (text.charCodeAt(next) === CLOSE_BRACKET) return 'yes';
  if (text.charCodeAt(next) !== COMMA) return 'no';
  const item = skipSpace(text, next + 1);
  if (item >= text.length) return isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(item);
  if (code === OPEN_BRACE || code === OPEN_BRACKET || code === CLOSE_BRACKET || closersOf(code) !== '') return 'yes';
  return scalarAhead(text, item, isLast);
}

/** The position of the next quote within the look-ahead; -1 if there is none. */
export function quoteIn(text: string, from: number, closers: string): number {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) if (closers.includes(text.charAt(at))) return at;
  return -1;
}

/** Do the brackets that are open inside the string close before the look-ahead ends, with a quote after them? */
function bracketsCloseAhead(text: string, from: number, context: QuoteContext): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let depth = context.brackets;
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return quoteAhead(text, at + 1, context);
    }
  }
  return limit === text.length ? (context.isLast ? 'no' : 'wait') : 'yes';
}

// --- before other text -----------------------------------------------------------------------------------------------

/** The next member can follow without a comma. */
function memberAhead(text: string, from: number, at: number, context: QuoteContext): Verdict {
  const code = text.charCodeAt(at);
  const quote = closersOf(code) !== '';
  const opens = code === OPEN_BRACE || code === OPEN_BRACKET;
  if (!quote && !opens && !isWordCharacter(code) && code !== MINUS) return 'no';
  const newLine = hasLineFeed(text, from, at);
  if (opens) return newLine && context.position === 'list' && context.innerQuotes === 0 ? 'yes' : 'no';
  if (context.position === 'object') {
    if (!newLine && !isPlain(context)) return 'no';
    return quote || newLine ? keyAhead(text, at, context.isLast) : 'no';
  }
  const part = quote && newLine && context.endsInSpace ? partAhead(text, at, context) : 'no';
  if (part !== 'no') return not(part);
  if (!quote) return newLine && context.innerQuotes === 0 ? scalarAhead(text, at, context.isLast) : 'no';
  return newLine || (at > from && context.innerQuotes === 0) ? stringAhead(text, at + 1, context.isLast) : 'no';
}

/** A number, a boolean or null, up to a comma, the end of the line or the end of the list. */
function scalarAhead(text: string, from: number, isLast: boolean, inObject = false): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  const ends = inObject ? ENDS_FIELD : ENDS_SCALAR;
  let end = from;
  while (end < limit && !ends.has(text.charCodeAt(end))) end += 1;
  if (end === limit && !isLast) return limit === from + LOOK_AHEAD ? 'no' : 'wait';
  return SCALAR.test(text.slice(from, end)) ? 'yes' : 'no';
}

const ENDS_SCALAR: ReadonlySet<number> = new Set([LINE_FEED, 13, COMMA, CLOSE_BRACKET]);
const ENDS_FIELD: ReadonlySet<number> = new Set([...ENDS_SCALAR, CLOSE_BRACE]);
const SCALAR = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|True|False|None) *$/u;

/** A quote that opens a string rather than one that closes it. */
function stringAhead(text: string, from: number, isLast: boolean): Verdict {
  if (from >= text.length) return isLast ? 'no' : 'wait';
  const code = text.charCodeAt(from);
  return isSpace(code) || code === COMMA || code === CLOSE_BRACKET ? 'no' : 'yes';
}

export function hasLineFeed(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) === LINE_FEED) return true;
  return false;
}

// --- before comments -------------------------------------------------------------------------------------------------

/** Does the `#` at `from` begin a comment, which takes the rest of its line? The JSON goes on in the next line. */
function hashEnds(text: string, from: number, context: QuoteContext): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let at = from;
  while (at < limit && text.charCodeAt(at) !== LINE_FEED) at += 1;
  if (at === limit) {
    if (limit === text.length) return context.isLast ? 'no' : 'wait';
    return not(quoteAhead(text, from, context));
  }
  const next = skipSpace(text, at);
  if (next - at > LOOK_AHEAD) return 'no';
  if (next >= text.length) return context.isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(next);
  if (code === HASH || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return 'yes';
  return context.position === 'object' ? keyAhead(text, next, context.isLast) : memberAhead(text, at, next, context);
}

// --- before text that is not JSON ------------------------------------------------------------------------------------

/**
 * Does the string end although JSON does not go on: before an ellipsis, a note, or the text after a value whose closing
 * brackets are missing? Not if a later quote in that text ends it.
 */
function textAhead(text: string, from: number, at: number, context: QuoteContext): Verdict {
  const { isLast, innerQuotes } = context;
  if (innerQuotes % 2 > 0 || !isPlain(context)) return 'no';
  const ellipsis = ellipsisAhead(text, at, isLast);
  if (ellipsis !== 'no') return ellipsis;
  if (text.charCodeAt(at) === DOT) return at === from ? periodEnds(text, at, context) : 'no';
  const comment = htmlCommentAhead(text, at, isLast);
  if (comment !== 'no') return comment;
  const note = at > from ? noteAhead(text, at, isLast) : 'no';
  if (note !== 'no') return note === 'yes' ? hashEnds(text, at, context) : 'wait';
  const isText = hasLineFeed(text, from, at) && closersOf(text.charCodeAt(at)) === '';
  const tag = isText ? 'yes' : closingTagAhead(text, at, isLast);
  return tag === 'yes' ? not(endingQuoteAhead(text, at, context)) : tag;
}

/** Is the dot after a string a full stop in the place of a comma, before a member on the next line? */
function periodEnds(text: string, at: number, context: QuoteContext): Verdict {
  const period = periodAhead(text, at, context.isLast);
  return period === 'yes' ? commaEnds(text, at + 1, { ...context, innerQuotes: 1 }) : period;
}

/**
 * Does a quote follow within the look-ahead that ends the string, before a bracket or another member? The second of two
 * quotes ends another string.
 */
function endingQuoteAhead(text: string, from: number, { closers, isLast }: QuoteContext): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let opens = false;
  for (let at = from; at < limit; at += 1) {
    if (!closers.includes(text.charAt(at))) continue;
    opens = !opens;
    const next = skipSpace(text, at + 1);
    if (next >= limit) break;
    if (opens && precedesJson(text, next, limit)) return 'yes';
  }
  return limit === text.length && !isLast ? 'wait' : 'no';
}

/** True before a closing bracket, and before a comma and another member. */
function precedesJson(text: string, at: number, limit: number): boolean {
  const code = text.charCodeAt(at);
  if (code === CLOSE_BRACE || code === CLOSE_BRACKET) return true;
  const next = skipSpace(text, at + 1);
  return code === COMMA && next < limit && closersOf(text.charCodeAt(next)) !== '';
}

/** Is the string at `at` one that ends before a delimiter or the end of its line? */
export function partAhead(text: string, at: number, context: QuoteContext): Verdict {
  const { isLast } = context;
  const end = quoteIn(text, at + 1, context.closers);
  if (end < 0) return text.length >= at + LOOK_AHEAD || isLast ? 'no' : 'wait';
  if (end === at + 1 || hasLineFeed(text, at, end)) return 'no';
  if (end + 1 >= text.length) return isLast ? 'yes' : 'wait';
  const next = text.charCodeAt(end + 1);
  return next === COMMA || next === CLOSE_BRACE || next === CLOSE_BRACKET || next === LINE_FEED || next === 13
    ? 'yes'
    : 'no';
}
