import { skipSpace } from './characters.ts';

/** Where reading stands in the text at hand. The parts of a reader share one. */
export class ReaderCursor {
  text = '';
  at = 0;
  /** No more text will come. */
  isLast = false;

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Goes to the next character after spaces, and tells it; NaN at the end of the text. */
  peek(): number {
    const code = this.text.charCodeAt(this.at);
    if (code > 32 && code < 128) return code;
    this.at = skipSpace(this.text, this.at);
    return this.text.charCodeAt(this.at);
  }
}
