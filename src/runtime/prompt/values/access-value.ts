import { TemplateFault } from '../template-fault.ts';
import { spendWork } from '../work-budget.ts';
import { valuesEqual } from './compare-values.ts';
import { EnumValue } from './enum-value.ts';
import { plainTextOf } from './print-value.ts';
import { RichText } from './rich-text.ts';
import { entriesOf, Group, isList, isRecord, kindOf, numberOf, Special, type Value } from './value.ts';

/** `object.name`. Only data: own properties of JSON objects, entries of maps, and what special values offer. */
export function attributeOf(object: Value, name: string): Value {
  if (typeof object === 'object' && object !== null) {
    if (object instanceof Special) return object.attribute(name);
    if (object instanceof Map) return object.get(name) as Value;
    if (object instanceof Group) return object.attribute(name);
    return isRecord(object) && Object.hasOwn(object, name) ? object[name] : undefined;
  }
  if (object === undefined) throw new TemplateFault(`cannot read "${name}" of a value that is not there (undefined)`);
  return undefined;
}

/** `object[index]`: negative numbers count from the end. */
export function itemOf(object: Value, index: Value): Value {
  if (typeof index === 'string') return attributeOf(object, index);
  if (object === undefined) throw new TemplateFault('cannot read an item of a value that is not there (undefined)');
  const number = numberOf(index);
  if (number !== undefined && isList(object)) return object[number < 0 ? object.length + number : number];
  if (number !== undefined && (typeof object === 'string' || object instanceof RichText)) {
    const characters = [...plainTextOf(object)];
    return characters[number < 0 ? characters.length + number : number];
  }
  const entries = entriesOf(object);
  return entries === undefined ? undefined : entryOf(entries, index);
}

function entryOf(entries: ReadonlyMap<Value, Value>, key: Value): Value {
  return entries.get(entries.has(key) ? key : keyOf(key));
}

/** What stands for a value as a key of a map that came as an argument: the real name of an enum value, the text of a text. */
function keyOf(value: Value): Value {
  if (value instanceof EnumValue) return value.name;
  return value instanceof RichText ? value.plain() : value;
}

export interface SliceBounds {
  readonly from: Value;
  readonly to: Value;
  readonly step: Value;
}

/** `object[from:to:step]` of a list or a string. */
export function sliceOf(object: Value, bounds: SliceBounds): Value {
  if (object === undefined || object === null) return [];
  if (isList(object)) return sliceList(object, bounds);
  if (typeof object === 'string' || object instanceof RichText) {
    const characters = sliceList([...plainTextOf(object)], bounds);
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
  if (number === undefined || !Number.isInteger(number)) throw new TemplateFault('the bounds of a slice are integers');
  return number;
}

/** `needle in container`. */
export function contains(container: Value, needle: Value): boolean {
  if (container === undefined || container === null) return false;
  // The entries of a map are not gone through.
  if (isList(container) || typeof container === 'string') spendWork(sizeOf(container) >> 5);
  if (isList(container)) return container.some((item) => valuesEqual(item, needle));
  if (typeof container === 'string' || container instanceof RichText) {
    return isTextLike(needle) && plainTextOf(container).includes(plainTextOf(needle));
  }
  const key = keyOf(needle);
  if (isRecord(container)) return typeof key === 'string' && Object.hasOwn(container, key);
  const entries = entriesOf(container);
  if (entries === undefined) throw new TemplateFault(`"in" needs a list, a string or a map, not ${kindOf(container)}`);
  return entries.has(needle) || entries.has(key);
}

function isTextLike(value: Value): boolean {
  return typeof value === 'string' || (value instanceof Special && value.kindName !== 'class');
}

/** What a `for` goes over: items of a list, keys of a mapping, characters of a string; nothing for none. */
export function itemsOf(value: Value): readonly Value[] {
  if (isList(value)) return value;
  if (value === undefined || value === null) return [];
  if (typeof value === 'string' || value instanceof RichText) return charactersOf(plainTextOf(value));
  if (isRecord(value)) return Object.keys(value);
  const entries = entriesOf(value);
  if (entries === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} is not iterable`);
  return [...entries.keys()];
}

function charactersOf(text: string): readonly string[] {
  spendWork(text.length >> 3);
  return [...text];
}

/** Items in a list, entries in a mapping, characters in a string; undefined for other values. */
export function lengthOf(value: Value): number | undefined {
  if (typeof value === 'string') return countCharacters(value);
  if (isList(value)) return value.length;
  if (value instanceof RichText) return countCharacters(value.plain());
  return entriesOf(value)?.size;
}

function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) count -= 1;
  }
  return count;
}

/** About how much there is to go through, for the work that a filter is charged. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return value.length;
  if (isList(value)) return value.length * 8;
  if (value instanceof Special) return 8;
  return (entriesOf(value)?.size ?? 1) * 8;
}
