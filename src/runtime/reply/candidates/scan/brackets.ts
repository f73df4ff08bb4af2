import { Ahead, type Verdict } from './ahead.ts';
import {
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  COMMA,
  isDigit,
  isSpace,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
} from './characters.ts';
import type { Cursor } from './cursor.ts';

/*
 * Closing brackets that do not match the innermost list or object, or that are followed by more of a value that they
 * close: brackets are missing, of the wrong kind, or there are too many.
 */

/**
 * `all`: the bracket closes the nearest list or object of its kind, and all that are open inside it. `innermost`: it closes
 * the innermost one, whatever its kind. `none`: it closes nothing.
 */
export type Closing = 'all' | 'innermost' | 'none' | 'wait';

/**
 * Determines the meaning of a closing bracket at the cursor that does not match the innermost list or object, by the
 * brackets and the member that follow. `closers`: the brackets that close the open lists and objects, innermost first.
 */
export function closingOf({ text, at, isLast }: Readonly<Cursor>, closers: string): Closing {
  const ahead = new Ahead(text, at + 1, isLast);
  const next = nextOf(ahead, at + 1);
  if (ahead.isShort) return 'wait';
  const matching = closers.indexOf(text.charAt(at));
  const readings: readonly (readonly [Closing, string])[] = [
    ['all', matching < 0 ? '' : closers.slice(matching + 1)],
    ['innermost', closers.slice(1)],
    ['none', closers],
  ];
  let best: Closing = 'none';
  let least = Infinity;
  for (const [closing, open] of readings) {
    const faults = (closing === 'all' && matching < 0 ? 1 : 0) + faultsOf(open, next);
    if (faults >= least) continue;
    best = closing;
    least = faults;
  }
  return best;
}

/** Does another member of a value follow at the cursor, after the closing bracket of the whole value? */
export function continues({ text, at, isLast }: Readonly<Cursor>, isObject: boolean): Verdict {
  const ahead = new Ahead(text, at, isLast);
  const { brackets, member } = nextOf(ahead, at);
  return ahead.answer(isObject ? member === '}' : member === ']' && brackets !== '');
}

/** The text after a closing bracket: more of them, and the closing bracket of the list or object that can have the next member. */
interface Next {
  readonly brackets: string;
  /** `end`: the text ends. `unknown`: anything, or the end of the look-ahead. */
  readonly member: '}' | ']' | 'end' | 'unknown';
}

/** Counts the contradictions between the lists and objects that are open and the text ahead. */
function faultsOf(open: string, { brackets, member }: Next): number {
  let rest = open;
  let faults = 0;
  for (const bracket of brackets) {
    const at = rest.indexOf(bracket);
    faults += at < 0 ? 1 : at;
    if (at >= 0) rest = rest.slice(at + 1);
  }
  if (member === 'end') return faults + rest.length;
  return member === 'unknown' || rest.charAt(0) === member ? faults : faults + 1;
}

function nextOf(ahead: Ahead, from: number): Next {
  let brackets = '';
  let at = from;
  let code = ahead.code(at);
  for (; code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code); code = ahead.code(at)) {
    if (!isSpace(code)) brackets += code === CLOSE_BRACE ? '}' : ']';
    at += 1;
  }
  if (code === -1) return { brackets, member: 'end' };
  if (code !== COMMA) return { brackets, member: 'unknown' };
  if (ahead.key(at + 1) !== undefined) return { brackets, member: '}' };
  return { brackets, member: beginsItem(ahead.code(ahead.skipSpace(at + 1))) ? ']' : 'unknown' };
}

function beginsItem(code: number): boolean {
  if (code === BACKTICK) return false;
  return code === OPEN_BRACE || code === OPEN_BRACKET || closersOf(code) !== '' || isDigit(code) || code === MINUS;
}
