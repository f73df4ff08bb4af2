const QUOTE = 34;
const COMMA = 44;
const OPENING_LIST = 91;
const BACKSLASH = 92;
const OPENING_OBJECT = 123;

/**
 * Returns a value inside a JSON text as it is written there, with all digits of its numbers and its keys in their order, which
 * JSON.parse does not keep. Undefined if there is no such value. `json` must be valid: JSON.parse read it. Takes one pass.
 */
export function rawValueAt(json: string, path: ReadonlyArray<string | number>): string | undefined {
  let span: Span | undefined = trimmed(json, 0, json.length);
  for (const step of path) {
    span = typeof step === 'string' ? memberOf(json, span, step) : itemOf(json, span, step);
    if (span === undefined) return undefined;
  }
  return json.slice(span.start, span.end);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The last member of this name: JSON.parse takes it too. */
function memberOf(json: string, object: Span, name: string): Span | undefined {
  if (json.charCodeAt(object.start) !== OPENING_OBJECT) return undefined;
  let found: Span | undefined;
  for (const { start, end } of partsOf(json, object)) {
    const afterKey = endOfString(json, start);
    if (JSON.parse(json.slice(start, afterKey)) !== name) continue;
    found = trimmed(json, json.indexOf(':', afterKey) + 1, end);
  }
  return found;
}

function itemOf(json: string, list: Span, index: number): Span | undefined {
  if (json.charCodeAt(list.start) !== OPENING_LIST) return undefined;
  let at = 0;
  for (const part of partsOf(json, list)) {
    if (at === index) return part;
    at += 1;
  }
  return undefined;
}

/** The members of an object with their keys, or the items of a list. */
function* partsOf(json: string, { start, end }: Span): Generator<Span> {
  let depth = 0;
  let from = start + 1;
  for (let at = start + 1; at < end - 1; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at) - 1;
    else if (code === COMMA && depth === 0) {
      yield trimmed(json, from, at);
      from = at + 1;
    } else if (isBracket(code)) depth += isOpening(code) ? 1 : -1;
  }
  const last = trimmed(json, from, end - 1);
  if (last.start < last.end) yield last;
}

/** `[`, `]`, `{` or `}`. */
function isBracket(code: number): boolean {
  return isOpening(code) || (code | 32) === 125;
}

/** `[` or `{`, which differ in one bit. */
function isOpening(code: number): boolean {
  return (code | 32) === OPENING_OBJECT;
}

/** The index after the quote that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** JSON has four characters of white space; the others of JavaScript do not occur between the values of valid JSON. */
function trimmed(json: string, start: number, end: number): Span {
  let [from, to] = [start, end];
  while (from < to && json.charCodeAt(from) <= SPACE) from += 1;
  while (to > from && json.charCodeAt(to - 1) <= SPACE) to -= 1;
  return { start: from, end: to };
}

const SPACE = 32;
