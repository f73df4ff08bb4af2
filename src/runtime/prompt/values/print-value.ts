import {
  PromptOutput,
  ArgumentList,
  Float,
  isList,
  isString,
  type Layout,
  LazyList,
  type RichText,
  Special,
  type Value,
  writtenText,
} from './value.ts';
import type { Work } from './work.ts';

/** Four spaces for each level, as class instances print. */
const INDENT = '    ';
/** Lists inside lists: arguments are checked to be shallower, so only a template can build deeper ones. */
const MAX_PRINT_DEPTH = 150;

/** Writes a value as `{{ value }}` does. */
export function printValue(out: PromptOutput, value: Value): void {
  if (typeof value === 'string') out.write(value);
  else if (value === undefined) return;
  else if (value === null) out.write('null');
  else if (value instanceof Special) value.print(out);
  else if (typeof value === 'number' || value instanceof Float) out.write(formatNumber(value));
  else printInside(out, value, 'line');
}

/** The printed form of a value for joining and filters: a string, or rich text when media or roles are in it. */
export function printedText(value: Value, work: Work): string | RichText {
  if (isString(value)) return value;
  if (typeof value === 'number') return formatNumber(value);
  if (value === null) return 'none';
  const out = new PromptOutput(work);
  printValue(out, value);
  return writtenText(out);
}

/** The printed form without segments. */
export function plainTextOf(value: Value, work: Work): string {
  const text = printedText(value, work);
  return typeof text === 'string' ? text : text.plain();
}

/** Writes a value as it appears in a list or map: strings are quoted. */
export function printInside(out: PromptOutput, value: Value, layout: Layout, depth = 0): void {
  out.work.spend(1);
  if (depth > MAX_PRINT_DEPTH) out.write('…');
  else if (typeof value === 'string') out.write(quote(value));
  else if (value instanceof Special) value.printInside(out, layout);
  else if (isList(value)) printList(out, value, layout, depth);
  else if (typeof value === 'object' && value !== null && !(value instanceof Float)) {
    printEntries(out, value instanceof Map ? value : Object.entries(value), { layout, depth });
  } else out.write(printScalar(value));
}

function printScalar(value: undefined | null | boolean | number | Float): string {
  if (value === undefined) return 'undefined';
  if (value === null) return 'none';
  return typeof value === 'boolean' ? String(value) : formatInside(value);
}

function printList(out: PromptOutput, list: readonly Value[], layout: Layout, depth: number): void {
  if (list instanceof LazyList) {
    out.write('<iterator>');
    return;
  }
  const inner = innerLayout(layout);
  out.write('[');
  let first = true;
  for (const item of list) {
    separate(out, layout, first);
    if (item === null && list instanceof ArgumentList) out.write('null');
    else printInside(out, item, inner, depth + 1);
    first = false;
  }
  close(out, layout, first, ']');
}

interface EntriesOptions {
  readonly layout: Layout;
  readonly depth?: number;
  readonly nullText?: string;
}

/** Writes a map. On several lines, each entry ends with a comma. */
export function printEntries(
  out: PromptOutput,
  entries: Iterable<readonly [Value, Value]>,
  { layout, depth = 0, nullText = 'none' }: EntriesOptions,
): void {
  const inner = innerLayout(layout);
  out.write('{');
  let first = true;
  for (const [key, value] of entries) {
    separate(out, layout, first);
    printInside(out, key, inner, depth + 1);
    out.write(': ');
    if (value === null) out.write(nullText);
    else printInside(out, value, inner, depth + 1);
    first = false;
  }
  close(out, layout, first, '}');
}

function innerLayout(layout: Layout): Layout {
  return layout === 'line' ? layout : layout + 1;
}

function separate(out: PromptOutput, layout: Layout, first: boolean): void {
  if (layout === 'line') out.write(first ? '' : ', ');
  else out.write(`${first ? '' : ','}\n${INDENT.repeat(layout + 1)}`);
}

function close(out: PromptOutput, layout: Layout, empty: boolean, bracket: string): void {
  out.write(layout === 'line' || empty ? bracket : `,\n${INDENT.repeat(layout)}${bracket}`);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\0', '\\0'],
]);
const TO_ESCAPE = /["\\]|[\p{C}\p{Z}\p{Grapheme_Extend}](?<! )/gu;

/** Matches most strings, which contain nothing to escape; much faster than a search for characters to escape. */
const PLAIN = /^[ !#-[\]-~]*$/u;

/** A string in double quotes; quotes, backslashes, and characters that show nothing of their own are escaped. */
function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${text.replace(TO_ESCAPE, (character) => ESCAPES.get(character) ?? hexEscape(character))}"`;
}

function hexEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Writes a number on its own in decimal notation, without an exponent; floats keep a point. */
export function formatNumber(value: number | Float): string {
  if (value instanceof Float) return `${expandFloat(value.value)}.0`;
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Number.isInteger(value) ? formatInteger(value) : expandFloat(value);
}

/** Writes a number inside a list or map: small and large floats have an exponent. */
function formatInside(value: number | Float): string {
  return hasExponent(value, 1e-4) ? withExponent(value) : formatNumber(value);
}

/** Writes a number in JSON. */
export function formatForJson(value: number | Float): string {
  return hasExponent(value, 1e-5) ? withExponent(value) : formatNumber(value);
}

function formatInteger(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}

function hasExponent(value: number | Float, least: number): boolean {
  const size = Math.abs(value instanceof Float ? value.value : value);
  if (value instanceof Float) return size >= 1e16;
  return size < least && !Number.isInteger(value);
}

function withExponent(value: number | Float): string {
  return (value instanceof Float ? value.value : value).toExponential().replace('e+', 'e');
}

/** The shortest digits that read back as this number, without an exponent. */
function expandFloat(value: number): string {
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const [mantissa = '', exponent] = text.split('e');
  if (exponent === undefined) return text;
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.');
  const digits = whole + fraction;
  const shift = Number(exponent);
  return shift < 0 ? `${sign}0.${'0'.repeat(-shift - 1)}${digits}` : sign + digits.padEnd(shift + 1, '0');
}
