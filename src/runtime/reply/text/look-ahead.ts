import {
  closersOf,
  COLON,
  DOUBLE_QUOTE,
  EQUALS,
  isDigit,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  MINUS,
  SINGLE_QUOTE,
  skipSpace,
} from './characters.ts';

/** What looking ahead can say: `wait` when the text ends before the answer is known. */
export type Verdict = 'yes' | 'no' | 'wait';

/**
 * How far ahead the reader looks. It bounds the work that is repeated when text arrives in small pieces; longer keys
 * without a comma before them are rarer than texts that merely look like one. No verdict may depend on how much beyond
 * it has arrived: a reply means the same wherever it is cut.
 */
export const LOOK_AHEAD = 120;

/** Does a key with its colon start here (after spaces)? */
export function keyAhead(text: string, from: number, isLast: boolean): Verdict {
  const start = skipSpace(text, from);
  if (start - from > LOOK_AHEAD) return 'no';
  if (start >= text.length) return isLast ? 'no' : 'wait';
  const opener = text.charCodeAt(start);
  if (opener === DOUBLE_QUOTE || opener === SINGLE_QUOTE || opener > 127) {
    const closers = closersOf(opener);
    if (closers !== '') return quotedKeyAhead(text, start + 1, closers, isLast);
  }
  return isWordCharacter(opener) ? wordKeyAhead(text, start, isLast) : 'no';
}

function quotedKeyAhead(text: string, from: number, closers: string, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED) return 'no';
    if (closers.includes(text.charAt(at))) return at > from ? colonAhead(text, at + 1, isLast) : 'no';
  }
  return limit === text.length && !isLast ? 'wait' : 'no';
}

function wordKeyAhead(text: string, from: number, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let at = from;
  while (at < limit && (isWordCharacter(text.charCodeAt(at)) || text.charCodeAt(at) === MINUS)) at += 1;
  if (at < limit) return colonAhead(text, at, isLast);
  return limit === text.length && !isLast ? 'wait' : 'no';
}

/** A colon, but not one of `::` or `://`. */
function colonAhead(text: string, from: number, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'no' : 'wait';
  if (text.charCodeAt(at) !== COLON) return 'no';
  if (at + 2 >= text.length && !isLast) return 'wait';
  if (text.charCodeAt(at + 1) === COLON || text.startsWith('//', at + 1)) return 'no';
  return 'yes';
}

/**
 * Does the `{` before `from` open an object, when it stands in the middle of prose? Only when a key follows, or its end:
 * `{name}` and `{ return x }` are prose.
 */
export function objectAhead(text: string, from: number, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(at);
  if (code === 125) return 'yes';
  if (code === 47) return 'yes';
  if (closersOf(code) !== '') return 'yes';
  if (code === 123) return objectAhead2(text, at + 1, isLast);
  return phraseKeyAhead(text, at, isLast);
}

/** `{{` opens an object when a quoted key follows; otherwise it is a placeholder of some template. */
function objectAhead2(text: string, from: number, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'no' : 'wait';
  return closersOf(text.charCodeAt(at)) === '' ? 'no' : 'yes';
}

/** Does a key of one or more words, without quotes, start here and end in a colon on this line? */
export function phraseKeyAhead(text: string, from: number, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COLON || code === EQUALS) return at > from ? 'yes' : 'no';
    if (!isKeyCharacter(code)) return 'no';
  }
  return limit === text.length && !isLast ? 'wait' : 'no';
}

function isKeyCharacter(code: number): boolean {
  return isWordCharacter(code) || code === MINUS || code === 46 || code === 47 || (code !== LINE_FEED && isSpace(code));
}

/**
 * Does the `[` before `from` open a list, when it stands in the middle of prose? Brackets are common there:
 * `[id]`, `[x]`, `[link](url)`, regular expressions.
 */
export function listAhead(text: string, from: number, isLast: boolean, lineStart: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'no' : 'wait';
  const code = text.charCodeAt(at);
  if (code === 93) return at === from ? 'yes' : 'no';
  if (code === 123 || code === 91 || closersOf(code) !== '') return 'yes';
  if (isDigit(code) || code === MINUS) return numbersAhead(text, at, isLast);
  return lineStart && (isWordCharacter(code) || code === 47) ? 'yes' : 'no';
}

/**
 * Only numbers and words of JSON up to the closing bracket, to a text, an object or a list, or to the end of what is looked
 * at: `[12, p. 3]` and `[1 of 2]` are prose.
 */
function numbersAhead(text: string, from: number, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 93 || code === 91 || code === 123 || closersOf(code) !== '') return 'yes';
    if (isDigit(code) || isSpace(code) || (code >= 43 && code <= 47) || (code | 32) === 101) continue;
    const word = JSON_WORDS.find((each) => text.startsWith(each, at));
    if (word === undefined) return isLast || limit - at >= LONGEST_WORD || !beginsWord(text.slice(at)) ? 'no' : 'wait';
    at += word.length - 1;
  }
  return limit === text.length && !isLast ? 'wait' : 'yes';
}

const JSON_WORDS: readonly string[] = ['null', 'true', 'false'];
const LONGEST_WORD = 5;

function beginsWord(text: string): boolean {
  return JSON_WORDS.some((word) => word.startsWith(text));
}

/** Are the backticks at `at` the three that end a fence? */
export function fenceAhead(text: string, at: number, isLast: boolean): Verdict {
  if (text.length - at < 3 && !isLast) return 'wait';
  return text.startsWith('```', at) ? 'yes' : 'no';
}
