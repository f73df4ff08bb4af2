const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPENING_LIST = 91;
const BACKSLASH = 92;
const CLOSING_LIST = 93;
const OPENING_OBJECT = 123;
const CLOSING_OBJECT = 125;
const SPACE = 32;

/**
 * Returns the source text of a value inside a JSON text. Unlike JSON.parse, this keeps all digits of numbers and the order of keys.
 * Undefined if there is no such value. `json` must be valid, as checked by JSON.parse. Reads the text once, up to the end of the
 * value. The first of several members with the same name counts.
 */
export function rawValueAt(json: string, path: ReadonlyArray<string | number>): string | undefined {
  let start = afterSpace(json, 0);
  for (const step of path) {
    const found = typeof step === 'string' ? memberAt(json, start, step) : itemAt(json, start, step);
    if (found === undefined) return undefined;
    start = found;
  }
  return json.slice(start, endOfValue(json, start));
}

/** Returns the source text of each member of an object. `json` must be valid. The last of several members with the same name counts. */
export function memberTexts(json: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const [name, value] of membersIn(json, afterSpace(json, 0))) {
    members.set(name, json.slice(value, endOfValue(json, value)));
  }
  return members;
}

/** Where the value of this member begins in the object that begins at `start`. */
function memberAt(json: string, start: number, name: string): number | undefined {
  if (json.charCodeAt(start) !== OPENING_OBJECT) return undefined;
  for (const [each, value] of membersIn(json, start)) if (each === name) return value;
  return undefined;
}

/** The members of the object that begins at `start`: the name of each, and where its value begins. */
function* membersIn(json: string, start: number): Generator<readonly [string, number]> {
  let key = afterSpace(json, start + 1);
  while (json.charCodeAt(key) === QUOTE) {
    const afterKey = endOfString(json, key);
    const value = after(json, afterKey, COLON);
    yield [JSON.parse(json.slice(key, afterKey)) as string, value];
    key = after(json, endOfValue(json, value), COMMA);
  }
}

/** Where this item begins in the list that begins at `start`. */
function itemAt(json: string, start: number, index: number): number | undefined {
  if (json.charCodeAt(start) !== OPENING_LIST) return undefined;
  let item = afterSpace(json, start + 1);
  for (let at = 0; at < index && !isEnd(json, item); at += 1) item = after(json, endOfValue(json, item), COMMA);
  return isEnd(json, item) ? undefined : item;
}

/** The end of a list or of its text. */
function isEnd(json: string, at: number): boolean {
  return at >= json.length || json.charCodeAt(at) === CLOSING_LIST;
}

/** Skips white space, and the mark after it if there is one. */
function after(json: string, start: number, mark: number): number {
  const at = afterSpace(json, start);
  return json.charCodeAt(at) === mark ? afterSpace(json, at + 1) : at;
}

/** JSON has four white space characters. No other character with such a code is between its values. */
function afterSpace(json: string, start: number): number {
  let at = start;
  while (json.charCodeAt(at) <= SPACE) at += 1;
  return at;
}

/** The index after the value that begins at `start`. `json` must be valid. */
export function endOfValue(json: string, start: number): number {
  const first = json.charCodeAt(start);
  if (first === QUOTE) return endOfString(json, start);
  let depth = 0;
  let at = start;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (opens(code)) depth += 1;
    else if (code === CLOSING_OBJECT || code === CLOSING_LIST) depth -= 1;
    else if (depth === 0 && (code === COMMA || code <= SPACE)) return at;
    // The bracket of this value, or that of the object or list around a number.
    if (depth === 0 && opens(first)) return at + 1;
    if (depth < 0) return at;
    at = code === QUOTE ? endOfString(json, at) : at + 1;
  }
  return at;
}

function opens(code: number): boolean {
  return code === OPENING_OBJECT || code === OPENING_LIST;
}

/** The index after the closing quote of the string that begins at `start`. */
export function endOfString(json: string, start: number): number {
  let quote = json.indexOf('"', start + 1);
  while (quote > 0 && isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote < 0 ? json.length : quote + 1;
}

/** An odd number of backslashes is before it. */
function isEscaped(json: string, quote: number): boolean {
  let at = quote - 1;
  while (json.charCodeAt(at) === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 0;
}

/** Deeper than any sensible value, and far below the depth at which recursive code would exhaust the stack. */
const MAX_DEPTH = 128;

/** A double written without an exponent has up to 325 characters. JSON.parse rounds all further digits. */
const MAX_NUMBER_LENGTH = 400;

/**
 * The most members of objects and entries of lists in the arguments of a call. Up to this number, each step of a call (checks,
 * prompt, log) takes less than 50 ms of the event loop, at up to a microsecond per value. A prompt with that many values has more
 * than 100,000 tokens.
 */
export const MAX_ARGUMENT_VALUES = 50_000;

/** A shorter text exceeds no limit: a valid one has two brackets for each level. */
const SHORTEST_LARGE = 2 * MAX_DEPTH;

const MINUS = 45;
const NINE = 57;

/**
 * Returns the limit that JSON text (UTF-8) exceeds, of its depth, its values or the length of a number, as the end of a
 * sentence (`The body …`); undefined if the text is within the limits. Takes one pass, whatever the text contains.
 * `maxValues`: the most members of objects and entries of lists. JSON.parse takes up to 2 µs for each of them.
 */
export function excessOfJson(bytes: Uint8Array, maxValues: number): string | undefined {
  if (bytes.length <= SHORTEST_LARGE) return undefined;
  let depth = 0;
  let values = 0;
  let quoted = false;
  let plain = 0;
  let numberStart = -1;
  const marks = new StringMarks(bytes);
  for (let index = 0; index < bytes.length; index += 1) {
    const code = bytes[index] ?? 0;
    if (quoted) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) quoted = false;
      else if (plain < marks.worthwhile) plain += 1;
      else index = marks.next(index) - 1;
      if (code === BACKSLASH || code === QUOTE) plain = 0;
      continue;
    }
    if (code >= MINUS && code <= NINE) {
      if (numberStart < 0) numberStart = index;
      else if (index - numberStart >= MAX_NUMBER_LENGTH) {
        return `contains a number longer than ${MAX_NUMBER_LENGTH} characters at position ${numberStart}`;
      }
      continue;
    }
    if (!isExponent(code)) numberStart = -1;
    if (code === QUOTE) quoted = true;
    else if (code === COMMA) values += 1;
    else if (isOpening(code)) {
      values += 1;
      depth += 1;
      if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
    } else if (isClosing(code)) depth -= 1;
    if (values > maxValues) return `has more than ${maxValues} values in its objects and lists`;
  }
  return undefined;
}

/** A native search that skips fewer bytes takes more time than reading them. */
const SHORTEST_SKIP = 64;

/** Finds the quotes and backslashes of a text from front to back, and searches each byte at most once for each of the two. */
class StringMarks {
  readonly #bytes: Buffer;
  #quote = -1;
  #backslash = -1;
  /** A search is worth its time after so many characters of a string: each search that skips little doubles the number. */
  worthwhile = 16;

  constructor(bytes: Uint8Array) {
    // A buffer searches eight times as fast as its base class.
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The index of the first quote or backslash from `index` on, or the length of the text. */
  next(index: number): number {
    if (this.#quote < index) this.#quote = this.#indexOf(QUOTE, index);
    if (this.#backslash < index) this.#backslash = this.#indexOf(BACKSLASH, index);
    const next = Math.min(this.#quote, this.#backslash);
    if (next - index < SHORTEST_SKIP) this.worthwhile *= 2;
    return next;
  }

  #indexOf(mark: number, from: number): number {
    const found = this.#bytes.indexOf(mark, from);
    return found < 0 ? this.#bytes.length : found;
  }
}

/** `[` or `{`, which differ in one bit. */
function isOpening(code: number): boolean {
  return (code | 32) === 123;
}

function isClosing(code: number): boolean {
  return (code | 32) === 125;
}

/** `e`, `E` or `+`. */
function isExponent(code: number): boolean {
  return (code | 32) === 101 || code === 43;
}
