import { TemplateFault, type Work } from '../values/work.ts';
import { ClassInstance, EnumValue, MediaValue } from '../values/argument-values.ts';
import { plainTextOf, formatForJson, formatNumber } from '../values/print-value.ts';
import { entriesOf, Float, isList, type Value } from '../values/value.ts';
import { trimWhiteSpace } from '../../../base/white-space.ts';

interface Conversion {
  /**
   * Which names are written: those of the definitions (`tojson`), or those that the model sees (`format`, which also writes
   * integral floats as integers).
   */
  readonly naming: 'real' | 'alias';
  readonly work: Work;
  readonly depth?: number;
}

/** A value as plain data for the serialisers: JSON's kinds, with maps for objects and `Float` kept. */
export type Data = null | boolean | number | string | Float | readonly Data[] | ReadonlyMap<string, Data>;

export function isEntries(data: Data): data is ReadonlyMap<string, Data> {
  return data instanceof Map;
}

export function isItems(data: Data): data is readonly Data[] {
  return Array.isArray(data);
}

const MAX_DEPTH = 150;

/** Converts a value to plain data. Strings stand for values that JSON has no kind for; data that is too deep is null. */
export function dataOf(value: Value, { naming, work, depth = 0 }: Conversion): Data {
  work.spend(2);
  if (value === undefined || value === null || depth > MAX_DEPTH) return null;
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (value instanceof Float) return naming === 'alias' ? integerOf(value) : value;
  const inside = { naming, work, depth: depth + 1 };
  if (isList(value)) return value.map((item) => dataOf(item, inside));
  if (value instanceof EnumValue) return value.printed;
  if (value instanceof MediaValue) return mediaData(value, naming);
  const entries =
    value instanceof ClassInstance && naming === 'alias' ? value.aliasedEntries() : entriesOf(value, work);
  if (entries === undefined) return plainTextOf(value, work);
  return new Map([...entries].map(([key, item]) => [plainTextOf(key, work), dataOf(item, inside)]));
}

/** `tojson` writes an empty object. `format` fails, because the model would not receive the media. */
function mediaData({ part }: MediaValue, naming: Conversion['naming']): Data {
  if (naming === 'real') return new Map();
  throw new TemplateFault(`text cannot contain ${part.media} data: print the value itself with {{ … }}`);
}

/** Returns an integral float as an integer if 64 bits can hold it. */
function integerOf(float: Float): number | Float {
  return Math.abs(float.value) < 2 ** 63 ? float.value + 0 : float;
}

/** Writes JSON. With an indentation, each entry has its own line. */
export function writeJson(data: Data, indent: number, level = 0): string {
  if (data instanceof Map) {
    const entries = [...(data as ReadonlyMap<string, Data>)];
    const colon = indent > 0 ? ': ' : ':';
    return enclose(
      '{}',
      entries.map(([key, value]) => `${JSON.stringify(key)}${colon}${writeJson(value, indent, level + 1)}`),
      { indent, level },
    );
  }
  if (Array.isArray(data)) {
    const items = (data as readonly Data[]).map((item) => writeJson(item, indent, level + 1));
    return enclose('[]', items, { indent, level });
  }
  return data instanceof Float || typeof data === 'number' ? formatForJson(data) : JSON.stringify(data);
}

function enclose(
  brackets: string,
  items: readonly string[],
  { indent, level }: { readonly indent: number; readonly level: number },
): string {
  if (items.length === 0) return brackets;
  if (indent === 0) return brackets.charAt(0) + items.join(',') + brackets.charAt(1);
  const inner = ' '.repeat(indent * (level + 1));
  const lines = items.map((item) => inner + item).join(',\n');
  return `${brackets.charAt(0)}\n${lines}\n${' '.repeat(indent * level)}${brackets.charAt(1)}`;
}

/** Escapes the characters that could end an HTML element, as Jinja's `tojson` does. */
export function escapeForHtml(json: string): string {
  return json.replace(/[<>&']/gu, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

interface ToonOptions {
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
