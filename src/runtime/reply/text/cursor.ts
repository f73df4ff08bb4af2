import { ASTERISK, SLASH, skipSpace } from './characters.ts';

/** The position of a reader in the text at hand. The parts of one reader share a cursor. */
export class Cursor {
  text = '';
  at = 0;
  /** No more text follows the text at hand. */
  isLast = false;

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Skips spaces and returns the code of the next character, NaN at the end of the text. */
  peek(): number {
    const code = this.text.charCodeAt(this.at);
    if (code > 32 && code < 128) return code;
    this.at = skipSpace(this.text, this.at);
    return this.text.charCodeAt(this.at);
  }
}

/** Skips one comment at a time, to the end of its line or to its closing mark. */
export class CommentReader {
  readonly #cursor: Cursor;
  /** The mark that ends the comment; empty after the comment has ended. */
  #end = '';

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  get ended(): boolean {
    return this.#end === '';
  }

  /** Begins the comment that the slash at the cursor opens; returns `wait` until the next character has arrived. */
  openSlash(): 'yes' | 'no' | 'wait' {
    const { text, at, isLast } = this.#cursor;
    if (at + 1 >= text.length && !isLast) return 'wait';
    const next = text.charCodeAt(at + 1);
    if (next !== SLASH && next !== ASTERISK) return 'no';
    this.#end = next === SLASH ? '\n' : '*/';
    this.#cursor.at += 2;
    return 'yes';
  }

  /** Begins a comment up to the end of the line, opened by the one character at the cursor. */
  openLine(): void {
    this.#end = '\n';
    this.#cursor.at += 1;
  }

  /** Reads on. Returns false if the closing mark may have begun and more text is needed. */
  read(): boolean {
    const cursor = this.#cursor;
    const end = cursor.text.indexOf(this.#end, cursor.at);
    if (end >= 0) {
      cursor.at = end + this.#end.length;
      this.#end = '';
      return true;
    }
    const kept = cursor.isLast ? 0 : this.#end.length - 1;
    cursor.at = Math.max(cursor.at, cursor.text.length - kept);
    return kept === 0;
  }
}
