import { CLOSE_PAREN, LINE_FEED, OPEN_PAREN, PLUS, skipSpace } from './characters.ts';
import { LOOK_AHEAD } from './look-ahead.ts';
import { hasLineFeed, isPlain, partAhead, quoteEnds, type QuoteContext } from './string-end.ts';

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
