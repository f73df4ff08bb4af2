import { TemplateFault, type Work } from './work.ts';
import { EnumValue } from './argument-values.ts';
import { plainTextOf } from './print-value.ts';
import {
  entriesOf,
  Group,
  isList,
  isRecord,
  isString,
  kindOf,
  numberOf,
  RichText,
  Special,
  type Value,
} from './value.ts';
import { compareText } from '../../../base/json.ts';

/** `object.name`. Reaches only data: own properties of JSON objects, entries of maps, and attributes of special values. */
export function readAttribute(object: Value, name: string): Value {
  if (typeof object === 'object' && object !== null) {
    if (object instanceof Special) return object.attribute(name);
    if (object instanceof Map) return object.get(name) as Value;
    if (object instanceof Group) return object.attribute(name);
    return isRecord(object) && Object.hasOwn(object, name) ? object[name] : undefined;
  }
  if (object === undefined) throw new TemplateFault(`cannot read "${name}" of an undefined value`);
  return undefined;
}

/** `object[index]`: negative numbers count from the end. */
export function itemOf(object: Value, index: Value, work: Work): Value {
  if (typeof index === 'string') return readAttribute(object, index);
  if (object === undefined) throw new TemplateFault('cannot read an item of an undefined value');
  const number = numberOf(index);
  if (number !== undefined && isList(object)) return object[number < 0 ? object.length + number : number];
  if (number !== undefined && isString(object)) {
    const characters = [...plainTextOf(object, work)];
    return characters[number < 0 ? characters.length + number : number];
  }
  const entries = entriesOf(object, work);
  return entries === undefined ? undefined : entryOf(entries, index);
}

function entryOf(entries: ReadonlyMap<Value, Value>, key: Value): Value {
  return entries.get(entries.has(key) ? key : keyOf(key));
}

/** Converts a value to a key of an argument's map: an enum value to its real name, rich text to its text. */
function keyOf(value: Value): Value {
  if (value instanceof EnumValue) return value.name;
  return value instanceof RichText ? value.plain() : value;
}

interface SliceBounds {
  readonly from: Value;
  readonly to: Value;
  readonly step: Value;
}

/** `object[from:to:step]` of a list or a string. */
export function sliceOf(object: Value, bounds: SliceBounds, work: Work): Value {
  if (object === undefined || object === null) return [];
  if (isList(object)) return sliceList(object, bounds);
  if (isString(object)) {
    const characters = sliceList([...plainTextOf(object, work)], bounds);
    return characters.map((one) => (typeof one === 'string' ? one : '')).join('');
  }
  throw new TemplateFault(`a value of kind ${kindOf(object)} cannot be sliced`);
}

function sliceList(list: readonly Value[], bounds: SliceBounds): readonly Value[] {
  const step = boundOf(bounds.step) ?? 1;
  if (step === 0) throw new TemplateFault('the step of a slice cannot be 0');
  const length = list.length;
  const clamp = (bound: number, low: number, high: number): number =>
    Math.min(Math.max(bound < 0 ? bound + length : bound, low), high);
  const result: Value[] = [];
  if (step > 0) {
    const to = clamp(boundOf(bounds.to) ?? length, 0, length);
    for (let at = clamp(boundOf(bounds.from) ?? 0, 0, length); at < to; at += step) result.push(list[at]);
    return result;
  }
  const to = clamp(boundOf(bounds.to) ?? -1 - length, -1, length - 1);
  for (let at = clamp(boundOf(bounds.from) ?? length - 1, -1, length - 1); at > to; at += step) result.push(list[at]);
  return result;
}

function boundOf(value: Value): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number))
    throw new TemplateFault('the bounds of a slice must be integers');
  return number;
}

/** `needle in container`. A string contains a value whose printed form is a part of it. */
export function contains(container: Value, needle: Value, work: Work): boolean {
  if (container === undefined || container === null) return false;
  // Lists and strings are searched; a map is asked for one entry.
  if (isList(container) || typeof container === 'string') work.spend(sizeOf(container, work) >> 5);
  if (isList(container)) return container.some((item) => valuesEqual(item, needle, work));
  if (isString(container)) return plainTextOf(container, work).includes(plainTextOf(needle, work));
  const key = keyOf(needle);
  if (isRecord(container)) return typeof key === 'string' && Object.hasOwn(container, key);
  const entries = entriesOf(container, work);
  if (entries === undefined) throw new TemplateFault(`"in" needs a list, a string or a map, not ${kindOf(container)}`);
  return entries.has(needle) || entries.has(key);
}

/** The items that a `for` visits: of a list, the keys of a mapping, the characters of a string; no items of none. */
export function itemsOf(value: Value, work: Work): readonly Value[] {
  if (isList(value)) return value;
  if (value === undefined || value === null) return [];
  if (isString(value)) return charactersOf(plainTextOf(value, work), work);
  if (isRecord(value)) return Object.keys(value);
  const entries = entriesOf(value, work);
  if (entries === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} is not iterable`);
  return [...entries.keys()];
}

function charactersOf(text: string, work: Work): readonly string[] {
  work.spend(text.length >> 3);
  return [...text];
}

/** Items in a list, entries in a mapping, characters in a string; undefined for other values. */
export function lengthOf(value: Value, work: Work): number | undefined {
  if (typeof value === 'string') return countCharacters(value);
  if (isList(value)) return value.length;
  if (value instanceof RichText) return countCharacters(value.plain());
  return entriesOf(value, work)?.size;
}

function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) count -= 1;
  }
  return count;
}

/** About how much a filter has to read, in characters. */
export function sizeOf(value: Value, work: Work): number {
  if (typeof value === 'string') return value.length;
  if (isList(value)) return value.length * 8;
  if (value instanceof Special) return 8;
  return (entriesOf(value, work)?.size ?? 1) * 8;
}

/** `==`: numbers by value, lists and mappings by content, an enum value with a string by its real name. */
export function valuesEqual(left: Value, right: Value, work: Work): boolean {
  return left === right || contentsEqual(left, right, { work, depth: 0 });
}

interface Comparison {
  readonly work: Work;
  readonly depth: number;
}

function contentsEqual(left: Value, right: Value, { work, depth }: Comparison): boolean {
  const a = comparable(left);
  const b = comparable(right);
  if (a === b) return compareAliases(left, right) === 0;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || depth > 100) return false;
  work.spend(isList(a) ? 1 + (a.length >> 1) : 10);
  const inside = { work, depth: depth + 1 };
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, i) => contentsEqual(item, b[i], inside));
  const entries = isList(b) ? undefined : entriesOf(a, work);
  const others = entriesOf(b, work);
  if (entries === undefined || others === undefined || entries.size !== others.size) return false;
  return [...entries].every(([key, value]) => others.has(key) && contentsEqual(value, others.get(key), inside));
}

/** The plain value by which a value is compared. */
function comparable(value: Value): Value {
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? Number(value) : value;
  if (value instanceof EnumValue) return value.name;
  if (value instanceof RichText) return value.plain();
  return numberOf(value) ?? value;
}

/** Compares enum values of one real name: one without an alias comes first. A string has no alias to compare. */
function compareAliases(left: Value, right: Value): number {
  if (!(left instanceof EnumValue && right instanceof EnumValue)) return 0;
  if (left.alias === undefined || right.alias === undefined) {
    return Number(left.alias !== undefined) - Number(right.alias !== undefined);
  }
  return compareText(left.alias, right.alias);
}

/** A total order: numbers, then strings, then lists, then mappings by their entries. */
export function compareValues(left: Value, right: Value, work: Work): number {
  const a = comparable(left);
  const b = comparable(right);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b) || compareAliases(left, right);
  if (isList(a) && isList(b)) return compareLists(a, b, work);
  const [entries, others] = [entriesOf(a, work), entriesOf(b, work)];
  if (entries !== undefined && others !== undefined) return compareLists([...entries], [...others], work);
  return rank(a) - rank(b);
}

function compareLists(a: readonly Value[], b: readonly Value[], work: Work): number {
  work.spend(a.length);
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = compareValues(a[index], b[index], work);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function rank(value: Value): number {
  if (value === undefined) return 0;
  if (value === null) return 1;
  if (typeof value === 'number') return 2;
  if (typeof value === 'string') return 3;
  return isList(value) ? 4 : 5;
}
