import { ASTERISK, codeAt, isSpace, SLASH, skipSpace } from './characters.ts';

/** The position of a reader in the text at hand, which can begin inside a comment. The parts of a reader share a cursor. */
export class Cursor {
  text = '';
  at = 0;
  /** No more text follows the text at hand. */
  isLast = false;
  /** The mark that ends the open comment; empty outside of comments. */
  #commentMark: '' | CommentMark = '';
  /** The last characters of the open comment so far, which can be the beginning of its mark. */
  #commentTail = '';

  /** Goes to the next text, after the rest of a comment that is still open. */
  start(text: string, from: number, isLast: boolean): void {
    this.text = text;
    this.at = from;
    this.isLast = isLast;
    if (this.#commentMark !== '') this.#skipComment();
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

/** The text that ends a comment. */
type CommentMark = '\n' | '*/' | ')';
