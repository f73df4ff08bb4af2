import { assertTextLength } from '../text-limit.ts';
import { TemplateFault } from '../template-fault.ts';
import { plainTextOf, textOf } from '../values/print-value.ts';
import { RichText } from '../values/rich-text.ts';
import { isTrue, LazyList, numberOf, type Value } from '../values/value.ts';

/** Applies a change of letters to each piece of text. */
export function mapText(value: Value, change: (text: string) => string): string | RichText {
  const text = textOf(value);
  return typeof text === 'string' ? change(text) : text.mapText(change);
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
}

/** A capital after blank space and punctuation, small letters otherwise. */
export function titleCase(text: string): string {
  const lower = text.toLowerCase();
  let result = '';
  let from = 0;
  let atBoundary = true;
  for (let at = 0; at < lower.length; at += 1) {
    if (atBoundary) {
      result += lower.slice(from, at) + lower.charAt(at).toUpperCase();
      from = at + 1;
    }
    atBoundary = isBoundary(lower.charCodeAt(at));
  }
  return result + lower.slice(from);
}

/** Blank space, or punctuation of ASCII. */
function isBoundary(unit: number): boolean {
  if (unit > 127) return /\s/u.test(String.fromCharCode(unit));
  const letter = unit >= 97 && unit <= 122;
  const digit = unit >= 48 && unit <= 57;
  return !letter && !digit && unit !== 127 && (unit > 31 || (unit > 8 && unit < 14));
}

/** Trims blank space, or the given characters. */
export function trimText(value: Value, characters: Value): string | RichText {
  const text = textOf(value);
  const set = characters === undefined || characters === null ? undefined : new Set(plainTextOf(characters));
  if (typeof text === 'string') return trimEnd(trimStart(text, set), set);
  return text.mapEdges(
    (first) => trimStart(first, set),
    (last) => trimEnd(last, set),
  );
}

export function trimStart(text: string, characters: ReadonlySet<string> | undefined): string {
  if (characters === undefined) return text.trimStart();
  let at = 0;
  while (at < text.length && characters.has(text.charAt(at))) at += 1;
  return text.slice(at);
}

export function trimEnd(text: string, characters: ReadonlySet<string> | undefined): string {
  if (characters === undefined) return text.trimEnd();
  let at = text.length;
  while (at > 0 && characters.has(text.charAt(at - 1))) at -= 1;
  return text.slice(0, at);
}

/** Literal replacement, at most `count` times, with the length checked before it is done. */
export function replaceText(value: Value, [from, to, count]: readonly Value[]): string | RichText {
  const search = plainTextOf(from);
  const replacement = plainTextOf(to);
  let left = limitOf(count);
  return mapText(value, (text) => {
    const parts = splitBy(text, search, left);
    left -= parts.length - 1;
    assertTextLength(text.length + parts.length * Math.max(0, replacement.length - search.length));
    return parts.join(replacement);
  });
}

/** Indents every line but the first one and blank ones, unless asked to. */
export function indentText(value: Value, [width, first, blank]: readonly Value[]): string | RichText {
  const spaces = ' '.repeat(countOf(width, 4));
  const indent = (text: string): string => {
    const lines = text.split('\n');
    assertTextLength(text.length + lines.length * spaces.length);
    return lines.map((line, i) => (i > 0 && (line !== '' || isTrue(blank)) ? spaces + line : line)).join('\n');
  };
  const result = mapText(value, indent);
  if (!isTrue(first)) return result;
  return typeof result === 'string' ? spaces + result : new RichText([spaces, ...result.pieces]);
}

/** A count given as an argument: a whole number of moderate size. */
export function countOf(value: Value, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number) || number < 0 || number > 100_000) {
    throw new TemplateFault('a count has to be a whole number from 0 to 100000');
  }
  return number;
}

export function splitText(value: Value, [separator, limit]: readonly Value[]): LazyList {
  return LazyList.from(splitBy(plainTextOf(value), separator, limit)) as LazyList;
}

/** Splits at blank space without a separator; at most `limit` times. */
export function splitBy(text: string, separator: Value, limit: Value): readonly string[] {
  const most = limitOf(limit);
  if (separator === undefined || separator === null) return splitAtSpace(text, most);
  const by = plainTextOf(separator);
  const parts = by === '' ? ['', ...text, ''] : text.split(by);
  if (most < 0 || parts.length <= most + 1) return parts;
  return [...parts.slice(0, most), parts.slice(most).join(by)];
}

/** How often something is done at most; a negative number, as when nothing is given, means without a limit. */
function limitOf(value: Value): number {
  if (value === undefined || value === null) return -1;
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number)) throw new TemplateFault('a limit has to be a whole number');
  return number;
}

function splitAtSpace(text: string, most: number): readonly string[] {
  const words: string[] = [];
  const word = /\S+/gu;
  for (let found = word.exec(text); found !== null; found = word.exec(text)) {
    if (most >= 0 && words.length === most) return [...words, text.slice(found.index).trimEnd()];
    words.push(found[0]);
  }
  return words;
}

export function linesOf(value: Value): readonly string[] {
  const text = plainTextOf(value);
  if (text === '') return [];
  const lines = text.split(/\r?\n/u);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
