import {
  BACKTICK,
  COLON,
  EQUALS,
  HASH,
  isSpace,
  isWordCharacter,
  LESS_THAN,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  closersOf,
  codeAt,
  DOT,
  DOUBLE_QUOTE,
  SINGLE_QUOTE,
  isDigit,
  MINUS,
  skipSpace,
  SLASH,
} from './scan/characters.ts';
import { LOOK_AHEAD, type Verdict } from './scan/cursor.ts';

/** Reads one list or object at a time, from text that arrives in deltas of any size. */
export interface ValueSource<T> {
  /** The outermost value; undefined until its bracket has been read. */
  readonly root: T | undefined;
  /** The value is complete, or the source gave up. */
  readonly done: boolean;
  /** The source can read neither the value nor the text after it. */
  readonly gaveUp: boolean;
  /** Begins another value. */
  restart(inFence: boolean): void;
  /**
   * Reads on from `from`. Returns the position up to which the text is consumed; the caller passes the rest again, in
   * front of the next delta. `isLast`: no more text follows.
   */
  read(text: string, from: number, isLast: boolean): number;
}

/** A part of a reply that can be the answer. Offsets count from the start of the reply. */
export interface Candidate<T> {
  readonly value: T;
  readonly from: number;
  /** The offset of its end; Infinity while it is being read. */
  to: number;
  /** The number of the fence around it, counted from 1; 0 outside of fences. */
  readonly fence: number;
}

/** The text inside a fence. */
export interface FenceBody {
  readonly from: number;
  readonly to: number;
  readonly number: number;
}

/**
 * Finds the objects and lists in a reply, which can be in fences, in prose, or the whole reply. It skips the text
 * between `<think>` and `</think>`. The reply arrives in deltas of any size; each takes time in proportion to its length.
 */
export class CandidateFinder<T> {
  readonly candidates: Candidate<T>[] = [];
  readonly fences: FenceBody[] = [];
  /** The end of the last thought; text before it is not the answer. */
  thoughtsEnd = 0;
  /** The reader gave up on a value; the finder does not read the rest of the reply. */
  gaveUp = false;
  readonly #readThoughts: boolean;
  #tail = '';
  /** The offset in the reply of the text at hand. */
  #base = 0;
  readonly #reader: ValueSource<T>;
  #reading = false;
  #readerStart = 0;
  #open: Candidate<T> | undefined = undefined;
  #fence = 0;
  #fenceCount = 0;
  #fenceStart = 0;
  /** The tag that ends the thought being skipped; empty outside of thoughts. */
  #thought = '';
  #thoughtStart = Infinity;
  /** The text at hand is first on its line. */
  #startsLine = true;
  /** The quotes that are open on the line, as bits of QUOTES. */
  #quotes = 0;
  /** The last character of the text before the text at hand. */
  #lastCode = 0;
  /** The position up to which the text was consumed before the finder needed more. */
  #waitAt = 0;

  /** `readThoughts`: look inside thoughts as well, for replies that contain nothing else. */
  constructor(reader: ValueSource<T>, readThoughts = false) {
    this.#reader = reader;
    this.#readThoughts = readThoughts;
  }

  /** The start of a thought that has no end; Infinity if there is none. */
  get openThought(): number {
    return this.#thoughtStart;
  }

  /** The offset up to which the reply has been read; the meaning of the text after it depends on text to come. */
  get consumed(): number {
    return this.#base;
  }

  /** The start of the text in the fence that has not ended; undefined outside of fences. */
  get openFence(): number | undefined {
    return this.#fence > 0 ? this.#fenceStart : undefined;
  }

  push(delta: string): void {
    this.#advance(this.#tail === '' ? delta : this.#tail + delta, false);
  }

  finish(): void {
    this.readWhole(this.#tail);
  }

  /** Reads a reply that has arrived as a whole. */
  readWhole(text: string): void {
    this.#advance(text, true);
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
    if (at > 0) this.#lastCode = text.charCodeAt(at - 1);
    this.#tail = at === 0 ? text : text.slice(at);
  }

  /** Keeps the text from `at` on until more has arrived. Always returns -1. */
  #wait(at: number): number {
    this.#waitAt = at;
    return -1;
  }

  // --- inside a value ------------------------------------------------------------------------------------------------

  #read(text: string, from: number, isLast: boolean): number {
    const reader = this.#reader;
    const at = reader.read(text, from, isLast);
    if (this.#open === undefined && reader.root !== undefined) this.#openCandidate(reader.root);
    if (!reader.done) return this.#wait(at);
    this.#reading = false;
    this.#startsLine = false;
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

  // --- between values ------------------------------------------------------------------------------------------------

  #seek(text: string, from: number, isLast: boolean): number {
    if (this.#thought !== '') return this.#skipThought(text, from, isLast);
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === LINE_FEED) {
        this.#startsLine = true;
        this.#quotes = 0;
        continue;
      }
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE || code === BACKTICK) this.#countQuote(text, at, code);
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        const verdict = this.#opensValue(text, at, isLast);
        if (verdict === 'yes') return this.#startReader(at);
        if (verdict === 'wait') return this.#wait(at);
        this.#startsLine = false;
      } else if (code === BACKTICK || code === LESS_THAN) {
        const next = code === BACKTICK ? this.#backticks(text, at, isLast) : this.#tag(text, at, isLast);
        if (next !== at) return next;
        this.#startsLine = false;
      } else if (!isSpace(code)) this.#startsLine = false;
    }
    return text.length;
  }

  /** Opens or closes a quotation. An apostrophe after a letter does neither. */
  #countQuote(text: string, at: number, code: number): void {
    const before = at > 0 ? text.charCodeAt(at - 1) : this.#lastCode;
    if (code !== SINGLE_QUOTE || !isWordCharacter(before)) this.#quotes ^= QUOTES[code] ?? 0;
  }

  /** Is the bracket at `at` the last character of a quotation, as in `Lines start with "[" here`? */
  #isQuoted(text: string, at: number, isLast: boolean): Verdict {
    const code = codeAt(text, at + 1);
    if (code < 0 && !isLast) return 'wait';
    if ((this.#quotes & (QUOTES[code] ?? 0)) === 0) return 'no';
    if (at + 2 >= text.length && !isLast) return 'wait';
    const after = codeAt(text, at + 2);
    return isWordCharacter(after) || after === code || after === OPEN_BRACE || after === OPEN_BRACKET ? 'no' : 'yes';
  }

  #opensValue(text: string, at: number, isLast: boolean): Verdict {
    if (this.#quotes !== 0) {
      const isQuoted = this.#isQuoted(text, at, isLast);
      if (isQuoted !== 'no') return isQuoted === 'yes' ? 'no' : 'wait';
    }
    if (this.#startsLine && (this.#fence > 0 || this.#base + at === 0)) return 'yes';
    return text.charCodeAt(at) === OPEN_BRACE
      ? objectAhead(text, at + 1, isLast)
      : listAhead(text, at + 1, isLast, this.#startsLine);
  }

  /** Three backticks open or close a fence. Returns the position to go on from: `at` itself if they are plain text. */
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
    const tagged = at < limit && text.charCodeAt(at) === LINE_FEED;
    this.#fenceCount += 1;
    this.#fence = this.#fenceCount;
    this.#startsLine = true;
    this.#fenceStart = this.#base + (tagged ? at + 1 : from);
    return tagged ? at + 1 : from;
  }

  #endFence(to: number): void {
    this.fences.push({ from: this.#fenceStart, to, number: this.#fence });
    this.#fence = 0;
    this.#startsLine = false;
  }

  // --- thoughts ------------------------------------------------------------------------------------------------------

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

/** The bits of the quotation marks. */
const QUOTES: Readonly<Record<number, number>> = { [DOUBLE_QUOTE]: 1, [SINGLE_QUOTE]: 2, [BACKTICK]: 4 };

/** A character of the language tag after the backticks of a fence. */
function isTagCharacter(code: number): boolean {
  if (isWordCharacter(code) || code === HASH) return true;
  return (code !== LINE_FEED && isSpace(code)) || (code >= 43 && code <= 47);
}

/** Tags between which models write their thoughts. */
const THOUGHT_TAGS = ['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'reflection', 'scratchpad'];

/** The length of the longest `</tag>`. */
const LONGEST_TAG = 14;

/** The tag that opens a thought at the `<` at `at`; empty if there is none, `wait` if the text ends too early. */
function openingThought(text: string, at: number, isLast: boolean): string {
  const tag = THOUGHT_TAGS.find((name) => text.startsWith(`<${name}>`, at));
  if (tag !== undefined) return tag;
  const rest = text.length - at;
  if (isLast || rest >= LONGEST_TAG) return '';
  const head = text.slice(at);
  const possible = THOUGHT_TAGS.some((name) => `<${name}>`.startsWith(head) || `</${name}>`.startsWith(head));
  const closed = THOUGHT_TAGS.some((name) => head.startsWith(`</${name}>`));
  return possible && !closed ? 'wait' : '';
}

/** The length of the tag that closes a thought at the `<` at `at`; 0 if there is none. */
function closingThought(text: string, at: number): number {
  const tag = THOUGHT_TAGS.find((name) => text.startsWith(`</${name}>`, at));
  return tag === undefined ? 0 : tag.length + 3;
}

/** Does a key of one or more words without quotes start at `from` and end in a colon on the same line? */
function phraseKeyAhead(text: string, from: number, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COLON || code === EQUALS) return at > from ? 'yes' : 'no';
    if (!isKeyCharacter(code)) return 'no';
  }
  return limit === text.length && !isLast ? 'wait' : 'no';
}

function isKeyCharacter(code: number): boolean {
  if (isWordCharacter(code) || code === MINUS || code === DOT || code === SLASH) return true;
  return code !== LINE_FEED && isSpace(code);
}

// --- containers in prose ---------------------------------------------------------------------------------------------

/**
 * Does the `{` before `from`, in the middle of prose, open an object? Only if a key or the closing brace follows:
 * `{name}` and `{ return x }` are prose.
 */
function objectAhead(text: string, from: number, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(at);
  if (code === CLOSE_BRACE || code === SLASH) return 'yes';
  if (closersOf(code) !== '') return 'yes';
  return phraseKeyAhead(text, at, isLast);
}

/**
 * Does the `[` before `from`, in the middle of prose, open a list? Prose is full of brackets: `[id]`, `[x]`,
 * `[link](url)`, regular expressions.
 */
function listAhead(text: string, from: number, isLast: boolean, startsLine: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return isLast ? 'no' : 'wait';
  const code = text.charCodeAt(at);
  if (code === CLOSE_BRACKET) return at === from ? 'yes' : 'no';
  if (code === OPEN_BRACE || code === OPEN_BRACKET || closersOf(code) !== '') return 'yes';
  if (isDigit(code) || code === MINUS) return numbersAhead(text, at, isLast);
  if (startsLine) return isWordCharacter(code) || code === SLASH ? 'yes' : 'no';
  return beginsWord(text.charAt(at)) ? numbersAhead(text, at, isLast) : 'no';
}

/**
 * Do only numbers and words of JSON follow, up to the closing bracket, to a string, an object, a list or a comment, or to
 * the end of the look-ahead? `[12, p. 3]` and `[1 of 2]` are prose.
 */
function numbersAhead(text: string, from: number, isLast: boolean): Verdict {
  const limit = Math.min(text.length, from + LOOK_AHEAD);
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CLOSE_BRACKET || code === OPEN_BRACKET || code === OPEN_BRACE || closersOf(code) !== '') return 'yes';
    if (code === SLASH && at > from && text.charCodeAt(at + 1) === SLASH) return 'yes';
    if (isNumberCharacter(code) || isSpace(code)) continue;
    if (code === HASH) return isSpace(text.charCodeAt(at - 1)) ? 'yes' : 'no';
    const word = JSON_WORDS.find((each) => text.startsWith(each, at));
    if (word === undefined) return isLast || limit - at >= LONGEST_WORD || !beginsWord(text.slice(at)) ? 'no' : 'wait';
    at += word.length - 1;
  }
  return limit === text.length && !isLast ? 'wait' : 'yes';
}

/** A digit, a sign, a point, a comma, a slash, or the letter of an exponent. */
function isNumberCharacter(code: number): boolean {
  return isDigit(code) || (code >= 43 && code <= 47) || (code | 32) === 101;
}

const JSON_WORDS: readonly string[] = ['null', 'true', 'false'];
const LONGEST_WORD = 5;

/** True for the beginning of `null`, `true` or `false`. */
function beginsWord(text: string): boolean {
  return JSON_WORDS.some((word) => word.startsWith(text));
}
