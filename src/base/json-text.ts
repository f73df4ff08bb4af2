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

function endOfValue(json: string, start: number): number {
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
function endOfString(json: string, start: number): number {
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
