import { BACKSLASH, DOUBLE_QUOTE, isDigit } from './characters.ts';

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
 * regular expressions, LaTeX and paths into strings.
 */
export function decodeEscape(text: string, at: number, isLast: boolean): Escape | undefined {
  if (at + 1 >= text.length) return isLast ? { text: '', length: 1, known: false } : undefined;
  const letter = text.charAt(at + 1);
  const simple = SIMPLE[letter];
  if (simple !== undefined) return { text: simple, length: 2, known: true };
  if (letter === '\n' || MARKDOWN.includes(letter)) return { text: letter, length: 2, known: false };
  if (letter === 'u' || letter === 'x' || letter === 'U') return decodeCode(text, at, letter, isLast);
  return kept(letter);
}

function kept(letter: string): Escape {
  return { text: `\\${letter}`, length: 2, known: false };
}

// --- codes of characters ---------------------------------------------------------------------------------------------

/** Decodes `\u00e9`, `\u{e9}`, `\xe9` or `\U000000e9`. */
function decodeCode(text: string, at: number, letter: string, isLast: boolean): Escape | undefined {
  const isBraced = letter === 'u' && text.charAt(at + 2) === '{';
  const digits = isBraced ? 6 : letter === 'u' ? 4 : letter === 'x' ? 2 : 8;
  const from = isBraced ? at + 3 : at + 2;
  let code = 0;
  let index = from;
  for (; index < from + digits; index += 1) {
    if (index >= text.length && !isLast) return undefined;
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) break;
    code = code * 16 + digit;
  }
  const isWhole = isBraced ? index > from && text.charAt(index) === '}' : index === from + digits;
  if (isBraced && index >= text.length && !isLast) return undefined;
  if (!isWhole || code > 0x10ffff) return kept(letter);
  const length = index - at + (isBraced ? 1 : 0);
  const isJson = letter === 'u' && !isBraced;
  return { text: String.fromCodePoint(code), length, known: isJson };
}

function hexDigit(code: number): number {
  if (isDigit(code)) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
