import {
  ASTERISK,
  codeAt,
  isSpace,
  SLASH,
  skipSpace,
  closersOf,
  COLON,
  DOUBLE_QUOTE,
  EQUALS,
  GREATER_THAN,
  isWordCharacter,
  LINE_FEED,
  MINUS,
} from './characters.ts';

/** The position of a reader in the text at hand, which can begin inside a comment. The parts of a reader share a cursor. */
export class Cursor {
  text = '';
  at = 0;
  /** No more text follows the text at hand. */
  isLast = false;
  /** The beginning of the value at hand that has been read, up to the text at hand: at most its last KEPT characters. */
  #before = '';
  /** The offset of `#before` in the value, and where the text at hand begins to be new. */
  #beforeFrom = 0;
  #from = 0;
  /** The mark that ends the open comment; empty outside of comments. */
  #commentMark: '' | CommentMark = '';
  /** The last characters of the open comment so far, which can be the beginning of its mark. */
  #commentTail = '';

  /** Begins another value. */
  restart(): void {
    this.#before = '';
    this.#beforeFrom = 0;
  }

  /** Goes to the next text, after the rest of a comment that is still open. */
  start(text: string, from: number, isLast: boolean): void {
    this.text = text;
    this.at = from;
    this.#from = from;
    this.isLast = isLast;
    if (this.#commentMark !== '') this.#skipComment();
  }

  /** Leaves the text at hand. `keep`: keeps what has been read of it, for the lists and objects that are open. */
  stop(keep: boolean): void {
    if (keep && !this.isLast) {
      const read = this.#before + this.text.slice(this.#from, this.at);
      this.#before = read.slice(-KEPT);
      this.#beforeFrom += read.length - this.#before.length;
    }
    this.text = '';
  }

  /** The offset of the cursor in the value. */
  get offset(): number {
    return this.#beforeFrom + this.#before.length + this.at - this.#from;
  }

  /** Returns the text of the value from an offset up to the character at the cursor; empty if its beginning is not kept. */
  textFrom(offset: number): string {
    const start = offset - this.#beforeFrom;
    const { length } = this.#before;
    if (start < 0) return '';
    if (start >= length) return this.text.slice(this.#from + start - length, this.at + 1);
    return this.#before.slice(start) + this.text.slice(this.#from, this.at + 1);
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Skips spaces and returns the code of the next character, -1 at the end of the text. */
  peek(): number {
    const { text, at } = this;
    const code = codeAt(text, at);
    if (code > 32 && code < 128) return code;
    this.at = skipSpace(text, at);
    return codeAt(text, this.at);
  }

  /** Skips the comment that the slash at the cursor opens: `wait` until the next character has arrived. */
  skipSlashComment(): 'yes' | 'no' | 'wait' {
    if (this.at + 1 >= this.text.length && !this.isLast) return 'wait';
    const next = this.text.charCodeAt(this.at + 1);
    if (next !== SLASH && next !== ASTERISK) return 'no';
    this.at += 2;
    this.#openComment(next === SLASH ? '\n' : '*/');
    return 'yes';
  }

  /** Skips the comment that the `#` at the cursor opens, if a space follows it. */
  skipHashComment(): 'yes' | 'no' | 'wait' {
    if (this.at + 1 >= this.text.length && !this.isLast) return 'wait';
    if (!isSpace(this.text.charCodeAt(this.at + 1))) return 'no';
    this.skipLineComment();
    return 'yes';
  }

  /** Skips the note in parentheses at the cursor. */
  skipNote(): void {
    this.#openComment(')');
  }

  /** Skips the comment up to the end of the line that the one character at the cursor opens. */
  skipLineComment(): void {
    this.at += 1;
    this.#openComment('\n');
  }

  #openComment(mark: CommentMark): void {
    this.#commentMark = mark;
    this.#commentTail = '';
    this.#skipComment();
  }

  /** Skips the open comment as far as it has arrived. */
  #skipComment(): void {
    const end = this.#commentEnd();
    if (end < 0) {
      const kept = this.#commentMark.length - 1;
      const tail = this.#commentTail + this.text.slice(Math.max(this.at, this.text.length - kept));
      this.#commentTail = kept === 0 ? '' : tail.slice(-kept);
      this.at = this.text.length;
    } else {
      this.at = end;
      this.#commentMark = '';
    }
  }

  /** Returns the position after the open comment; -1 if its end has not arrived. */
  #commentEnd(): number {
    const { text, at } = this;
    const mark = this.#commentMark;
    const tail = this.#commentTail;
    const split = (tail + text.slice(at, at + mark.length - 1)).indexOf(mark);
    if (split >= 0) return at + split - tail.length + mark.length;
    const end = text.indexOf(mark, at);
    return end < 0 ? -1 : end + mark.length;
  }
}

/** The characters of a value that are kept while it arrives in deltas: a longer list or object has no text of its own in partials. */
const KEPT = 4096;

/** The text that ends a comment. */
type CommentMark = '\n' | '*/' | ')';

/** The result of looking ahead: `wait` if the text ends before the answer is known. */
export type Verdict = 'yes' | 'no' | 'wait';

/**
 * How far ahead the readers look. It bounds the work that is repeated when text arrives in small deltas; longer keys
 * without a comma before them are rarer than texts that only resemble one.
 */
export const LOOK_AHEAD = 120;

/** The code of the character after the last one of the reply, and of any character beyond the look-ahead. */
export const END = -1;
export const FAR = -2;

/**
 * The next characters of a text that can still grow. No answer may depend on how much text has arrived: a reader
 * computes its answer from `code`, and discards it while `isShort`, since a character that it has asked for is missing.
 */
export class Ahead {
  /** A character was asked for that has not arrived. */
  isShort = false;
  readonly #text: string;
  readonly #isLast: boolean;
  readonly #limit: number;

  constructor(text: string, from: number, isLast: boolean) {
    this.#text = text;
    this.#isLast = isLast;
    this.#limit = from + LOOK_AHEAD;
  }

  /** Returns the code of the character at `at`, END after the last one, FAR beyond the look-ahead. */
  code(at: number): number {
    if (at >= this.#limit) return FAR;
    if (at < this.#text.length) return this.#text.charCodeAt(at);
    if (!this.#isLast) this.isShort = true;
    return END;
  }

  /** Returns the position of the first character at or after `from` that is not a space. */
  skipSpace(from: number): number {
    let at = from;
    while (isSpace(this.code(at))) at += 1;
    return at;
  }

  hasLineFeed(from: number, to: number): boolean {
    for (let at = from; at < to; at += 1) if (this.code(at) === LINE_FEED) return true;
    return false;
  }

  startsWith(text: string, at: number): boolean {
    for (let index = 0; index < text.length; index += 1)
      if (this.code(at + index) !== text.charCodeAt(index)) return false;
    return true;
  }

  slice(from: number, to: number): string {
    return this.#text.slice(from, Math.min(to, this.#limit));
  }

  /** Returns the position of the next of these quotes; -1 if the text or the look-ahead ends before it. */
  quote(from: number, quotes: string): number {
    for (let at = from; ; at += 1) {
      const code = this.code(at);
      if (code < 0) return -1;
      if (quotes.includes(String.fromCharCode(code))) return at;
    }
  }

  answer(isTrue: boolean): Verdict {
    return this.isShort ? 'wait' : isTrue ? 'yes' : 'no';
  }

  // --- keys ----------------------------------------------------------------------------------------------------------

  /** Returns the key that is at `from` (after spaces), with a colon or `=>` after it; undefined if there is none. */
  key(from: number): string | undefined {
    const at = this.skipSpace(from);
    const code = this.code(at);
    const closers = code === DOUBLE_QUOTE ? '"”' : closersOf(code);
    const start = closers === '' ? at : at + 1;
    const end = closers === '' ? this.#wordEnd(at) : this.quote(start, closers);
    if (end < start || (end === start && closers === '') || this.hasLineFeed(start, end)) return undefined;
    // A key can lack its opening quote.
    const isQuoted = closers !== '' || this.code(end) === DOUBLE_QUOTE;
    return this.#isSign(isQuoted ? end + 1 : end) ? this.slice(start, end) : undefined;
  }

  /** Returns the key of one or more words without quotes that starts at `from` and ends at a colon on the same line. */
  phraseKey(from: number): string | undefined {
    for (let at = from; ; at += 1) {
      const code = this.code(at);
      if (code === COLON || code === EQUALS) return at > from ? this.slice(from, at).trimEnd() : undefined;
      const isPart = isWordCharacter(code) || code === MINUS || code === SLASH || code === 46;
      if (!isPart && (code === LINE_FEED || !isSpace(code))) return undefined;
    }
  }

  #wordEnd(from: number): number {
    let at = from;
    while (isWordCharacter(this.code(at)) || this.code(at) === MINUS) at += 1;
    return at;
  }

  /** A colon, but not one of `::` or `://`, or `=>` as PHP and Ruby write it. */
  #isSign(from: number): boolean {
    const at = this.skipSpace(from);
    const code = this.code(at);
    const next = code === COLON || code === EQUALS ? this.code(at + 1) : 0;
    if (code === EQUALS) return next === GREATER_THAN;
    return code === COLON && next !== COLON && !(next === SLASH && this.code(at + 2) === SLASH);
  }
}
