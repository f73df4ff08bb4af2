import { type Ahead, END, FAR } from './cursor.ts';
import {
  ASTERISK,
  BACKSLASH,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  closersOf,
  COLON,
  COMMA,
  EQUALS,
  GREATER_THAN,
  HASH,
  isSpace,
  isWordCharacter,
  LINE_FEED,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  PLUS,
  SEMICOLON,
  SLASH,
} from './characters.ts';

/*
 * Models forget to escape the quotes inside their strings, and forget closing quotes and commas. So a quote ends its string
 * only if the text after it continues the JSON around the string. This is the table of what can follow a quote.
 */

/** The text after a quote, up to where it is clear. */
export type Following =
  | 'the end'
  | 'a colon'
  | 'brackets'
  | 'brackets of the string'
  | 'a comma and a key'
  | 'a comma and a value'
  | 'a comma and no member'
  | 'a comma and text'
  | 'a key'
  | 'a string'
  | 'a string on the next line'
  | 'plus and a string'
  | 'a number or word of JSON'
  | 'a list or object'
  | 'a comment'
  | 'a fence'
  | 'a note in parentheses'
  | 'words'
  | 'an item without its quote'
  | 'words and a quote';

/**
 * `ends`: the quote ends the string, and what is missing after it is repaired. `inside`: the quote belongs to the string.
 * `joins`: the quote ends a part of the string, and the next one begins the next part. `takes`: the quote is dropped, and
 * the string ends after the words that follow.
 */
export type Meaning = 'ends' | 'inside' | 'joins' | 'takes';

/**
 * The meaning of a quote by what follows it: in the value of a key and in an item of a list, each first for a plain
 * string and then for a string with quotes or open brackets inside; and in a key.
 */
export const AFTER_QUOTE: Readonly<Record<Following, readonly [Meaning, Meaning, Meaning, Meaning, Meaning]>> = {
  //                            value     (quotes)  item      (quotes)  key
  'the end':                   ['ends',   'ends',   'ends',   'ends',   'ends'],
  'a colon':                   ['inside', 'inside', 'ends',   'inside', 'ends'],
  'brackets':                  ['ends',   'ends',   'ends',   'ends',   'ends'],
  'brackets of the string':    ['inside', 'inside', 'inside', 'inside', 'inside'],
  'a comma and a key':         ['ends',   'ends',   'ends',   'ends',   'ends'],
  'a comma and a value':       ['ends',   'inside', 'ends',   'ends',   'ends'],
  'a comma and no member':     ['ends',   'ends',   'ends',   'ends',   'ends'],
  'a comma and text':          ['inside', 'inside', 'inside', 'inside', 'inside'],
  'a key':                     ['ends',   'ends',   'ends',   'ends',   'inside'],
  'a string':                  ['inside', 'inside', 'ends',   'inside', 'ends'],
  'a string on the next line': ['joins',  'joins',  'ends',   'ends',   'ends'],
  'plus and a string':         ['joins',  'joins',  'joins',  'joins',  'inside'],
  'a number or word of JSON':  ['takes',  'inside', 'ends',   'inside', 'ends'],
  'a list or object':          ['inside', 'inside', 'ends',   'inside', 'ends'],
  'a comment':                 ['ends',   'inside', 'ends',   'inside', 'inside'],
  'a fence':                   ['ends',   'ends',   'ends',   'ends',   'ends'],
  'a note in parentheses':     ['ends',   'inside', 'ends',   'inside', 'inside'],
  'words':                     ['takes',  'inside', 'ends',   'ends',   'inside'],
  'an item without its quote': ['inside', 'inside', 'ends',   'inside', 'inside'],
  'words and a quote':         ['inside', 'inside', 'inside', 'inside', 'inside'],
}; // prettier-ignore

/** The place of a string: the value of a key, an item of a list, or a key. */
export type Place = 'value' | 'item' | 'key';

/** A string that is open before a quote that can end it. */
export interface OpenString {
  readonly place: Place;
  /** The quotes that can end it. */
  readonly closers: string;
  /** The number of quotes that were taken as part of it. */
  readonly quotes: number;
  /** The number of brackets that are open inside it. */
  readonly brackets: number;
  /** Its last character is a digit, so that the quote can be an inch mark. */
  readonly endsInDigit: boolean;
}

/** Returns the meaning of the quote before `from`. */
export function meaningOf(ahead: Ahead, from: number, string: OpenString): Meaning {
  const row = AFTER_QUOTE[followingOf(ahead, from, string)];
  if (string.place === 'key') return row[4];
  return row[(string.place === 'value' ? 0 : 2) + (isPlain(string) ? 0 : 1)] ?? 'inside';
}

function isPlain({ quotes, brackets }: OpenString): boolean {
  return quotes === 0 && brackets === 0;
}

/** Determines what follows the quote before `from`. */
function followingOf(ahead: Ahead, from: number, string: OpenString): Following {
  const start = ahead.skipSpace(from);
  // Models escape what needs no escape.
  const at = ahead.code(start) === BACKSLASH && string.place !== 'key' ? ahead.skipSpace(start + 1) : start;
  const code = ahead.code(at);
  switch (code) {
    case END:
    case FAR:
      return 'the end';
    case COLON:
      return string.place !== 'item' || opensValue(ahead, at + 1) ? 'a colon' : 'words and a quote';
    case EQUALS:
      return string.place === 'key' || ahead.code(at + 1) === GREATER_THAN ? 'a colon' : wordsOf(ahead, at, string);
    case CLOSE_BRACE:
    case CLOSE_BRACKET:
      return isPlain(string) || closes(ahead, at, string) ? 'brackets' : 'brackets of the string';
    case COMMA:
      return afterComma(ahead, at + 1, string);
    case SLASH:
    case HASH:
      return isComment(ahead, at, at > from) ? 'a comment' : wordsOf(ahead, at, string);
    case BACKTICK:
      if (ahead.startsWith('```', at)) return 'a fence';
      return withoutComma(ahead, from, at, string);
    case PLUS:
      return isQuote(ahead.code(ahead.skipSpace(at + 1))) ? 'plus and a string' : wordsOf(ahead, at, string);
    case OPEN_PAREN:
      return at > from && isNote(ahead, at, string) ? 'a note in parentheses' : wordsOf(ahead, at, string);
    default:
      return withoutComma(ahead, from, at, string);
  }
}

// --- closing brackets --------------------------------------------------------------------------------------------------

/** Do the brackets at `from` close the JSON around a string with quotes or brackets inside, rather than its own? */
function closes(ahead: Ahead, from: number, { closers, quotes, brackets }: OpenString): boolean {
  let at = from;
  let count = 0;
  let code = ahead.code(at);
  for (; code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code); code = ahead.code(at)) {
    if (!isSpace(code)) count += 1;
    at += 1;
  }
  const isNewLine = ahead.hasLineFeed(from, at);
  if (isOneOf(closers, code)) return isNewLine && ahead.key(at) !== undefined;
  if (code === COMMA || code === BACKTICK || code < 0 || isNewLine || isSpace(ahead.code(at - 1))) {
    if (count > brackets || quotes === 0) return true;
  } else if (count > brackets && quotes % 2 === 0 && code !== SEMICOLON) return true;
  return ahead.quote(at, closers) < 0;
}

// --- commas ------------------------------------------------------------------------------------------------------------

function afterComma(ahead: Ahead, from: number, string: OpenString): Following {
  if (string.quotes === 0 && ahead.code(from) === LINE_FEED) return 'a comma and a value';
  const at = ahead.skipSpace(from);
  const code = ahead.code(at);
  if (isQuote(code)) {
    if (string.quotes === 0) return 'a comma and a value';
    if (ahead.key(at) !== undefined) return 'a comma and a key';
    return string.place === 'item' && isWholeItem(ahead, at, string) ? 'a comma and a value' : 'a comma and text';
  }
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return 'a comma and a value';
  const isNone = code < 0 || code === CLOSE_BRACE || code === CLOSE_BRACKET || code === COMMA;
  if (isNone || ((code === SLASH || code === HASH) && isComment(ahead, at, true))) return 'a comma and no member';
  if (ahead.key(at) !== undefined) return 'a comma and a key';
  if (isScalar(ahead, at)) return 'a comma and a value';
  // An item without quotes, or one without its opening quote.
  if (string.place === 'item' && isPlain(string) && !string.endsInDigit) return 'a comma and a value';
  return wordsOf(ahead, at, string) === 'words' ? 'a comma and no member' : 'a comma and text';
}

/** Is the string at `at` one that ends before another item or the end of the list? */
function isWholeItem(ahead: Ahead, at: number, string: OpenString): boolean {
  const end = ahead.quote(at + 1, closersOf(ahead.code(at)) || string.closers);
  if (end < 0) return true;
  const next = ahead.skipSpace(end + 1);
  const code = ahead.code(next);
  if (code < 0 || code === CLOSE_BRACKET) return true;
  const item = ahead.skipSpace(next + 1);
  return code === COMMA && (opensValue(ahead, item) || ahead.code(item) === CLOSE_BRACKET);
}

/** Does a string, a list, an object, a number or a word of JSON begin at `from` (after spaces)? */
function opensValue(ahead: Ahead, from: number): boolean {
  const at = ahead.skipSpace(from);
  const code = ahead.code(at);
  return code < 0 || isQuote(code) || code === OPEN_BRACE || code === OPEN_BRACKET || isScalar(ahead, at);
}

// --- members without a comma -------------------------------------------------------------------------------------------

function withoutComma(ahead: Ahead, from: number, at: number, string: OpenString): Following {
  const code = ahead.code(at);
  const isNewLine = ahead.hasLineFeed(from, at);
  if (isQuote(code)) {
    if (at === from && string.place === 'key') return 'words and a quote';
    if (string.place === 'value' && ahead.key(at) !== undefined) return 'a key';
    if (string.place === 'key') return 'a string';
    const isSeparate = at > from;
    if (isSeparate && string.place === 'item' && isPlain(string)) return 'a string';
    const isPart = isNewLine || isSeparate;
    return isPart && isWholePart(ahead, at, string)
      ? isNewLine
        ? 'a string on the next line'
        : 'a string'
      : 'words and a quote';
  }
  if (code === OPEN_BRACE || code === OPEN_BRACKET) {
    return string.place === 'key' || isNewLine ? 'a list or object' : 'words and a quote';
  }
  if (isNewLine && string.place === 'value' && ahead.key(at) !== undefined) return 'a key';
  if (isScalar(ahead, at)) return 'a number or word of JSON';
  return wordsOf(ahead, at, string);
}

/** Does a quote before `at` open a string rather than close one? */
function opensString(ahead: Ahead, at: number): boolean {
  const code = ahead.code(at);
  return !isSpace(code) && code !== COMMA && code !== CLOSE_BRACKET && code >= 0;
}

/** Is the string at `at` one that ends before a delimiter or the end of its line? */
function isWholePart(ahead: Ahead, at: number, { closers }: OpenString): boolean {
  const end = ahead.quote(at + 1, closers);
  if (end <= at + 1 || ahead.hasLineFeed(at, end)) return false;
  const code = ahead.code(end + 1);
  return isDelimiter(code) || code === LINE_FEED || code === 13;
}

/** Are there a number or word of JSON, and a delimiter, a space or a quote after it, at `from`? */
function isScalar(ahead: Ahead, from: number): boolean {
  let at = from;
  for (
    let code = ahead.code(at);
    isWordCharacter(code) || code === MINUS || code === PLUS || code === 46;
    code = ahead.code(at)
  )
    at += 1;
  if (at === from || !SCALAR.test(ahead.slice(from, at))) return false;
  const end = ahead.skipSpace(at);
  return isDelimiter(ahead.code(end)) || ahead.hasLineFeed(at, end) || (end > at && isQuote(ahead.code(end)));
}

const SCALAR = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|True|False|None)$/u;

// --- comments and words ------------------------------------------------------------------------------------------------

function isComment(ahead: Ahead, at: number, isSeparate: boolean): boolean {
  const next = ahead.code(at + 1);
  if (ahead.code(at) === HASH) return isSeparate && isSpace(next);
  return next === SLASH || next === ASTERISK;
}

/** Do parentheses on one line and a delimiter follow at `from`? */
function isNote(ahead: Ahead, from: number, { closers }: OpenString): boolean {
  const end = ahead.quote(from, `)${closers}\n`);
  return ahead.code(end) === CLOSE_PAREN && isDelimiter(ahead.code(ahead.skipSpace(end + 1)));
}

/** Are the words at `from` part of a string that the next quote ends, or does that quote open another member? */
function wordsOf(
  ahead: Ahead,
  from: number,
  string: OpenString,
): 'words' | 'an item without its quote' | 'words and a quote' {
  // The table gives both the same meaning in such a string, which can grow at once.
  if (string.place === 'value' && !isPlain(string)) return 'words and a quote';
  let last = 0;
  for (let at = from; ; at += 1) {
    const code = ahead.code(at);
    if (isOneOf(string.closers, code)) {
      if (opensMember(ahead, at, last, string)) return 'words';
      return isSpace(ahead.code(from - 1)) && endsItem(ahead, at, last, string)
        ? 'an item without its quote'
        : 'words and a quote';
    }
    if (code === FAR) return 'words and a quote';
    if (code === END) return last === CLOSE_BRACE || last === CLOSE_BRACKET ? 'words' : 'words and a quote';
    if (!isSpace(code)) last = code;
  }
}

/** Does the quote at `at`, after the character `last`, close an item that lacks its opening quote: `["a" b", "c"]`? */
function endsItem(ahead: Ahead, at: number, last: number, string: OpenString): boolean {
  if (string.place !== 'item' || !isPlain(string) || string.endsInDigit || !isWordCharacter(last)) return false;
  const next = ahead.skipSpace(at + 1);
  return ahead.code(next) === CLOSE_BRACKET || (ahead.code(next) === COMMA && opensValue(ahead, next + 1));
}

/** Does the quote at `at`, after the character `last`, open a key or an item? */
function opensMember(ahead: Ahead, at: number, last: number, string: OpenString): boolean {
  if (!isDelimiter(last)) return false;
  if (ahead.key(at) !== undefined) return true;
  return string.place === 'item' && last === COMMA && isWholeItem(ahead, at, string) && opensString(ahead, at + 1);
}

/** Does the quote at `at`, after a comma inside a string, open the next member, because the string lacks its closing quote? */
export function opensNext(ahead: Ahead, at: number, string: OpenString): boolean {
  if (string.brackets > 0 || string.quotes % 2 > 0) return false;
  if (string.place === 'value') return ahead.key(at) !== undefined;
  if (string.place === 'key' || string.quotes > 0 || ahead.quote(at + 1, string.closers) < 0) return false;
  return isWholeItem(ahead, at, string);
}

/** Do only the brackets that close the JSON around a string without its closing quote follow at `at`, on a new line? */
export function onlyBracketsFollow(ahead: Ahead, from: number, { quotes, brackets }: OpenString): boolean {
  let at = from;
  let code = ahead.code(at);
  const isBracket = code === CLOSE_BRACE || code === CLOSE_BRACKET;
  for (; code === CLOSE_BRACE || code === CLOSE_BRACKET || code === COMMA || isSpace(code); code = ahead.code(at))
    at += 1;
  return (
    isBracket && quotes === 0 && brackets === 0 && (code < 0 || ahead.startsWith('```', at) || code === OPEN_BRACE)
  );
}

/** Does the quote at `at`, directly after a word, open the next key, and stand for the end of the string as well? */
export function opensKey(ahead: Ahead, at: number, string: OpenString): boolean {
  if (string.place !== 'value' || !isWordCharacter(ahead.code(at + 1))) return false;
  const key = ahead.key(at);
  return key !== undefined && opensValue(ahead, ahead.skipSpace(at + key.length + 2) + 1);
}

/** A comma, a closing bracket, or the end of the text. */
function isDelimiter(code: number): boolean {
  return code < 0 || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

function isQuote(code: number): boolean {
  return closersOf(code) !== '';
}

function isOneOf(quotes: string, code: number): boolean {
  return code >= 0 && quotes.includes(String.fromCharCode(code));
}
