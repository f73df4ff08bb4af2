import { TemplateFault } from '../template-fault.ts';
import { ClassInstance, EnumValue, MediaValue } from '../values/argument-values.ts';
import { plainTextOf } from '../values/print-value.ts';
import { entriesOf, Float, isList, type Value } from '../values/value.ts';
import type { Work } from '../values/work.ts';
import { formatForJson } from '../values/write-number.ts';

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
