const NO_BYTES = Buffer.alloc(0);

/**
 * The bytes of a body, joined as they arrive. A provider can cut a body into chunks of a few bytes, and a list of those
 * takes a hundred times their size.
 */
export class BodyBuffer {
  /** The first chunk as it arrived, which is nearly always the whole body; from the second chunk on, a larger buffer. */
  #bytes: Buffer = NO_BYTES;
  #length = 0;

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) this.#bytes = chunk;
    else {
      if (length > this.#bytes.length) this.#grow(2 * length);
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** Returns all bytes and keeps none. */
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
