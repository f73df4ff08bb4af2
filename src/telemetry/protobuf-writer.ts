const FIRST_BYTES = 256;

/** The largest buffer that is used again: a batch of spans without content is smaller. */
const MOST_KEPT_BYTES = 1024 * 1024;

/** The longest varint, in bytes. */
const LONGEST_VARINT = 10;

/** Writes fields in the Protocol Buffers wire format: https://protobuf.dev/programming-guides/encoding/. A tag is a number of one byte. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  /** The number of bytes so far. */
  get length(): number {
    return this.#at;
  }

  /** Forgets the bytes after this length. */
  truncate(length: number): void {
    this.#at = length;
  }

  /** Returns the bytes so far, after these parts, and forgets them. */
  take(parts: readonly Buffer[] = []): Buffer {
    const taken = Buffer.concat([...parts, this.#bytes.subarray(0, this.#at)]);
    this.#at = 0;
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    return taken;
  }

  /** Starts a message. Returns its position for `close`. */
  open(tag: number): number {
    this.#reserve(2);
    this.#bytes[this.#at] = tag;
    this.#at += 2;
    return this.#at;
  }

  /** Ends the message that started here. Most messages are shorter than 128 bytes, so their length takes the one byte before them. */
  close(start: number): void {
    const length = this.#at - start;
    if (length < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    const more = varintBytes(length) - 1;
    this.#reserve(more);
    this.#bytes.copyWithin(start + more, start, this.#at);
    this.#at = start - 1;
    this.#varint(length);
    this.#at += length;
  }

  /** Bytes that contain complete fields. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  text(tag: number, value: string): void {
    // A UTF-16 unit takes up to three bytes in UTF-8.
    this.#reserve(2 + 3 * value.length);
    const start = this.open(tag);
    this.#at += this.#bytes.write(value, start);
    this.close(start);
  }

  /** An id as bytes, from its 32-bit words. */
  words(tag: number, words: readonly number[]): void {
    this.#reserve(2 + 4 * words.length);
    const start = this.open(tag);
    for (const word of words) this.#at = this.#bytes.writeUInt32BE(word, this.#at);
    this.close(start);
  }

  /** A varint; `value` is a safe integer. */
  integer(tag: number, value: number): void {
    this.#reserve(1 + LONGEST_VARINT);
    this.#bytes[this.#at] = tag;
    this.#at += 1;
    if (value >= 0) this.#varint(value);
    else this.#negative(value);
  }

  double(tag: number, value: number): void {
    this.#reserve(9);
    this.#bytes[this.#at] = tag;
    this.#at = this.#bytes.writeDoubleLE(value, this.#at + 1);
  }

  /** The fixed 64-bit number `1,000,000 * millis`, which is larger than a safe integer. */
  nanoseconds(tag: number, millis: number): void {
    const whole = Math.floor(millis);
    const nanos = Math.round((millis - whole) * 1e6);
    // Both factors of each product are small enough for an exact result.
    const upper = Math.floor(whole / 2 ** 21) * 1e6;
    const lower = (whole % 2 ** 21) * 1e6 + nanos + (upper % 2 ** 11) * 2 ** 21;
    this.#reserve(9);
    this.#bytes[this.#at] = tag;
    this.#at = this.#bytes.writeUInt32LE(lower % 2 ** 32, this.#at + 1);
    this.#at = this.#bytes.writeUInt32LE(Math.floor(upper / 2 ** 11) + Math.floor(lower / 2 ** 32), this.#at);
  }

  #varint(value: number): void {
    let left = value;
    while (left >= 0x80) {
      this.#bytes[this.#at] = (left % 0x80) + 0x80;
      this.#at += 1;
      left = Math.floor(left / 0x80);
    }
    this.#bytes[this.#at] = left;
    this.#at += 1;
  }

  /** A negative number has the ten bytes of its two's complement with 64 bits. */
  #negative(value: number): void {
    let left = BigInt.asUintN(64, BigInt(value));
    while (left >= 0x80n) {
      this.#bytes[this.#at] = Number(left & 0x7fn) + 0x80;
      this.#at += 1;
      left >>= 7n;
    }
    this.#bytes[this.#at] = Number(left);
    this.#at += 1;
  }

  #reserve(more: number): void {
    const needed = this.#at + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) bytes += 1;
  return bytes;
}
