const NO_BYTES = Buffer.alloc(0);

/**
 * The bytes of a body, joined as they come. A provider may cut a body into pieces of a few bytes, and a list of those takes a
 * hundred times their size.
 */
export class BodyBuffer {
  /** The first piece as it came, which is nearly always all; from the second on with room for more. */
  #bytes: Buffer = NO_BYTES;
  #length = 0;

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(2 * length);
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** All that was added; nothing of it stays here. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = NO_BYTES;
    this.#length = 0;
    return bytes;
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafe(size);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
