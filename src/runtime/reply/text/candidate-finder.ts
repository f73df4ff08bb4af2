import { BACKTICK, isSpace, isWordCharacter, LESS_THAN, LINE_FEED, OPEN_BRACE, OPEN_BRACKET } from './characters.ts';
import { listAhead, LOOK_AHEAD, objectAhead, type Verdict } from './look-ahead.ts';
import { closingThought, openingThought } from './thought-tags.ts';
import type { ValueSource } from './value-source.ts';

/** A part of a reply that may be the answer. Offsets count from the start of the reply. */
export interface Candidate<T> {
  readonly value: T;
  readonly from: number;
  /** Where it ends; Infinity while it is being read. */
  to: number;
  /** The fence it stands in, counted from 1; 0 outside of fences. */
  readonly fence: number;
}

/** The text inside a fence. */
export interface FenceBody {
  readonly from: number;
  readonly to: number;
  readonly number: number;
}

/**
 * Finds the objects and lists in a reply: in fences, in prose, or all of it; what stands between `<think>` and
 * `</think>` is passed over. The reply may arrive in pieces; each costs time in proportion to its length.
 */
export class CandidateFinder<T> {
  readonly candidates: Candidate<T>[] = [];
  readonly fences: FenceBody[] = [];
  /** Where the last thought ended: text before it is no answer. */
  thoughtsEnd = 0;
  /** A value was met that the reader gave up; the rest of the reply is not read. */
  gaveUp = false;
  readonly #readThoughts: boolean;
  #tail = '';
  /** Offset of the text at hand in the reply. */
  #base = 0;
  readonly #reader: ValueSource<T>;
  #reading = false;
  #readerStart = 0;
  #open: Candidate<T> | undefined = undefined;
  #fence = 0;
  #fenceCount = 0;
  #fenceStart = 0;
  /** The tag that ends the thought being passed over; empty outside of thoughts. */
  #thought = '';
  #thoughtStart = Infinity;
  /** Only spaces stand between the last line break (or the start of a fence) and here. */
  #lineStart = true;

  /** `readThoughts`: look inside thoughts as well, for replies that have nothing else. */
  constructor(reader: ValueSource<T>, readThoughts = false) {
    this.#reader = reader;
    this.#readThoughts = readThoughts;
  }

  /** Where a thought begins that has no end; Infinity when there is none. */
  get openThought(): number {
    return this.#thoughtStart;
  }

  push(piece: string): void {
    this.#advance(this.#tail === '' ? piece : this.#tail + piece, false);
  }

  finish(): void {
    this.#advance(this.#tail, true);
    if (this.#fence > 0) this.#endFence(this.#base);
  }

  #advance(text: string, isLast: boolean): void {
    let at = 0;
    while ((at < text.length || (isLast && this.#reading)) && !this.gaveUp) {
      const next = this.#reading ? this.#read(text, at, isLast) : this.#seek(text, at, isLast);
      if (next < 0) break;
      at = next;
    }
    if (this.gaveUp) at = text.length;
    at = Math.max(at, this.#waitAt);
    this.#waitAt = 0;
    this.#base += at;
    this.#tail = at === 0 ? text : text.slice(at);
  }

  /** How far the text was used up when more of it is needed. */
  #waitAt = 0;

  #wait(at: number): number {
    this.#waitAt = at;
    return -1;
  }

  // --- inside a value ---------------------------------------------------------------------------------------------

  #read(text: string, from: number, isLast: boolean): number {
    const reader = this.#reader;
    const at = reader.read(text, from, isLast);
    if (this.#open === undefined && reader.root !== undefined) this.#openCandidate(reader.root);
    if (!reader.done) return this.#wait(at);
    this.#reading = false;
    this.#lineStart = false;
    if (reader.gaveUp) {
      this.gaveUp = true;
      this.candidates.pop();
    } else if (this.#open !== undefined) {
      this.#open.to = this.#base + at;
    }
    this.#open = undefined;
    return at;
  }

  #openCandidate(value: T): void {
    this.#open = { value, from: this.#readerStart, to: Infinity, fence: this.#fence };
    this.candidates.push(this.#open);
  }

  #startReader(at: number): number {
    this.#reader.restart(this.#fence > 0);
    this.#reading = true;
    this.#readerStart = this.#base + at;
    return at;
  }

  // --- between values ---------------------------------------------------------------------------------------------

  #seek(text: string, from: number, isLast: boolean): number {
    if (this.#thought !== '') return this.#skipThought(text, from, isLast);
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === LINE_FEED) this.#lineStart = true;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        const verdict = this.#opensValue(text, at, isLast);
        if (verdict === 'yes') return this.#startReader(at);
        if (verdict === 'wait') return this.#wait(at);
        this.#lineStart = false;
      } else if (code === BACKTICK || code === LESS_THAN) {
        const next = code === BACKTICK ? this.#backticks(text, at, isLast) : this.#tag(text, at, isLast);
        if (next !== at) return next;
        this.#lineStart = false;
      } else if (!isSpace(code)) this.#lineStart = false;
    }
    return text.length;
  }

  #opensValue(text: string, at: number, isLast: boolean): Verdict {
    if (this.#lineStart && (this.#fence > 0 || this.#base + at === 0)) return 'yes';
    return text.charCodeAt(at) === OPEN_BRACE
      ? objectAhead(text, at + 1, isLast)
      : listAhead(text, at + 1, isLast, this.#lineStart);
  }

  /** Three backticks open or close a fence. Returns where to go on: `at` itself when they are just text. */
  #backticks(text: string, at: number, isLast: boolean): number {
    if (text.length - at < 3 && !isLast) return this.#wait(at);
    if (!text.startsWith('```', at)) return at;
    if (this.#fence > 0) {
      this.#endFence(this.#base + at);
      return at + 3;
    }
    return this.#startFence(text, at + 3, isLast);
  }

  #startFence(text: string, from: number, isLast: boolean): number {
    let at = from;
    const limit = Math.min(text.length, from + LOOK_AHEAD);
    while (at < limit && isTagCharacter(text.charCodeAt(at))) at += 1;
    if (at === text.length && at < from + LOOK_AHEAD && !isLast) return this.#wait(from - 3);
    const tagged = text.charCodeAt(at) === LINE_FEED;
    this.#fenceCount += 1;
    this.#fence = this.#fenceCount;
    this.#lineStart = true;
    this.#fenceStart = this.#base + (tagged ? at + 1 : from);
    return tagged ? at + 1 : from;
  }

  #endFence(to: number): void {
    this.fences.push({ from: this.#fenceStart, to, number: this.#fence });
    this.#fence = 0;
    this.#lineStart = false;
  }

  #tag(text: string, at: number, isLast: boolean): number {
    if (this.#readThoughts || this.#fence > 0) return at;
    const opening = openingThought(text, at, isLast);
    if (opening === 'wait') return this.#wait(at);
    if (opening !== '') {
      this.#thought = `</${opening}>`;
      this.#thoughtStart = this.#base + at;
      return at + opening.length + 2;
    }
    const closing = closingThought(text, at);
    if (closing === 0) return at;
    this.thoughtsEnd = this.#base + at + closing;
    return at + closing;
  }

  #skipThought(text: string, from: number, isLast: boolean): number {
    const end = text.indexOf(this.#thought, from);
    if (end < 0) return isLast ? text.length : this.#wait(Math.max(from, text.length - this.#thought.length));
    const next = end + this.#thought.length;
    this.#thought = '';
    this.#thoughtStart = Infinity;
    this.thoughtsEnd = this.#base + next;
    return next;
  }
}

function isTagCharacter(code: number): boolean {
  return isWordCharacter(code) || (code !== LINE_FEED && isSpace(code)) || (code >= 43 && code <= 47) || code === 35;
}
