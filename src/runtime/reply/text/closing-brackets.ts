import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DOUBLE_QUOTE,
  isDigit,
  isSpace,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  SINGLE_QUOTE,
} from './characters.ts';
import type { Cursor } from './cursor.ts';
import type { Sink } from './sink.ts';
import { keyAhead, LOOK_AHEAD } from './look-ahead.ts';

/*
 * A closing bracket that does not match the innermost list or object: the brackets of that one are missing, the bracket is
 * of the wrong kind, or there is one bracket too many.
 */

/**
 * Closes the lists and objects that the closing bracket at the cursor closes, although it does not match the innermost one.
 * Returns false if it closes nothing, and `wait` if only further text shows this.
 */
export function closeOther<T>(sink: Sink<T>, cursor: Readonly<Cursor>, bracket: number): boolean | 'wait' {
  const closing = closingOf(cursor, sink.closers, bracket === CLOSE_BRACE ? '}' : ']');
  if (closing === 'all') return sink.close(bracket);
  if (closing === 'innermost') sink.closeInnermost();
  return closing === 'wait' ? closing : closing === 'innermost';
}

/**
 * `all`: the bracket closes the nearest list or object of its kind, and all that are open inside it. `innermost`: it closes
 * the innermost one, whatever its kind. `none`: it closes nothing.
 */
type Closing = 'all' | 'innermost' | 'none';

/** The most lists and objects, from the innermost one, that are compared with the text ahead. */
export const MAX_COMPARED = 16;

/**
 * Determines the meaning of such a bracket, which is at the cursor, by the brackets and the member that follow within the
 * look-ahead. `closers`: the brackets that close the open lists and objects, the innermost first, at most MAX_COMPARED.
 */
function closingOf({ text, at, isLast }: Readonly<Cursor>, closers: string, bracket: string): Closing | 'wait' {
  const ahead = readAhead(text, at + 1, isLast);
  if (ahead === undefined) return 'wait';
  const matching = closers.indexOf(bracket);
  const readings: readonly (readonly [Closing, string])[] = [
    ['all', matching < 0 ? '' : closers.slice(matching + 1)],
    ['innermost', closers.slice(1)],
    ['none', closers],
  ];
  let best: Closing = 'none';
  let least = Infinity;
  for (const [closing, open] of readings) {
    const faults = (closing === 'all' && matching < 0 ? 1 : 0) + faultsOf(open, ahead);
    if (faults >= least) continue;
    best = closing;
    least = faults;
  }
  return best;
}

/** The text ahead: closing brackets, and the closing bracket of the list or object that can have the next member. */
interface Ahead {
  readonly brackets: string;
  /** `end`: the text ends. `unknown`: anything, or the end of the look-ahead. */
  readonly next: '}' | ']' | 'end' | 'unknown';
}

/** Counts the contradictions between the lists and objects that are open and the text ahead. */
function faultsOf(open: string, { brackets, next }: Ahead): number {
  let rest = open;
  let faults = 0;
  for (const bracket of brackets) {
    const at = rest.indexOf(bracket);
    faults += at < 0 ? 1 : at;
    if (at >= 0) rest = rest.slice(at + 1);
  }
  if (next === 'end') return faults + rest.length;
  return next === 'unknown' || rest.charAt(0) === next ? faults : faults + 1;
}

/** Reads the closing brackets and the beginning of the next member. Returns undefined if the text ends too early. */
function readAhead(text: string, from: number, isLast: boolean): Ahead | undefined {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let brackets = '';
  let at = from;
  for (; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) brackets += text.charAt(at);
    else if (!isSpace(code)) break;
  }
  if (at === limit) {
    if (limit < text.length || at - from >= LOOK_AHEAD) return { brackets, next: 'unknown' };
    return isLast ? { brackets, next: 'end' } : undefined;
  }
  return text.charCodeAt(at) === COMMA ? memberAhead(text, at + 1, brackets, isLast) : { brackets, next: 'unknown' };
}

function memberAhead(text: string, from: number, brackets: string, isLast: boolean): Ahead | undefined {
  const key = keyAhead(text, from, isLast);
  if (key === 'wait') return undefined;
  if (key === 'yes') return { brackets, next: '}' };
  return { brackets, next: beginsItem(text, from) ? ']' : 'unknown' };
}

/** True if a list, an object, a string or a number begins after the spaces at `from`. */
function beginsItem(text: string, from: number): boolean {
  let at = from;
  while (at < from + LOOK_AHEAD && isSpace(text.charCodeAt(at))) at += 1;
  const code = text.charCodeAt(at);
  const opens = code === OPEN_BRACE || code === OPEN_BRACKET || code === DOUBLE_QUOTE || code === SINGLE_QUOTE;
  return opens || isDigit(code) || code === MINUS;
}
