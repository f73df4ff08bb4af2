/**
 * A text as bytes (UTF-8), each with its place in the original text: unit `i` comes from the characters `from[i]` up to
 * `to[i]`, so that a match among decoded bytes can be masked in the text as it was written.
 */
export interface DecodedText {
  readonly bytes: Uint8Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly length: number;
}

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const LOWER_X = 0x78;

/** The characters of `text` from `start` up to `end`, without any decoding. */
export function plainText(text: string, start: number, end: number): DecodedText {
  const writer = new UnitWriter((end - start) * 3);
  for (let at = start; at < end;) {
    const code = text.codePointAt(at) ?? 0;
    const next = at + (code > 0xffff ? 2 : 1);
    writer.addCode(code, at, next);
    at = next;
  }
  return writer.result();
}

/**
 * Decodes one level of percent-encoding, JSON and JavaScript escapes and HTML references, all in one pass, as a text
 * can mix them. Returns undefined if there is nothing to decode.
 */
export function decodeOnce(text: DecodedText): DecodedText | undefined {
  const writer = new UnitWriter(text.length);
  const reader = new EscapeReader(text);
  let changed = false;
  for (let at = 0; at < text.length;) {
    const end = reader.read(at);
    const start = text.from[at] ?? 0;
    if (end === 0) {
      writer.addByte(text.bytes[at] ?? 0, start, text.to[at] ?? 0);
      at += 1;
    } else {
      changed = true;
      const stop = text.to[end - 1] ?? 0;
      if (reader.isByte) writer.addByte(reader.code, start, stop);
      else writer.addCode(reader.code, start, stop);
      at = end;
    }
  }
  return changed ? writer.result() : undefined;
}

/** Collects units in arrays of a size that is known in advance. */
class UnitWriter {
  readonly #bytes: Uint8Array;
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
    this.#from = new Int32Array(capacity);
    this.#to = new Int32Array(capacity);
  }

  addByte(byte: number, from: number, to: number): void {
    this.#bytes[this.#length] = byte;
    this.#from[this.#length] = from;
    this.#to[this.#length] = to;
    this.#length += 1;
  }

  /** Adds the bytes of a character; a lone surrogate has three, as any other character of its range. */
  addCode(code: number, from: number, to: number): void {
    if (code < 0x80) {
      this.addByte(code, from, to);
      return;
    }
    if (code < 0x800) this.addByte(0xc0 | (code >> 6), from, to);
    else {
      if (code < 0x10000) this.addByte(0xe0 | (code >> 12), from, to);
      else {
        this.addByte(0xf0 | (code >> 18), from, to);
        this.addByte(0x80 | ((code >> 12) & 0x3f), from, to);
      }
      this.addByte(0x80 | ((code >> 6) & 0x3f), from, to);
    }
    this.addByte(0x80 | (code & 0x3f), from, to);
  }

  result(): DecodedText {
    return { bytes: this.#bytes, from: this.#from, to: this.#to, length: this.#length };
  }
}

/** Reads one escape. An escape of k units decodes to at most k bytes, so decoding never needs more room than the text. */
class EscapeReader {
  readonly #text: DecodedText;
  code = 0;
  /** `code` is a byte of UTF-8, not a character. */
  isByte = false;

  constructor(text: DecodedText) {
    this.#text = text;
  }

  /** Returns the end of the escape that begins at `at`, or 0 if none does; `code` is then the character or byte that it represents. */
  read(at: number): number {
    this.isByte = false;
    switch (this.#byte(at)) {
      case PERCENT:
        return this.#percent(at + 1);
      case BACKSLASH:
        return this.#backslash(at + 1);
      case AMPERSAND:
        return this.#reference(at + 1);
      default:
        return 0;
    }
  }

  #byte(at: number): number {
    return at < this.#text.length ? (this.#text.bytes[at] ?? 0) : 0;
  }

  #percent(at: number): number {
    // `escape()` of old JavaScript writes %uXXXX.
    if (this.#byte(at) === LOWER_U) return this.#hex(at + 1, 4);
    this.isByte = true;
    return this.#hex(at, 2);
  }

  #backslash(at: number): number {
    const byte = this.#byte(at);
    const simple = SIMPLE_ESCAPES.get(byte);
    if (simple !== undefined) {
      this.code = simple;
      return at + 1;
    }
    if (byte === LOWER_X) {
      this.isByte = true;
      return this.#hex(at + 1, 2);
    }
    return byte === LOWER_U ? this.#unicode(at + 1) : 0;
  }

  /** `\uXXXX`; two of them for a character beyond the basic plane. */
  #unicode(at: number): number {
    const end = this.#hex(at, 4);
    const high = this.code;
    if (end === 0 || high < 0xd800 || high > 0xdbff) return end;
    if (this.#byte(end) !== BACKSLASH || this.#byte(end + 1) !== LOWER_U) return end;
    const pair = this.#hex(end + 2, 4);
    if (pair !== 0 && this.code >= 0xdc00 && this.code <= 0xdfff) {
      this.code = 0x10000 + ((high - 0xd800) << 10) + (this.code - 0xdc00);
      return pair;
    }
    this.code = high;
    return end;
  }

  #hex(at: number, digits: number): number {
    let code = 0;
    for (let index = at; index < at + digits; index += 1) {
      const digit = hexDigit(this.#byte(index));
      if (digit < 0) return 0;
      code = code * 16 + digit;
    }
    this.code = code;
    return at + digits;
  }

  /** `&amp;`, `&#38;` or `&#x26;`. */
  #reference(at: number): number {
    let name = '';
    let end = at;
    for (; end < at + LONGEST_REFERENCE && this.#byte(end) !== SEMICOLON; end += 1) {
      name += String.fromCharCode(this.#byte(end));
    }
    if (this.#byte(end) !== SEMICOLON) return 0;
    const code = REFERENCES.get(name) ?? numericReference(name);
    if (code === undefined) return 0;
    this.code = code;
    return end + 1;
  }
}

const SEMICOLON = 0x3b;

/** `&#x0010FFFF;` has the most characters of those that matter. */
const LONGEST_REFERENCE = 10;

const SIMPLE_ESCAPES: ReadonlyMap<number, number> = new Map(
  (
    [
      ['"', '"'],
      ["'", "'"],
      ['\\', '\\'],
      ['/', '/'],
      ['n', '\n'],
      ['r', '\r'],
      ['t', '\t'],
      ['b', '\b'],
      ['f', '\f'],
    ] as const
  ).map(([escape, character]) => [escape.charCodeAt(0), character.charCodeAt(0)]),
);

const REFERENCES: ReadonlyMap<string, number> = new Map(
  Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', plus: '+', equals: '=', nbsp: ' ' }).map(
    ([name, character]) => [name, character.charCodeAt(0)],
  ),
);

function numericReference(name: string): number | undefined {
  const digits = /^#(?:[xX](?<hex>[\da-fA-F]+)|(?<decimal>\d+))$/u.exec(name)?.groups;
  if (digits === undefined) return undefined;
  const { hex, decimal } = digits;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? code : undefined;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
