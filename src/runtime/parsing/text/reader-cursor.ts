/** Where reading stands in the text at hand. The parts of a reader share one. */
export class ReaderCursor {
  text = '';
  at = 0;
  /** No more text will come. */
  isLast = false;

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }
}
