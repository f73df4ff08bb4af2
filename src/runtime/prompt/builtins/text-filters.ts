import { TemplateFault, assertTextLength, type Work } from '../values/work.ts';
import { plainTextOf, printedText } from '../values/print-value.ts';
import { isTrue, LazyList, numberOf, RichText, type Value } from '../values/value.ts';

/** Applies a change of letters to a string, or to each fragment of text between segments. */
export function mapText(value: Value, change: (text: string) => string, work: Work): string | RichText {
  const text = printedText(value, work);
  return typeof text === 'string' ? change(text) : text.mapText(change);
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
}

/** Writes a capital after blank space and punctuation, and lower case otherwise. */
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

/** Whether the UTF-16 unit is blank space or ASCII punctuation. */
function isBoundary(unit: number): boolean {
  if (unit > 127) return /\s/u.test(String.fromCharCode(unit));
  const letter = unit >= 97 && unit <= 122;
  const digit = unit >= 48 && unit <= 57;
  return !letter && !digit && unit !== 127 && (unit > 31 || (unit > 8 && unit < 14));
}

/** Trims blank space, or the given characters. */
export function trimText(value: Value, characters: Value, work: Work): string | RichText {
  const text = printedText(value, work);
  const set = characterSet(characters, work);
  if (typeof text === 'string') return trimEnd(trimStart(text, set), set);
  return text.mapEdges(
    (first) => trimStart(first, set),
    (last) => trimEnd(last, set),
  );
}

/** The characters to trim; undefined, for blank space, when none are given. */
export function characterSet(characters: Value, work: Work): ReadonlySet<string> | undefined {
  return characters === undefined || characters === null ? undefined : new Set(plainTextOf(characters, work));
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

/** Replaces a literal string, at most `count` times. Checks the resulting length first. */
export function replaceText(value: Value, [from, to, count]: readonly Value[], work: Work): string | RichText {
  const search = plainTextOf(from, work);
  const replacement = plainTextOf(to, work);
  let left = limitOf(count);
  const replace = (text: string): string => {
    const parts = splitAt(text, search, left);
    left -= parts.length - 1;
    assertTextLength(text.length + parts.length * Math.max(0, replacement.length - search.length));
    return parts.join(replacement);
  };
  return mapText(value, replace, work);
}

/** Indents each line, except the first and blank ones unless the arguments include them. */
export function indentText(value: Value, [width, first, blank]: readonly Value[], work: Work): string | RichText {
  const spaces = ' '.repeat(countOf(width, 4));
  const withBlank = isTrue(blank, work);
  const indent = (text: string): string => {
    const lines = text.split('\n');
    assertTextLength(text.length + lines.length * spaces.length);
    return lines.map((line, i) => (i > 0 && (line !== '' || withBlank) ? spaces + line : line)).join('\n');
  };
  const result = mapText(value, indent, work);
  if (!isTrue(first, work) || (result === '' && !withBlank)) return result;
  return typeof result === 'string' ? spaces + result : new RichText([spaces, ...result.fragments]);
}

/** Reads a count from an argument: a whole number from 0 to 100,000. */
export function countOf(value: Value, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number) || number < 0 || number > 100_000) {
    throw new TemplateFault('a count must be a whole number from 0 to 100000');
  }
  return number;
}

export function splitText(value: Value, args: readonly Value[], work: Work): LazyList {
  return LazyList.from(splitBy(value, args, work)) as LazyList;
}

/** Splits at the separator, or at blank space when there is none, at most `limit` times. */
export function splitBy(value: Value, [separator, limit]: readonly Value[], work: Work): readonly string[] {
  const text = plainTextOf(value, work);
  const most = limitOf(limit);
  if (separator === undefined || separator === null) return splitAtSpace(text, most);
  return splitAt(text, plainTextOf(separator, work), most);
}

function splitAt(text: string, by: string, most: number): readonly string[] {
  const parts = by === '' ? ['', ...text, ''] : text.split(by);
  if (most < 0 || parts.length <= most + 1) return parts;
  return [...parts.slice(0, most), parts.slice(most).join(by)];
}

/** Reads the largest number of changes; a negative number, the default, means no limit. */
function limitOf(value: Value): number {
  if (value === undefined || value === null) return -1;
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number)) throw new TemplateFault('a limit must be a whole number');
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

export function linesOf(value: Value, work: Work): readonly string[] {
  const text = plainTextOf(value, work);
  if (text === '') return [];
  const lines = text.split(/\r?\n/u);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
