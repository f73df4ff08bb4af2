import { LINE_FEED } from './characters.ts';

export interface Escape {
  readonly text: string;
  /** Length of the escape in the source, the backslash included. */
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

/**
 * What the escape at the backslash `at` stands for; undefined while its end has not arrived. An unknown escape is
 * kept as written: models put regular expressions and LaTeX into strings.
 */
export function decodeEscape(text: string, at: number, isLast: boolean): Escape | undefined {
  if (at + 1 >= text.length) return isLast ? { text: '', length: 1, known: false } : undefined;
  const letter = text.charAt(at + 1);
  if (letter === 'u') return decodeUnicode(text, at, isLast);
  const simple = SIMPLE[letter];
  if (simple !== undefined) return { text: simple, length: 2, known: true };
  if (letter.charCodeAt(0) === LINE_FEED) return { text: '\n', length: 2, known: false };
  return { text: `\\${letter}`, length: 2, known: false };
}

function decodeUnicode(text: string, at: number, isLast: boolean): Escape | undefined {
  let code = 0;
  for (let index = at + 2; index < at + 6; index += 1) {
    if (index >= text.length && !isLast) return undefined;
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) return { text: '\\u', length: 2, known: false };
    code = code * 16 + digit;
  }
  return { text: String.fromCharCode(code), length: 6, known: true };
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
