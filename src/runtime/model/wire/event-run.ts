import { parseJson } from '../../../base/json.ts';

/** The bytes before a value that differs from event to event. */
export interface Hole {
  readonly before: string;
  readonly kind: 'text' | 'string' | 'number' | 'part';
}

/** Events that were read together. */
export interface TextRun {
  /** Their text. */
  readonly text: string;
  /** The position of the first event that is not among them. */
  readonly next: number;
  readonly events: number;
}

interface Source {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** The end of the bytes that can be read. */
  readonly to: number;
  /** The part to which each event has to belong. */
  readonly part: number | undefined;
}

interface Slot {
  readonly before: Literal;
  readonly kind: Hole['kind'];
}

const LF = 10;
const SPACE = 32;
const QUOTE = 34;
const SLASH = 47;
const BACKSLASH = 92;
const LOWER_U = 117;

/** The letters after a backslash, besides `u`. */
const ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

/** The text of a run waits here: a longer one is read in several runs. */
const TEXT = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Reads events of one shape that follow each other, from the bytes of a stream: only their text becomes a string. It is exact: an
 * event that differs in any other byte than those of its holes, that is not valid, or that is incomplete ends the run.
 */
export class EventRun {
  /** The bytes before the data of each event. */
  readonly head: string;
  readonly #slots: readonly Slot[];
  readonly #after: Literal;
  /** The bytes after the last hole, without spaces: some providers vary their number. */
  readonly #tail: Buffer;
  /** The length of the text of the events so far. */
  #length = 0;
  #isAscii = true;
  #hasEscape = false;

  constructor(head: string, holes: readonly Hole[], after: string) {
    this.head = head;
    this.#slots = holes.map(({ before, kind }, index) => ({
      before: new Literal(index === 0 ? head + before : before),
      kind,
    }));
    this.#after = new Literal(`${after}\n\n`);
    this.#tail = Buffer.from(after.replaceAll(' ', ''));
  }

  /** Reads the events of `part` that follow each other from `from`, and end before `to`. Undefined if there are none. */
  read(bytes: Buffer, from: number, to: number, part: number | undefined): TextRun | undefined {
    const source = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), to, part };
    this.#isAscii = true;
    this.#hasEscape = false;
    let length = 0;
    let events = 0;
    let next = from;
    for (;;) {
      this.#length = length;
      const end = this.#event(source, next);
      if (end < 0) break;
      next = end;
      length = this.#length;
      events += 1;
    }
    if (events === 0) return undefined;
    const raw = TEXT.toString(this.#isAscii ? 'latin1' : 'utf8', 0, length);
    const text = this.#hasEscape ? unescape(raw) : raw;
    return text === undefined ? undefined : { text, next, events };
  }

  /** Returns the end of the event at `from`; -1 if it does not have the shape. */
  #event({ bytes, view, to, part }: Source, from: number): number {
    let at = from;
    for (const { before, kind } of this.#slots) {
      at = before.endIn(view, at, to);
      if (at < 0) return -1;
      const begin = at;
      if (kind === 'text') at = this.#text(bytes, at, to);
      else if (kind === 'string') at = stringEnd(bytes, at, to);
      else at = digitsEnd(bytes, at, to);
      if (at < 0 || (kind === 'part' && Number(bytes.toString('latin1', begin, at)) !== part)) return -1;
    }
    const end = this.#after.endIn(view, at, to);
    return end < 0 ? this.#spacedEnd(bytes, at, to) : end;
  }

  /** Copies the text of an event. Returns the position of the quote after it; -1 if it is not valid. */
  #text(bytes: Buffer, from: number, to: number): number {
    let at = from;
    let length = this.#length;
    // An escape and a character of UTF-8 have at most six bytes.
    while (at < to && length < TEXT.length - 6) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.#length = length;
        return at;
      }
      const width = byte < 128 && byte >= SPACE && byte !== BACKSLASH ? 1 : this.#wide(bytes, at);
      if (width === 0 || at + width > to) return -1;
      for (let end = at + width; at < end; at += 1) {
        TEXT[length] = bytes[at] ?? 0;
        length += 1;
      }
    }
    return -1;
  }

  /** The length of the escape or character of UTF-8 at this position; 0 if it is none. */
  #wide(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH) {
      this.#hasEscape = true;
      if (bytes[at + 1] === LOWER_U) return hasHexDigits(bytes, at + 2) ? 6 : 0;
      return ESCAPES.has(bytes[at + 1] ?? 0) ? 2 : 0;
    }
    const width = byte >= 0xf5 || byte < 0xc2 ? 0 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    for (let next = at + 1; next < at + width; next += 1) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
    this.#isAscii = false;
    return width;
  }

  /** The end of an event that ends as the learned one, with other spaces; -1 if it does not. */
  #spacedEnd(bytes: Buffer, from: number, to: number): number {
    let matched = 0;
    let at = from;
    for (; at < to && bytes[at] !== LF; at += 1) {
      if (bytes[at] === SPACE) continue;
      if (bytes[at] !== this.#tail[matched]) return -1;
      matched += 1;
    }
    return matched === this.#tail.length && at + 2 <= to && bytes[at + 1] === LF ? at + 2 : -1;
  }
}

const WORD_BYTES = 4;

/** Bytes that are compared word by word: a comparison of byte by byte takes three times as long. */
class Literal {
  readonly #words: Int32Array;
  readonly #rest: Uint8Array;
  readonly #length: number;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.#length = bytes.length;
    this.#words = Int32Array.from({ length: Math.floor(bytes.length / WORD_BYTES) }, (_, index) =>
      bytes.readInt32LE(index * WORD_BYTES),
    );
    this.#rest = bytes.subarray(this.#words.length * WORD_BYTES);
  }

  /** The position after these bytes, if they are at `from`; -1 if they are not, before `to`. */
  endIn(view: DataView, from: number, to: number): number {
    if (from + this.#length > to) return -1;
    const words = this.#words;
    let at = from;
    for (let index = 0; index < words.length; index += 1) {
      if (view.getInt32(at, true) !== words[index]) return -1;
      at += WORD_BYTES;
    }
    const rest = this.#rest;
    for (let index = 0; index < rest.length; index += 1) {
      if (view.getUint8(at) !== rest[index]) return -1;
      at += 1;
    }
    return at;
  }
}

/** The position of the quote that ends the string at `from`, before `to` and in this line; -1 if there is none. */
function stringEnd(bytes: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte < SPACE) return -1;
    if (byte === BACKSLASH) at += 1;
  }
  return -1;
}

/** The end of the digits at `from`; -1 if there are none. */
function digitsEnd(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isDecimalDigit(bytes[at] ?? 0)) at += 1;
  return at === from ? -1 : at;
}

export function isDecimalDigit(code: number): boolean {
  return code > SLASH && code <= SLASH + 10;
}

function hasHexDigits(bytes: Buffer, from: number): boolean {
  return /^[\da-f]{4}$/iu.test(bytes.toString('latin1', from, from + 4));
}

/** The string that is written in this way between quotes in JSON; undefined if it is none. */
export function unescape(raw: string): string | undefined {
  const value = parseJson(`"${raw}"`);
  return typeof value === 'string' ? value : undefined;
}
