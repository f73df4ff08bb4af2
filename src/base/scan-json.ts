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

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const NINE = 57;
const BACKSLASH = 92;

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
  let numberStart = -1;
  for (let index = 0; index < bytes.length; index += 1) {
    const code = bytes[index] ?? 0;
    if (quoted) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) quoted = false;
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
