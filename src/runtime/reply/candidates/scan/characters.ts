/** UTF-16 codes of the characters that have a meaning for the readers. */
const TAB = 9;
export const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
export const SPACE = 32;
export const DOUBLE_QUOTE = 34;
export const HASH = 35;
export const SINGLE_QUOTE = 39;
export const OPEN_PAREN = 40;
export const CLOSE_PAREN = 41;
export const ASTERISK = 42;
export const PLUS = 43;
export const COMMA = 44;
export const MINUS = 45;
export const DOT = 46;
export const SLASH = 47;
export const COLON = 58;
export const SEMICOLON = 59;
export const LESS_THAN = 60;
export const EQUALS = 61;
export const GREATER_THAN = 62;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
const UNDERSCORE = 95;
export const BACKTICK = 96;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;
export const RIGHT_QUOTE = 0x201d;

const NO_BREAK_SPACE = 0xa0;
const BYTE_ORDER_MARK = 0xfeff;

/** Narrow and wide spaces, a word joiner, and a separator of Mongolian. */
const INVISIBLE: ReadonlySet<number> = new Set([0x3000, 0x202f, 0x205f, 0x2060, 0x180e]);

/** True for a space, a tab, a line end, and the invisible characters that models and editors put between tokens. */
export function isSpace(code: number): boolean {
  if (code <= SPACE) return code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN);
  return (
    code === NO_BREAK_SPACE || code === BYTE_ORDER_MARK || INVISIBLE.has(code) || (code >= 0x2000 && code <= 0x200b)
  );
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** True for a letter, a digit, `_`, `$` and anything beyond ASCII: the characters of a key without quotes. */
export function isWordCharacter(code: number): boolean {
  if (code >= 128) return !isSpace(code);
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || isDigit(code) || code === UNDERSCORE || code === 36
  );
}

/**
 * Returns the code of the character at `at`, or -1 after the end of the text. Readers of deltas ask for characters that have
 * not arrived, and V8 compiles a `charCodeAt` that has gone past the end into a slow call.
 */
export function codeAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : -1;
}

/** Returns the position of the first character at or after `from` that is not a space, or the length of the text. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // Nearly all characters are decided without the call.
    if (code !== SPACE && code !== LINE_FEED && ((code > SPACE && code < 128) || !isSpace(code))) break;
  }
  return at;
}

/** Skips the spaces at `from`, but not line breaks. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== LINE_FEED && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** Returns the quotation marks that can close a string opened by `opener`; empty if `opener` opens no string. */
export function closersOf(opener: number): string {
  if (opener > BACKTICK && opener < 0xab) return '';
  switch (opener) {
    case DOUBLE_QUOTE:
      return '"';
    case SINGLE_QUOTE:
      return "'";
    case BACKTICK:
      return '`´';
    case 0x201c: // “
    case 0x201e: // „
    case 0x201f: // ‟
      return '”“"';
    case 0x201d: // ”
      return '”"';
    case 0x2018: // ‘
    case 0x201a: // ‚
      return "’‘'";
    case 0xab: // «
      return '»';
    case 0xbb: // »
      return '«';
    case 0x2039: // ‹
      return '›';
    case 0x300c: // 「
      return '」';
    case 0x300e: // 『
      return '』';
    case 0xff02: // ＂
      return '＂"';
    default:
      return '';
  }
}
