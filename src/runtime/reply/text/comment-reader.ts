import { ASTERISK, SLASH } from './characters.ts';
import type { ReaderCursor } from './reader-cursor.ts';

/** Passes over one comment at a time, to the end of its line or to its closing mark. */
export class CommentReader {
  readonly #cursor: ReaderCursor;
  /** What ends the comment; empty when it has ended. */
  #end = '';

  constructor(cursor: ReaderCursor) {
    this.#cursor = cursor;
  }

  get ended(): boolean {
    return this.#end === '';
  }

  /** Begins a comment that the slash at the cursor opens: `wait` while the next character is unknown. */
  openSlash(): 'yes' | 'no' | 'wait' {
    const { text, at, isLast } = this.#cursor;
    if (at + 1 >= text.length && !isLast) return 'wait';
    const next = text.charCodeAt(at + 1);
    if (next !== SLASH && next !== ASTERISK) return 'no';
    this.#end = next === SLASH ? '\n' : '*/';
    this.#cursor.at += 2;
    return 'yes';
  }

  /** Begins a comment to the end of the line, opened by the one character at the cursor. */
  openLine(): void {
    this.#end = '\n';
    this.#cursor.at += 1;
  }

  /** Reads on; false when the end may have begun, and more text is needed. */
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
