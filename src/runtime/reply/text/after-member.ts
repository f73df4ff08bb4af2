import {
  ASTERISK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DOT,
  GREATER_THAN,
  isDigit,
  isWordCharacter,
  LESS_THAN,
  LINE_FEED,
  MINUS,
  OPEN_PAREN,
  SINGLE_QUOTE,
  skipBlanks,
  skipSpace,
  SLASH,
} from './characters.ts';
import { HTML_COMMENT, type Cursor } from './cursor.ts';
import { jsonNumberOf } from './json-number.ts';
import { JSON_WORDS, keyAhead, LOOK_AHEAD, phraseKeyAhead, type Verdict } from './look-ahead.ts';

/*
 * Text that follows a member in the place of a delimiter, although it does not belong to JSON: a note about the member, an
 * ellipsis, or the text after a value whose closing brackets are missing.
 */

/** `←` `→` `—` `–` */
const NOTE_MARKS: ReadonlySet<number> = new Set([0x2190, 0x2192, 0x2014, 0x2013]);

export function isNoteMark(code: number): boolean {
  return code > 127 && NOTE_MARKS.has(code);
}

/** The longest mark, with the spaces after it, and the first character of the note. */
const LONGEST_MARK = 6;

/**
 * Does a note begin at `at`, which takes the rest of its line? It consists of an arrow or a dash, a space, and words:
 * `← this one`, `<- see above`, `-- approximate`, `— approximate`. A digit after the mark is a part of a calculation.
 */
export function noteAhead(text: string, at: number, isLast: boolean): Verdict {
  const code = text.charCodeAt(at);
  if (code !== MINUS && code !== LESS_THAN && !isNoteMark(code)) return 'no';
  if (at + LONGEST_MARK > text.length && !isLast) return 'wait';
  let end = at + 1;
  if (!isNoteMark(code)) {
    while (text.charCodeAt(end) === MINUS || text.charCodeAt(end) === GREATER_THAN) end += 1;
    if (code === LESS_THAN && end === at + 1) return 'no';
  }
  if (end - at > 3) return 'no';
  const start = skipBlanks(text, end);
  const first = text.charCodeAt(start);
  return start > end && start < at + LONGEST_MARK && isWordCharacter(first) && !isDigit(first) ? 'yes' : 'no';
}

/** Do three dots follow at `at`, and then a delimiter or a line break? They mark members that the model left out. */
export function ellipsisAhead(text: string, at: number, isLast: boolean): Verdict {
  const length = text.charCodeAt(at) === ELLIPSIS ? 1 : 3;
  if (length === 3 && text.charCodeAt(at) !== DOT) return 'no';
  if (at + length > text.length && !isLast) return 'wait';
  if (length === 3 && !text.startsWith('...', at)) return 'no';
  const end = skipBlanks(text, at + length);
  if (end - at > LOOK_AHEAD) return 'no';
  if (end >= text.length) return isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(end);
  return code === CLOSE_BRACE || code === CLOSE_BRACKET || code === COMMA || isLineEnd(code) ? 'yes' : 'no';
}

const ELLIPSIS = 0x2026;

function isLineEnd(code: number): boolean {
  return code === LINE_FEED || code === 13;
}

/** Is the dot at `at` the last character of its line, in the place of a comma? */
export function periodAhead(text: string, at: number, isLast: boolean): Verdict {
  if (text.charCodeAt(at) !== DOT) return 'no';
  if (at + 1 >= text.length) return isLast ? 'yes' : 'wait';
  return isLineEnd(text.charCodeAt(at + 1)) ? 'yes' : 'no';
}

/** Does a comment of HTML begin at `at`? */
export function htmlCommentAhead(text: string, at: number, isLast: boolean): Verdict {
  const opening = text.slice(at, at + HTML_COMMENT.length);
  if (opening === HTML_COMMENT) return 'yes';
  return HTML_COMMENT.startsWith(opening) && at + opening.length === text.length && !isLast ? 'wait' : 'no';
}

/** Is the `<` at `at` the start of a closing tag, such as `</answer>`? */
export function closingTagAhead(text: string, at: number, isLast: boolean): Verdict {
  if (text.charCodeAt(at) !== LESS_THAN) return 'no';
  if (at + 2 >= text.length && !isLast) return 'wait';
  return text.charCodeAt(at + 1) === SLASH && isWordCharacter(text.charCodeAt(at + 2)) ? 'yes' : 'no';
}

/** The text between a member and the next delimiter, which can arrive in deltas. */
export class AfterMember {
  /** The number of line breaks since the member. */
  lines = 0;
  /** The last key, or the last member of a list, if it has no quotes; it can be a number. Otherwise empty. */
  bare = '';
  /** The number of spaces after the last of them. */
  #column = 0;
  readonly #cursor: Cursor;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /** Prepares for another value. */
  clear(): void {
    this.lines = 0;
    this.bare = '';
  }

  /** Skips spaces, counts their line breaks, and returns the code of the next character. */
  peek(): number {
    const cursor = this.#cursor;
    const from = cursor.at;
    const code = cursor.peek();
    // The lines before a closing bracket do not matter, and most lines are there.
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.lines = 0;
    else if (cursor.at > from) this.#count(from, cursor.at);
    return code;
  }

  #count(from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const isBreak = this.#cursor.text.charCodeAt(at) === LINE_FEED;
      if (isBreak) this.lines += 1;
      this.#column = isBreak ? 0 : this.#column + 1;
    }
  }

  /**
   * Is the comma at the cursor alone on its line, before a key that is not indented deeper? The closing brace of the object
   * was on that line, in front of the comma.
   */
  isCommaAlone(): Verdict {
    const { text, at, isLast } = this.#cursor;
    const end = skipBlanks(text, at + 1);
    if (end >= text.length && !isLast) return end - at > LOOK_AHEAD ? 'no' : 'wait';
    if (!isLineEnd(text.charCodeAt(end))) return 'no';
    const key = keyAhead(text, end, isLast);
    const line = text.slice(end, skipSpace(text, end));
    return key === 'yes' && line.length - line.lastIndexOf('\n') - 1 > this.#column ? 'no' : key;
  }

  /** Determines what is at the cursor in the place of a delimiter: a note, or a full stop, ends with its line. */
  ahead(inObject: boolean): 'note' | 'prose' | 'member' | 'wait' {
    const { text, at, isLast } = this.#cursor;
    const period = periodAhead(text, at, isLast);
    if (period !== 'no') return period === 'yes' ? 'note' : period;
    const note = noteAhead(text, at, isLast);
    if (note !== 'no') return note === 'yes' ? 'note' : note;
    const prose = this.#proseAhead(inObject);
    return prose === 'no' ? 'member' : prose === 'yes' ? 'prose' : prose;
  }

  /**
   * Does text follow whose value lacks its closing brackets? A closing tag does, and words on a line of their own that are
   * not a member. After an empty line, a label (`Note: …`) is not a key.
   */
  #proseAhead(inObject: boolean): Verdict {
    const { text, at, isLast } = this.#cursor;
    const tag = closingTagAhead(text, at, isLast);
    if (tag !== 'no' || this.lines === 0) return tag;
    const code = text.charCodeAt(at);
    const isQuoted = this.bare === '' || isScalar(this.bare);
    const isAfterEmpty = this.lines > 1 && isQuoted;
    if (!isWordCharacter(code) || isDigit(code)) return isAfterEmpty && PROSE_MARKS.has(code) ? 'yes' : 'no';
    if (isAfterEmpty) return 'yes';
    if (!inObject) return isQuoted ? phraseAhead(text, at, isLast) : 'no';
    const key = phraseKeyAhead(text, at, isLast);
    return key === 'no' ? phraseAhead(text, at, isLast) : key === 'yes' ? 'no' : 'wait';
  }
}

/** The last key or member is a string without quotes. */
export const NO_QUOTES = 'a';

/** True for a number and for a word of JSON. */
function isScalar(token: string): boolean {
  return JSON_WORDS.includes(token) || jsonNumberOf(token) !== undefined;
}

/** `*`, `(` and `>`, with which a paragraph can begin. */
const PROSE_MARKS: ReadonlySet<number> = new Set([ASTERISK, OPEN_PAREN, GREATER_THAN]);

/** Do at least two words follow at `at`, neither of which is a word of JSON? */
function phraseAhead(text: string, at: number, isLast: boolean): Verdict {
  if (JSON_WORDS.some((word) => text.startsWith(word, at))) return 'no';
  const limit = Math.min(text.length, at + LOOK_AHEAD);
  let end = at;
  while (end < limit && isWordPart(text.charCodeAt(end))) end += 1;
  const next = skipBlanks(text, end);
  if (next >= limit) return limit === text.length && !isLast ? 'wait' : 'no';
  return next > end && isWordCharacter(text.charCodeAt(next)) ? 'yes' : 'no';
}

/** A letter, a digit, or a mark that can be inside a word or after it. */
function isWordPart(code: number): boolean {
  return isWordCharacter(code) || code === MINUS || code === SINGLE_QUOTE || code === COMMA;
}
