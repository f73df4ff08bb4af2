import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  COLON,
  COMMA,
  DOT,
  EQUALS,
  HASH,
  isDigit,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  skipSpace,
  SLASH,
} from './scan/characters.ts';

import { LOOK_AHEAD, type Verdict } from '../candidates/scan/ahead.ts';
export { keyAhead, LOOK_AHEAD, type Verdict } from '../candidates/scan/ahead.ts';

/** Does a key of one or more words without quotes start at `from` and end in a colon on the same line? */
function phraseKeyAhead(text: string, from: number, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COLON || code === EQUALS) return at > from ? 'yes' : 'no';
    if (!isKeyCharacter(code)) return 'no';
  }
  return limit === text.length && !isLast ? 'wait' : 'no';
}

function isKeyCharacter(code: number): boolean {
  if (isWordCharacter(code) || code === MINUS || code === DOT || code === SLASH) return true;
  return code !== LINE_FEED && isSpace(code);
}

// --- containers in prose ---------------------------------------------------------------------------------------------

/**
 * Does the `{` before `from`, in the middle of prose, open an object? Only if a key or the closing brace follows:
 * `{name}` and `{ return x }` are prose.
 */
export function objectAhead(text: string, from: number, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(at);
  if (code === CLOSE_BRACE || code === SLASH) return 'yes';
  if (closersOf(code) !== '') return 'yes';
  return code === OPEN_BRACE ? doubleBraceAhead(text, at + 1, isLast) : phraseKeyAhead(text, at, isLast);
}

/** `{{` opens an object if a quoted key follows; otherwise it is the placeholder of some template. */
function doubleBraceAhead(text: string, from: number, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'no' : 'wait';
  return closersOf(text.charCodeAt(at)) === '' ? 'no' : 'yes';
}

/** The place of a bracket outside of values: first on its line, or after a colon or an equals sign, or elsewhere. */
export type BracketPlace = 'line-start' | 'after-label' | 'prose';

/**
 * Does the `[` before `from`, in the middle of prose, open a list? Prose is full of brackets: `[id]`, `[x]`,
 * `[link](url)`, regular expressions.
 */
export function listAhead(text: string, from: number, isLast: boolean, place: BracketPlace): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'no' : 'wait';
  const code = text.charCodeAt(at);
  if (code === CLOSE_BRACKET) return at === from ? 'yes' : 'no';
  if (code === OPEN_BRACE || code === OPEN_BRACKET || closersOf(code) !== '') return 'yes';
  if (isDigit(code) || code === MINUS) return numbersAhead(text, at, isLast);
  if (place === 'line-start') return isWordCharacter(code) || code === SLASH ? 'yes' : 'no';
  const verdict = beginsWord(text.charAt(at)) ? numbersAhead(text, at, isLast) : 'no';
  return verdict === 'no' && place === 'after-label' ? wordsAhead(text, at, isLast) : verdict;
}

/** Determines whether words follow that are not the text of a link, up to the closing bracket, a comma at the end of the line, or the limit. */
function wordsAhead(text: string, from: number, isLast: boolean): Verdict {
  if (!isWordCharacter(text.charCodeAt(from))) return 'no';
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  let last = 0;
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED) return last === COMMA ? 'yes' : 'no';
    if (code === CLOSE_BRACKET) return linkAhead(text, at + 1, isLast);
    if (!isSpace(code)) last = code;
  }
  return limit === text.length && !isLast ? 'wait' : 'yes';
}

/** Returns `no` for the address of a link or the definition of a reference: `[text](url)`, `[text][id]`, `[id]: url`. */
function linkAhead(text: string, from: number, isLast: boolean): Verdict {
  if (from >= text.length) return isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(from);
  return code === OPEN_PAREN || code === OPEN_BRACKET || code === COLON ? 'no' : 'yes';
}

/**
 * Do only numbers and words of JSON follow, up to the closing bracket, to a string, an object, a list or a comment, or to
 * the end of the look-ahead? `[12, p. 3]` and `[1 of 2]` are prose.
 */
function numbersAhead(text: string, from: number, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CLOSE_BRACKET || code === OPEN_BRACKET || code === OPEN_BRACE || closersOf(code) !== '') return 'yes';
    if (code === SLASH && at > from && text.charCodeAt(at + 1) === SLASH) return 'yes';
    if (isNumberCharacter(code) || isSpace(code)) continue;
    if (code === HASH) return isSpace(text.charCodeAt(at - 1)) ? 'yes' : 'no';
    const word = JSON_WORDS.find((each) => text.startsWith(each, at));
    if (word === undefined) return isLast || limit - at >= LONGEST_WORD || !beginsWord(text.slice(at)) ? 'no' : 'wait';
    at += word.length - 1;
  }
  return limit === text.length && !isLast ? 'wait' : 'yes';
}

/** A digit, a sign, a point, a comma, a slash, or the letter of an exponent. */
function isNumberCharacter(code: number): boolean {
  return isDigit(code) || (code >= 43 && code <= 47) || (code | 32) === 101;
}

const JSON_WORDS: readonly string[] = ['null', 'true', 'false'];
const LONGEST_WORD = 5;

/** True for the beginning of `null`, `true` or `false`. */
function beginsWord(text: string): boolean {
  return JSON_WORDS.some((word) => word.startsWith(text));
}
