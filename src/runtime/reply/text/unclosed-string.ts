import {
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  isSpace,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipSpace,
} from './characters.ts';
import { fenceAhead, keyAhead, LOOK_AHEAD, type Verdict } from './look-ahead.ts';
import { hasLineFeed, quoteIn, wholeItemAhead, type QuoteContext } from './string-end.ts';

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
 * Removes the closing brackets at the end of a string that has no end, if they are those that close the lists and objects
 * around it, and none of them closes a bracket inside the string. `closers`: the innermost first.
 */
export function withoutClosers(text: string, closers: string): string {
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
