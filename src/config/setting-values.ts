import { DURATION_RULE, durationMs, numberWithUnit } from '../base/duration.ts';
import { err, ok, type Result } from '../base/result.ts';
import { didYouMean } from '../base/suggestion.ts';

/** Parses the text of a setting. The failure completes the sentence `--port is "x", but must be …`. */
export type ParseValue<T> = (text: string) => Result<T, string>;

export const MIB = 2 ** 20;

/** Single letters are powers of 1024, as in Docker and the JVM. */
const SIZE_UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['k', 2 ** 10],
  ['m', 2 ** 20],
  ['g', 2 ** 30],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
]);

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): ParseValue<number> {
  const allowed = err(`a whole number from ${String(min)} to ${String(max)}`);
  return (text) => {
    if (!/^\d{1,15}$/u.test(text)) return allowed;
    const value = Number(text);
    return value < min || value > max ? allowed : ok(value);
  };
}

/** A duration with a unit, in milliseconds: `500ms`, `60s`, `5m`, `2h`, `1d`. Zero needs no unit. */
export function duration(minMs: number): ParseValue<number> {
  const least = minMs === 0 ? '0 or more' : `at least ${String(minMs)}ms`;
  const allowed = err(`${DURATION_RULE} (${least}, at most 24d)`);
  return (text) => {
    const value = durationMs(text);
    return value === undefined || value < minMs ? allowed : ok(value);
  };
}

/** A size in bytes: `10MiB`, `512mb`, `64k`, `1048576`. */
export function size(minBytes: number, maxBytes = 2 ** 40): ParseValue<number> {
  const least = minBytes === 0 ? '0 or more' : `at least ${String(minBytes)} bytes`;
  const allowed = err(`a size such as 64k, 512mb, 10MiB or 1048576 (${least}, at most ${String(maxBytes)} bytes)`);
  return (text) => {
    const value = numberWithUnit(text, SIZE_UNITS);
    return value === undefined || value < minBytes || value > maxBytes ? allowed : ok(Math.floor(value));
  };
}

/** A share, as a percentage or a fraction: `25%`, `0.25`. */
export function share(text: string): Result<number, string> {
  const match = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/u.exec(text);
  const value = Number(match?.[1]) / (match?.[2] === '%' ? 100 : 1);
  return value > 0 && value <= 1 ? ok(value) : err('a share such as 25% or 0.25 (more than 0, at most 100%)');
}

/** One of the words. */
export function keyword<T extends string>(...words: readonly T[]): ParseValue<T> {
  return (text) => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return ok(found);
    return err(`one of ${words.join(', ')}${sentenceAfter(didYouMean(text, words))}`);
  };
}

/** Any of the words, separated by commas or spaces; an empty string means none. */
export function keywords<T extends string>(...words: readonly T[]): ParseValue<readonly T[]> {
  const parse = keyword(...words);
  return (text) => {
    const found = new Set<T>();
    for (const part of text.split(/[\s,]+/u)) {
      if (part === '') continue;
      const parsed = parse(part);
      if (!parsed.ok) return parsed;
      found.add(parsed.value);
    }
    return ok([...found]);
  };
}

const YES: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const NO: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);

/** `true` or `false`; also 1, yes, on and 0, no, off. */
export function yesOrNo(text: string): Result<boolean, string> {
  const word = text.toLowerCase();
  if (YES.has(word)) return ok(true);
  return NO.has(word) ? ok(false) : err('true or false');
}

/** Any string except a blank one; `allowed` describes the value. */
export function nonEmptyString(allowed: string): ParseValue<string> {
  return (text) => (text.trim() === '' || text.includes('\0') ? err(allowed) : ok(text));
}

/** A path prefix such as `/llm` or `/a/b`. Drops a slash at the end; a single slash means no prefix. */
export function pathPrefix(text: string): Result<string, string> {
  const path = text.replace(/\/$/u, '');
  if (path === '' || /^(?:\/[\w.~-]+)+$/u.test(path)) return ok(path);
  return err('a path such as /llm: a slash, then letters, digits, "-", "_", "." or "~"');
}

/** Origins separated by commas or spaces, or `*`. */
export function origins(text: string): Result<readonly string[], string> {
  const found = text.split(/[\s,]+/u).filter((part) => part !== '');
  for (const origin of found) {
    if (origin !== '*' && !isOrigin(origin)) {
      return err('* or origins such as https://app.example.com (scheme, host, port; no path), separated by commas');
    }
  }
  return ok(found.includes('*') ? ['*'] : found);
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/u.test(url.protocol) && url.origin === text.toLowerCase();
}

function sentenceAfter(sentence: string): string {
  return sentence === '' ? '' : `. ${sentence}`;
}
