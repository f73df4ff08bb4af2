import { BACKSLASH, DOUBLE_QUOTE, isDigit, isSpace, LINE_FEED } from './characters.ts';
import type { Verdict } from './look-ahead.ts';

/*
 * The escapes in strings. Models also write backslashes that are not JSON escapes: those of other languages, those of
 * Markdown before punctuation, and unescaped ones in regular expressions, LaTeX and paths.
 */

/**
 * The escapes in a string: `canonical` are those that JSON.stringify writes in the same way, `foreign` are those that
 * JSON does not have.
 */
export type Escapes = 'none' | 'canonical' | 'other' | 'foreign';

export interface Escape {
  readonly text: string;
  /** The length of the escape in the source, including the backslash. */
  readonly length: number;
  readonly known: boolean;
  /** The string does not escape its backslashes: it is a path, a regular expression or LaTeX. */
  readonly raw: boolean;
}

/** The backslashes of a string that are not escapes: none so far, those that can be commands of LaTeX, or all. */
export type RawBackslashes = 'none' | 'commands' | 'all';

/** The string around an escape, as far as it decides the meaning of the escape. */
export interface EscapeContext {
  /** An earlier backslash in the string was raw: after a drive letter, all others are. */
  readonly raw: RawBackslashes;
  /** The string is a key. */
  readonly isKey: boolean;
  /** The code of the character before the backslash; 0 at the start of the string. */
  readonly before: number;
  readonly isLast: boolean;
}

const SIMPLE: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '`': '`',
  '/': '/',
  '\\': '\\',
};

/** True for the characters after a backslash that JSON.stringify writes in the same way: n t r b f " \\ */
export function isCanonicalEscape(code: number): boolean {
  switch (code) {
    case 110:
    case 116:
    case 114:
    case 98:
    case 102:
    case DOUBLE_QUOTE:
    case BACKSLASH:
      return true;
    default:
      return false;
  }
}

/** True for the rest of any other escape of JSON: `/`, or `u` and four digits. */
export function isJsonEscape(text: string, at: number): boolean {
  const letter = text.charAt(at);
  if (letter !== 'u') return letter === '/';
  for (let index = at + 1; index < at + 5; index += 1) if (hexDigit(text.charCodeAt(index)) < 0) return false;
  return true;
}

/** Punctuation that Markdown escapes, and that no other language escapes more often. */
const MARKDOWN = '_*#~>-+|!=&<@:;';

/**
 * Decodes the escape at the backslash `at`; undefined if its end has not arrived. Before punctuation that Markdown
 * escapes, the backslash is dropped; before other characters that JSON does not allow, it stays, because models put
 * regular expressions, LaTeX and paths into strings. From the first such backslash on, all others in the string stay as well.
 */
export function decodeEscape(text: string, at: number, context: EscapeContext): Escape | undefined {
  if (at + 1 >= text.length) return context.isLast ? { text: '', length: 1, known: false, raw: false } : undefined;
  const letter = text.charAt(at + 1);
  const simple = SIMPLE[letter];
  if (simple !== undefined) {
    const isRaw = context.raw !== 'none' && isControl(letter) ? rawControl(text, at, context) : 'no';
    if (isRaw === 'wait') return undefined;
    return isRaw === 'yes' ? kept(letter) : { text: simple, length: 2, known: true, raw: false };
  }
  if (letter.charCodeAt(0) === LINE_FEED) return { text: '', length: 2, known: false, raw: false };
  if (letter === 'u' || letter === 'x' || letter === 'U') return decodeCode(text, at, letter, context);
  if (context.raw !== 'none') return kept(letter);
  const isDropped = context.isKey || dropsBackslash(text, at, context);
  if (isDropped === undefined) return undefined;
  return isDropped ? { text: letter, length: 2, known: false, raw: false } : kept(letter);
}

function kept(letter: string): Escape {
  return { text: `\\${letter}`, length: 2, known: false, raw: true };
}

/** Does Markdown, rather than another language, escape the punctuation at `at + 1`? Undefined if the text ends too early. */
function dropsBackslash(text: string, at: number, { before, isLast }: EscapeContext): boolean | undefined {
  const letter = text.charAt(at + 1);
  if (MARKDOWN.includes(letter)) return true;
  if (letter === '%') return isDigit(before);
  if (letter === '.') return isDigit(before) && followedBy(text, at + 2, isLast, isSpace);
  if (letter === '$') return followedBy(text, at + 2, isLast, isDigit);
  if (letter === '[') return not(followedBy(text, at + 2, isLast, isMath));
  return letter === ']' && !isSpace(before);
}

function not(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

function followedBy(
  text: string,
  at: number,
  isLast: boolean,
  accepts: (code: number) => boolean,
): boolean | undefined {
  if (at >= text.length && !isLast) return undefined;
  return accepts(text.charCodeAt(at));
}

/** A space or a backslash: the beginning of a formula after `\[`. */
function isMath(code: number): boolean {
  return isSpace(code) || code === 92;
}

/** True for the letters of escapes that are also the first letters of commands, classes and folders. */
function isControl(letter: string): boolean {
  return letter === 'b' || letter === 'f' || letter === 'n' || letter === 'r' || letter === 't';
}

/** The commands of LaTeX that begin with the letter of a line break or a tab; those with `b` and `f` need no list. */
const COMMANDS =
  /^(?:n(?:u|e|eq|abla|ot|otin|i|mid|ewline|eg)|t(?:imes|heta|ext\w*|au|an|anh|o|op|frac|ilde|riangle\w*|herefore)|r(?:ho|ight\w*|angle|ceil|floor|m))$/u;

const LONGEST_COMMAND = 16;

/** In a string with raw backslashes: is the one at `at` raw too? `\b` and `\f` are, and so are the commands of LaTeX. */
function rawControl(text: string, at: number, { raw, isLast }: EscapeContext): Verdict {
  const letter = text.charAt(at + 1);
  if (raw === 'all' || letter === 'b' || letter === 'f') return 'yes';
  const limit = Math.min(text.length, at + 1 + LONGEST_COMMAND);
  let end = at + 1;
  while (end < limit && isLetter(text.charCodeAt(end))) end += 1;
  if (end === text.length && end < at + 1 + LONGEST_COMMAND && !isLast) return 'wait';
  return COMMANDS.test(text.slice(at + 1, end)) ? 'yes' : 'no';
}

function isLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 122;
}

// --- codes of characters ---------------------------------------------------------------------------------------------

/** Decodes `\u00e9`, `\u{e9}`, `\xe9` or `\U000000e9`. */
function decodeCode(text: string, at: number, letter: string, context: EscapeContext): Escape | undefined {
  const isBraced = letter === 'u' && text.charAt(at + 2) === '{';
  const digits = isBraced ? 6 : letter === 'u' ? 4 : letter === 'x' ? 2 : 8;
  const from = isBraced ? at + 3 : at + 2;
  let code = 0;
  let index = from;
  for (; index < from + digits; index += 1) {
    if (index >= text.length && !context.isLast) return undefined;
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) break;
    code = code * 16 + digit;
  }
  const isWhole = isBraced ? index > from && text.charAt(index) === '}' : index === from + digits;
  if (isBraced && index >= text.length && !context.isLast) return undefined;
  if (!isWhole || code > 0x10ffff) return kept(letter);
  const length = index - at + (isBraced ? 1 : 0);
  const isJson = letter === 'u' && !isBraced;
  return { text: String.fromCodePoint(code), length, known: isJson, raw: false };
}

function hexDigit(code: number): number {
  if (isDigit(code)) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
