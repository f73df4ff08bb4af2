import {
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COMMA,
  DOUBLE_QUOTE,
  isSpace,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  PLUS,
  skipSpace,
} from './characters.ts';
import { fenceAhead, keyAhead, LOOK_AHEAD, type Verdict } from './look-ahead.ts';
import {
  hasLineFeed,
  isPlain,
  partAhead,
  type QuoteContext,
  quoteEnds,
  quoteIn,
  type StringPosition,
  wholeItemAhead,
} from './string-end.ts';

/*
 * Where a string ends or goes on, if its quotes do not show it.
 */

// --- unclosed strings ------------------------------------------------------------------------------------------------

/*
 * The ends of strings that lack their closing quotes: at the end of a line, before a comma and the next member, or before
 * the closing brackets of the reply.
 */

/**
 * Does a string end at the line break at `from`, because its closing quote is missing? It does if the line ends in a
 * comma and the next one begins a member, or if only the closing brackets of the reply follow.
 */
export function lineEndsString(text: string, from: number, afterComma: boolean, context: QuoteContext): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return context.isLast ? 'no' : 'wait';
  const code = text.charCodeAt(at);
  if (afterComma && context.closers.includes(text.charAt(at))) {
    return context.position === 'object' ? keyAhead(text, at, context.isLast) : lineOfItem(text, at, context);
  }
  if ((code !== CLOSE_BRACE && code !== CLOSE_BRACKET) || context.brackets > 0) return 'no';
  return lastClosers(text, at, context);
}

/** Is the string at `at` the rest of its line, except for a comma? */
function lineOfItem(text: string, at: number, context: QuoteContext): Verdict {
  const end = quoteIn(text, at + 1, context.closers);
  if (end < 0) return text.length >= at + LOOK_AHEAD || context.isLast ? 'no' : 'wait';
  if (hasLineFeed(text, at, end)) return 'no';
  if (end + 1 >= text.length) return context.isLast ? 'no' : 'wait';
  const next = text.charCodeAt(end + 1);
  return next === COMMA || next === LINE_FEED || next === 13 ? 'yes' : 'no';
}

/** Do brackets and the end of the reply or of a fence follow, or another member of a list around the object? */
function lastClosers(text: string, from: number, { isLast }: QuoteContext): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let at = from;
  for (; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== CLOSE_BRACE && code !== CLOSE_BRACKET && code !== COMMA && !isSpace(code)) break;
  }
  if (at === limit) return limit === text.length && !isLast ? 'wait' : 'yes';
  const code = text.charCodeAt(at);
  if (code === BACKTICK) return fenceAhead(text, at, isLast);
  return code === OPEN_BRACE ? 'yes' : 'no';
}

/**
 * Does the quote at `at` open the next member, because the string before it, which ends in a comma, lacks its closing
 * quote? In a list, that member has to end before another one or the end of the list.
 */
export function opensMember(text: string, at: number, context: QuoteContext): Verdict {
  if (context.position === 'key' || context.innerQuotes > 0) return 'no';
  if (context.position === 'object') return keyAhead(text, at, context.isLast);
  const isOpen = quoteIn(text, at + 1, context.closers) < 0;
  if (isOpen) return text.length > at + LOOK_AHEAD || context.isLast ? 'no' : 'wait';
  return wholeItemAhead(text, at, context);
}

/**
 * Removes the closing brackets at the end of a string that has no end, and before them the only single quote of a string
 * that `quote`, a double one, opened: it was meant to end the string.
 */
export function withoutEnd(text: string, closers: string, quote: number): string {
  const inner = withoutClosers(text, closers);
  const isMixed = inner !== text && quote === DOUBLE_QUOTE && inner.indexOf("'") === inner.length - 1;
  return isMixed ? inner.slice(0, -1) : inner;
}

/**
 * Removes the closing brackets at the end of a string that has no end, if they are those that close the lists and objects
 * around it, and none of them closes a bracket inside the string. `closers`: the innermost first.
 */
function withoutClosers(text: string, closers: string): string {
  const end = text.length - (/[\]}\s]*$/u.exec(text)?.[0].length ?? 0);
  if (closers === '' || text.slice(end).replaceAll(/\s/gu, '') !== closers) return text;
  let depth = 0;
  for (let at = 0; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (depth > 0 && (code === CLOSE_BRACE || code === CLOSE_BRACKET)) depth -= 1;
  }
  return depth > 0 ? text : text.slice(0, end);
}

/**
 * Does an escaped quote before `from` end its string? Only if the text after it is JSON that the string cannot contain: a
 * quote that is not escaped opens the next key or item, or closing brackets end the reply.
 */
export function escapedQuoteEnds(text: string, from: number, position: StringPosition, isLast: boolean): Verdict {
  if (!mayContinue(text, from)) return 'no'; // Most escaped quotes are before other text.
  const head = text.slice(from, from + LOOK_AHEAD);
  if ((position === 'object' ? BEFORE_KEY : BEFORE_ITEM).test(head) || BEFORE_BRACKETS.test(head)) return 'yes';
  if (head.length === LOOK_AHEAD) return 'no';
  if (isLast) return /^\s*[}\]][\s}\]]*$/u.test(head) ? 'yes' : 'no';
  return BEFORE_MORE.test(head) ? 'wait' : 'no';
}

/** True if punctuation of JSON and a quote that is not escaped follow, or as much of it as has arrived. */
function mayContinue(text: string, from: number): boolean {
  let at = skipSpace(text, from);
  let code = text.charCodeAt(at);
  const first = code;
  while (isCloser(code)) {
    at = skipSpace(text, at + 1);
    code = text.charCodeAt(at);
  }
  if (code !== COMMA) return Number.isNaN(code) || (code === BACKTICK && isCloser(first));
  at = skipSpace(text, at + 1);
  if (text.charCodeAt(at) === OPEN_BRACE) at = skipSpace(text, at + 1);
  return at >= text.length || text.charCodeAt(at) === DOUBLE_QUOTE;
}

function isCloser(code: number): boolean {
  return code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

const BEFORE_KEY = /^\s*,\s*"[\w $.-]{1,60}"\s*:/u;
const BEFORE_ITEM = /^\s*,\s*"[^"\\\n]{0,80}"\s*[,\]]/u;
const BEFORE_BRACKETS = /^\s*[}\]][\s}\]]*(?:,\s*(?:"[\w $.-]{1,60}"\s*:|\{\s*")|```)/u;
/** The beginnings of these. */
const BEFORE_MORE =
  /^\s*(?:,\s*(?:"[^"\\\n]{0,80}"?\s*)?|[}\]][\s}\]]*(?:,\s*\{?\s*(?:"[\w $.-]{0,60}"?\s*)?|`{0,2})?)?$/u;

// --- parts of a string -----------------------------------------------------------------------------------------------

/*
 * Text after a quote that does not end its string: another part of the string, or a note about it.
 */

/**
 * The position of the quote that opens the next part of the string whose part ends before `from`: `"a" + "b"`, or `"a"` and `"b"` on
 * two lines: in an object, or in a list if the first part ends in a space. -1 if no part follows, `wait` if the text ends too early.
 */
export function nextPart(text: string, from: number, context: QuoteContext): number | 'wait' {
  if (context.position === 'key' || !isPlain(context)) return -1;
  const end = skipSpace(text, from);
  if (end - from > LOOK_AHEAD) return -1;
  const plus = text.charCodeAt(end) === PLUS;
  const at = plus ? skipSpace(text, end + 1) : end;
  if (at >= text.length) return context.isLast ? -1 : 'wait';
  if (at - end > LOOK_AHEAD || !context.closers.includes(text.charAt(at))) return -1;
  if (plus) return at;
  if ((context.position === 'list' && !context.endsInSpace) || !hasLineFeed(text, from, at)) return -1;
  const verdict = partAhead(text, at, context);
  return verdict === 'wait' ? 'wait' : verdict === 'yes' ? at : -1;
}

/**
 * The position after a note in parentheses that follows a string, as in `"a" (approximate),`; -1 if none follows, `wait`
 * if the text ends too early.
 */
export function noteEnd(text: string, from: number, context: QuoteContext): number | 'wait' {
  if (context.position === 'key' || !isPlain(context)) return -1;
  const start = skipSpace(text, from);
  if (start >= text.length) return context.isLast ? -1 : 'wait';
  if (text.charCodeAt(start) !== OPEN_PAREN || start === from) return -1;
  const limit = Math.min(text.length, start + LOOK_AHEAD);
  let at = start + 1;
  for (; at < limit && text.charCodeAt(at) !== CLOSE_PAREN; at += 1) {
    if (text.charCodeAt(at) === LINE_FEED || context.closers.includes(text.charAt(at))) return -1;
  }
  if (at === limit) return limit === text.length && !context.isLast ? 'wait' : -1;
  const verdict = quoteEnds(text, at + 1, context);
  return verdict === 'wait' ? 'wait' : verdict === 'yes' ? at + 1 : -1;
}
