const LF = 10;
const CR = 13;

/** More digits than any chunk of a model needs: 256 MiB. */
const MAX_DIGITS = 7;

/**
 * Removes the framing of a chunked body (RFC 9112, 7.1) from the bytes of its connection, in place: no object for each of the
 * thousands of small chunks that a provider can send in one stream. It reads ordinary chunks only, a size in hexadecimal digits and
 * the bytes. Another reader takes over at the first other one: the last chunk, one with an extension, or an invalid one.
 */
export class ChunkedBody {
  /** The part of the size of a chunk that has arrived, as it arrived. */
  #head = '';
  /** The bytes of the chunk that have not arrived, with the line break after them: 1 or 2 are left within the line break. */
  #left = 0;
  /** The position of the first byte that is not read here, in the bytes of the last call; -1 while all are. */
  #otherFrom = -1;
  /** The line break after a chunk is missing. */
  isBroken = false;

  /** Reads the next bytes of the connection and moves the content to their front. Returns its length. */
  read(bytes: Uint8Array): number {
    let to = 0;
    let at = 0;
    while (at < bytes.length && this.#otherFrom < 0 && !this.isBroken) {
      if (this.#left > 2) {
        const end = Math.min(at + this.#left - 2, bytes.length);
        bytes.copyWithin(to, at, end);
        to += end - at;
        this.#left -= end - at;
        at = end;
      } else if (this.#left > 0) {
        this.isBroken = bytes[at] !== (this.#left === 2 ? CR : LF);
        this.#left -= 1;
        at += 1;
      } else at = this.#readHead(bytes, at);
    }
    return to;
  }

  /** Another reader takes over, from `rest` on. */
  get isOver(): boolean {
    return this.#otherFrom >= 0;
  }

  /** A copy of what another reader has to read: the beginning of a chunk, and all bytes after it. `bytes`: those of the last call. */
  rest(bytes: Uint8Array): Buffer {
    return Buffer.concat([Buffer.from(this.#head, 'latin1'), bytes.subarray(this.#otherFrom)]);
  }

  /** Reads from the size of a chunk to the line break after it. Returns the position after it. */
  #readHead(bytes: Uint8Array, from: number): number {
    if (this.#head !== '') return this.#readRestOfHead(bytes, from);
    let size = 0;
    let at = from;
    for (let digit = digitOf(bytes[at]); digit >= 0; digit = digitOf(bytes[at])) {
      size = size * 16 + digit;
      at += 1;
    }
    if (at + 1 >= bytes.length) return this.#readRestOfHead(bytes, from);
    if (size === 0 || at - from > MAX_DIGITS || bytes[at] !== CR || bytes[at + 1] !== LF) this.#otherFrom = from;
    else this.#left = size + 2;
    return at + 2;
  }

  /** Reads byte by byte what can be in two reads of the connection. */
  #readRestOfHead(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === LF && /^[\da-f]+\r$/iu.test(this.#head) && Number.parseInt(this.#head, 16) > 0) {
        this.#left = Number.parseInt(this.#head, 16) + 2;
        this.#head = '';
        return at + 1;
      }
      const isExpected =
        byte === CR ? /^[\da-f]+$/iu.test(this.#head) : digitOf(byte) >= 0 && !this.#head.endsWith('\r');
      if (!isExpected || this.#head.length > MAX_DIGITS) {
        this.#otherFrom = at;
        return at;
      }
      this.#head += String.fromCharCode(byte);
    }
    return bytes.length;
  }
}

/** The value of a hexadecimal digit; -1 for any other byte. */
function digitOf(byte = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
