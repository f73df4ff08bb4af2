import { decodeOnce, plainText, type DecodedText } from './decoded-text.ts';
import { FOLD, formsOf, MOST_LEVELS, SKIPPED, type SecretForm } from './secret-forms.ts';

/** A part of a text, from the first character up to the one before `end`. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Collects ranges and merges adjacent ones, because a hostile text can match at each character. */
class RangeList {
  readonly #ranges: Array<{ start: number; end: number }> = [];

  add(start: number, end: number): void {
    const last = this.#ranges.at(-1);
    if (last !== undefined && start >= last.start && start <= last.end) last.end = Math.max(last.end, end);
    else this.#ranges.push({ start, end });
  }

  /** Returns all ranges, in order and without overlaps. */
  joined(): readonly TextRange[] {
    const result = new RangeList();
    for (const { start, end } of this.#ranges.toSorted((a, b) => a.start - b.start)) result.add(start, end);
    return result.#ranges;
  }
}

/** Decoding takes 27 bytes for each character, so long texts are searched in windows. */
const WINDOW = 32 * 1024;

/** Windows overlap by at least so many characters. */
const OVERLAP = 1024;

/**
 * They overlap by at least so many decoded bytes: those of a piece, and of the escapes that a cut breaks at each level. A
 * byte in three encodings, one inside the other, can take more than 200 characters.
 */
const OVERLAP_BYTES = 64;

/** The longest overlap, so that each character is in few windows. */
const LONGEST_OVERLAP = WINDOW / 2;

/** An escape for a letter or a digit (also of base64), or for an escape: the text has to be decoded to be searched. */
const ESCAPED_WORD = /%(?:u00|2[56bf]|3\d|[46][1-9a-f]|[57][\da]|5c)|\\(?:u00|x)(?:2[56bf]|[3-7])|\\\/|&(?:amp;)*#/iu;

/** Few texts contain any of these characters, and a search for each of them is faster than the pattern. */
function hasEscapedWord(text: string): boolean {
  const mayHave = text.includes('%') || text.includes('&') || RARE_BACKSLASH.test(text);
  return mayHave && ESCAPED_WORD.test(text);
}

const RARE_BACKSLASH = /\\[ux/]/u;

/** The forms contain bytes, so characters beyond ASCII do not match without decoding either. */
const ANY_ESCAPE = /[%\\&\u{80}-\u{10ffff}]/u;

/**
 * Finds the secrets in a text, whole or in part, plain or in any mixture of the encodings with which programs quote text.
 * Takes time that is linear in the length of the text, whatever the secrets are.
 */
export class SecretMatcher {
  readonly #forms: readonly SecretForm[];
  readonly #filter: PieceFilter;
  /** Built when a text probably contains a secret. */
  #automaton: Automaton | undefined;

  constructor(secrets: Iterable<string>) {
    const forms = new Map<string, SecretForm>();
    for (const secret of secrets) for (const form of formsOf(secret)) forms.set(form.folded, form);
    this.#forms = [...forms.values()];
    this.#filter = new PieceFilter(this.#forms);
  }

  /** Returns the ranges to mask, in order and without overlaps. */
  find(text: string): readonly TextRange[] {
    if (!this.#mayContain(text)) return [];
    this.#automaton ??= new Automaton(this.#forms);
    const found = new RangeList();
    for (let start = 0, end = 0; end < text.length;) {
      end = Math.min(text.length, start + WINDOW + OVERLAP);
      const decoded = findInside(plainText(text, start, end), this.#automaton, found);
      start = overlapStart(decoded, end);
    }
    return found.joined();
  }

  #mayContain(text: string): boolean {
    if (this.#forms.length === 0) return false;
    if (this.#filter.mayMatch(text)) return true;
    return this.#filter.complete ? hasEscapedWord(text) : ANY_ESCAPE.test(text);
  }
}

/** Searches a window at all levels of decoding. Returns the last one. */
function findInside(window: DecodedText, automaton: Automaton, found: RangeList): DecodedText {
  let level = window;
  for (let count = 1; ; count += 1) {
    automaton.find(level, found);
    const next = count < MOST_LEVELS ? decodeOnce(level) : undefined;
    if (next === undefined) return level;
    level = next;
  }
}

/** Returns the start of the window after one that ends at `end`. `decoded`: the text of that one, decoded at all levels. */
function overlapStart({ from, length }: DecodedText, end: number): number {
  const start = from[Math.max(0, length - OVERLAP_BYTES)] ?? end;
  return Math.max(end - LONGEST_OVERLAP, Math.min(end - OVERLAP, start));
}

/** Every encoder writes a sequence of these unchanged. */
const UNESCAPED = /[\w.-]{4,}/gu;

const GRAM = 4;

/** More would not make the search faster. */
const LONGEST_STRIDE = 8;

/**
 * Rules out quickly that a text contains any of the forms: for every form, it searches for a part that no encoder escapes, by
 * its sequences of four characters, at every `stride`th place only.
 */
class PieceFilter {
  /** False if a form has no such part, so every text with escapes has to be decoded. */
  readonly complete: boolean;
  readonly #stride: number;
  /** Marks the first two characters of all sequences, in all spellings that fold to them. */
  readonly #pairs = new Uint8Array(1 << 16);
  readonly #anchors = new Map<number, Array<{ readonly anchor: string; readonly offset: number }>>();

  constructor(forms: readonly SecretForm[]) {
    const anchors = new Set<string>();
    let complete = true;
    for (const { folded, inBase64 } of forms) {
      const anchor = inBase64 ? folded : longest(folded.match(UNESCAPED) ?? []);
      if (anchor === undefined) complete = false;
      anchors.add((anchor ?? folded).slice(0, LONGEST_STRIDE + GRAM - 1));
    }
    this.complete = complete;
    const shortest = Math.min(...[...anchors].map((anchor) => anchor.length));
    this.#stride = Math.max(1, shortest - GRAM + 1);
    for (const anchor of anchors) this.#add(anchor);
  }

  mayMatch(text: string): boolean {
    const stride = this.#stride;
    const pairs = this.#pairs;
    for (let at = 0; at < text.length; at += stride) {
      if (pairs[((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff)] === 0) continue;
      if (this.#isAnchor(text, at, gramAt(text, at))) return true;
    }
    return false;
  }

  #add(anchor: string): void {
    for (let offset = 0; offset < this.#stride; offset += 1) {
      const gram = gramAt(anchor, offset);
      for (const first of unfolded(gram & 0xff)) {
        for (const second of unfolded((gram >> 8) & 0xff)) this.#pairs[(first << 8) | second] = 1;
      }
      const known = this.#anchors.get(gram);
      if (known === undefined) this.#anchors.set(gram, [{ anchor, offset }]);
      // A few candidates are compared; for a sequence with more, finding it counts as a match.
      else known.push({ anchor, offset });
    }
  }

  #isAnchor(text: string, at: number, gram: number): boolean {
    const candidates = this.#anchors.get(gram);
    if (candidates === undefined) return false;
    if (candidates.length > MOST_CANDIDATES) return true;
    return candidates.some(({ anchor, offset }) => isFoldedAt(anchor, text, at - offset));
  }
}

const MOST_CANDIDATES = 8;

function longest(parts: readonly string[]): string | undefined {
  let found: string | undefined;
  for (const part of parts) if (found === undefined || part.length > found.length) found = part;
  return found;
}

function foldedAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 256 ? (FOLD[code] ?? SKIPPED) : SKIPPED;
}

/** Four folded characters as one number. Beyond the end of the text, a character counts as 0. */
function gramAt(text: string, at: number): number {
  return (
    foldedAt(text, at) | (foldedAt(text, at + 1) << 8) | (foldedAt(text, at + 2) << 16) | (foldedAt(text, at + 3) << 24)
  );
}

/** All bytes that fold to this one. */
function unfolded(folded: number): readonly number[] {
  if (folded === 0x2d) return [0x2d, 0x2b, 0x20];
  return folded === 0x5f ? [0x5f, 0x2f] : [folded];
}

function isFoldedAt(anchor: string, text: string, start: number): boolean {
  if (start < 0 || start + anchor.length > text.length) return false;
  for (let index = 0; index < anchor.length; index += 1) {
    if (foldedAt(text, start + index) !== anchor.charCodeAt(index)) return false;
  }
  return true;
}

/** Of both alphabets of base64. */
function isDigit64(byte = 0): boolean {
  return /[\w+/-]/u.test(String.fromCharCode(byte));
}

/** Finds all forms in one pass (Aho and Corasick, 1975). */
class Automaton {
  /** From `state * 256 + byte` to the next state. */
  readonly #next = new Map<number, number>();
  readonly #fallback: number[] = [0];
  /** The length of the longest form that ends in a state; 0 if none does. */
  readonly #matched: number[] = [0];
  readonly #inBase64: boolean[] = [false];

  constructor(forms: readonly SecretForm[]) {
    for (const form of forms) this.#add(form);
    this.#link();
  }

  find({ bytes, from, to, length }: DecodedText, found: RangeList): void {
    /** The places of the bytes that were not skipped. */
    const places = new Int32Array(length);
    let read = 0;
    let state = 0;
    for (let at = 0; at < length; at += 1) {
      const byte = FOLD[bytes[at] ?? 0] ?? SKIPPED;
      if (byte === SKIPPED) continue;
      places[read] = at;
      read += 1;
      state = this.#step(state, byte);
      const size = this.#matched[state] ?? 0;
      if (size === 0) continue;
      const first = places[read - size] ?? 0;
      const inBase64 = this.#inBase64[state] === true;
      const before = inBase64 && first > 0 && isDigit64(bytes[first - 1]) ? 1 : 0;
      const after = inBase64 && at + 1 < length && isDigit64(bytes[at + 1]) ? 1 : 0;
      found.add(from[first - before] ?? 0, to[at + after] ?? 0);
    }
  }

  #step(from: number, byte: number): number {
    for (let state = from; ; state = this.#fallback[state] ?? 0) {
      const next = this.#next.get(state * 256 + byte);
      if (next !== undefined) return next;
      if (state === 0) return 0;
    }
  }

  #add({ folded, inBase64 }: SecretForm): void {
    let state = 0;
    for (let index = 0; index < folded.length; index += 1) {
      const key = state * 256 + folded.charCodeAt(index);
      let next = this.#next.get(key);
      if (next === undefined) {
        next = this.#matched.push(0) - 1;
        this.#inBase64.push(false);
        this.#next.set(key, next);
      }
      state = next;
    }
    this.#matched[state] = folded.length;
    this.#inBase64[state] = inBase64;
  }

  /** The map has the transitions in the order of insertion, which is not by depth, so they are sorted first. */
  #link(): void {
    const children: Array<Array<readonly [byte: number, state: number]>> = this.#matched.map(() => []);
    for (const [key, state] of this.#next) children[Math.floor(key / 256)]?.push([key % 256, state]);
    const queue = [0];
    for (const parent of queue) {
      for (const [byte, state] of children[parent] ?? []) {
        queue.push(state);
        const fallback = parent === 0 ? 0 : this.#step(this.#fallback[parent] ?? 0, byte);
        this.#fallback[state] = fallback;
        if ((this.#matched[state] ?? 0) > 0) continue;
        this.#matched[state] = this.#matched[fallback] ?? 0;
        this.#inBase64[state] = this.#inBase64[fallback] ?? false;
      }
    }
  }
}
