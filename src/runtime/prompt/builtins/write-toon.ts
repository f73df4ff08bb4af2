import { trimWhiteSpace } from '../../../base/white-space.ts';
import type { Float } from '../values/value.ts';
import { formatNumber } from '../values/write-number.ts';
import { isEntries, isItems, type Data } from './to-json.ts';

export interface ToonOptions {
  /** Spaces for each level. */
  readonly indent: number;
  readonly delimiter: string;
  /** Written before the length of a list: `#` or nothing. */
  readonly lengthMarker: string;
}

type Entries = ReadonlyMap<string, Data>;
type Scalar = null | boolean | number | string | Float;

/**
 * Writes token-oriented object notation (https://github.com/toon-format/spec): indentation instead of braces, and lists of
 * objects with the same keys as tables. Keys are in alphabetical order.
 */
export function writeToon(data: Data, options: ToonOptions): string {
  return new ToonWriter(options).document(data);
}

class ToonWriter {
  readonly #options: ToonOptions;
  readonly #lines: string[] = [];

  constructor(options: ToonOptions) {
    this.#options = options;
  }

  document(data: Data): string {
    if (isEntries(data)) this.#entries(data, 0);
    else if (isItems(data)) this.#list('', data, 0);
    else this.#line(0, this.#scalar(data));
    return this.#lines.join('\n');
  }

  #entries(entries: Entries, level: number): void {
    for (const [key, value] of sorted(entries)) this.#entry(writeKey(key), value, level);
  }

  #entry(key: string, value: Data, level: number): void {
    if (isItems(value)) this.#list(key, value, level);
    else if (isEntries(value)) {
      this.#line(level, `${key}:`);
      this.#entries(value, level + 1);
    } else this.#line(level, `${key}: ${this.#scalar(value)}`);
  }

  /** `prefix` is the key, or `- ` inside another list. */
  #list(prefix: string, items: readonly Data[], level: number): void {
    const { delimiter } = this.#options;
    const header = `${prefix}${this.#length(items.length)}`;
    const columns = columnsOf(items);
    if (items.length === 0) this.#line(level, `${header}:`);
    else if (items.every(isScalar)) {
      this.#line(level, `${header}: ${items.map((item) => this.#scalar(item)).join(delimiter)}`);
    } else if (columns !== undefined) {
      this.#line(level, `${header}{${columns.map(writeKey).join(delimiter)}}:`);
      for (const item of items) this.#row(item, columns, level + 1);
    } else {
      this.#line(level, `${header}:`);
      for (const item of items) this.#item(item, level + 1);
    }
  }

  #length(count: number): string {
    const { delimiter, lengthMarker } = this.#options;
    return `[${lengthMarker}${count}${delimiter === ',' ? '' : delimiter}]`;
  }

  #row(item: Data, columns: readonly string[], level: number): void {
    if (!isEntries(item)) return;
    const cells = columns.map((column) => item.get(column) ?? null);
    this.#line(level, cells.map((cell) => (isScalar(cell) ? this.#scalar(cell) : '')).join(this.#options.delimiter));
  }

  #item(item: Data, level: number): void {
    if (isItems(item)) this.#list('- ', item, level);
    else if (isEntries(item)) this.#objectItem(item, level);
    else this.#line(level, `- ${this.#scalar(item)}`);
  }

  /** Writes the first entry on the line of the dash, the others below it. */
  #objectItem(entries: Entries, level: number): void {
    const at = this.#lines.length;
    if (entries.size === 0) return this.#line(level, '-');
    this.#entries(entries, level + 1);
    const pad = this.#pad(level);
    this.#lines[at] = `${pad}- ${(this.#lines[at] ?? '').trimStart()}`;
  }

  #line(level: number, text: string): void {
    this.#lines.push(this.#pad(level) + text);
  }

  #pad(level: number): string {
    return ' '.repeat(this.#options.indent * level);
  }

  #scalar(data: Scalar): string {
    if (data === null) return 'null';
    if (typeof data === 'boolean') return String(data);
    if (typeof data === 'string') return isPlain(data, this.#options.delimiter) ? data : quoted(data);
    return formatNumber(data).replace(/\.0$/u, '');
  }
}

function isScalar(data: Data): data is Scalar {
  return !isItems(data) && !isEntries(data);
}

function sorted(entries: Entries): readonly (readonly [string, Data])[] {
  return [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the columns of a table: the keys of the objects, if all have the same keys and all values are scalars. */
function columnsOf(items: readonly Data[]): readonly string[] | undefined {
  const first = items[0];
  if (first === undefined || !isEntries(first) || first.size === 0) return undefined;
  const keys = [...first.keys()];
  const alike = items.every(
    (item) =>
      isEntries(item) &&
      item.size === keys.length &&
      keys.every((key) => isScalar(item.get(key) ?? null) && item.has(key)),
  );
  return alike ? keys.toSorted() : undefined;
}

const NUMBER_LIKE = /^-?\p{Nd}+(?:\.\p{Nd}+)?(?:e[+-]?\p{Nd}+)?$/u;

function isPlain(text: string, delimiter: string): boolean {
  if (text === '' || trimWhiteSpace(text) !== text || text.startsWith('- ')) return false;
  if (text === 'true' || text === 'false' || text === 'null' || NUMBER_LIKE.test(text)) return false;
  return !text.includes(delimiter) && !/[:"\\[\]{}\n\r\t]/u.test(text);
}

function writeKey(key: string): string {
  return /^[A-Za-z_][\w.]*$/u.test(key) ? key : quoted(key);
}

function quoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return `"${escaped}"`;
}
