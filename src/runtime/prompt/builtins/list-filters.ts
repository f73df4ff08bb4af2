import { TemplateFault, assertTextLength, type Work } from '../values/work.ts';
import { itemOf, itemsOf, readAttribute, compareValues, valuesEqual } from '../values/access-value.ts';
import { add } from '../values/operators.ts';
import {
  PromptOutput,
  entriesOf,
  Float,
  floatOf,
  Group,
  isList,
  isRecord,
  isTrue,
  kindOf,
  numberOf,
  type RichText,
  type Value,
  writtenText,
} from '../values/value.ts';
import { plainTextOf, printValue } from '../values/print-value.ts';
import { countOf } from './text-filters.ts';

export function join(value: Value, separator: Value, work: Work): string | RichText {
  const between = separator === undefined || separator === null ? '' : plainTextOf(separator, work);
  const out = new PromptOutput(work);
  let first = true;
  for (const item of itemsOf(value, work)) {
    if (!first) out.write(between);
    first = false;
    if (item === null) out.write('none');
    else printValue(out, item);
    assertTextLength(out.length);
  }
  return writtenText(out);
}

/** Returns the value at a dotted path: `a.b.0`. */
export function valueAt(value: Value, path: Value, work: Work): Value {
  if (typeof path !== 'string') return itemOf(value, path, work);
  let result = value;
  for (const name of path.split('.')) {
    if (result === undefined) return undefined;
    result = isList(result) && /^\d+$/u.test(name) ? result[Number(name)] : readAttribute(result, name);
  }
  return result;
}

export function sortItems(
  value: Value,
  [reverse, attribute, caseSensitive]: readonly Value[],
  work: Work,
): readonly Value[] {
  const items = itemsOf(value, work);
  spendOnSorting(items.length, work);
  const fold = caseFold(caseSensitive, work);
  const keyed = items.map((item) => ({
    item,
    key: fold(attribute === undefined ? item : valueAt(item, attribute, work)),
  }));
  const sign = isTrue(reverse, work) ? -1 : 1;
  keyed.sort((a, b) => sign * compareValues(a.key, b.key, work));
  return keyed.map((entry) => entry.item);
}

function spendOnSorting(length: number, work: Work): void {
  work.spend(length * (1 + (Math.log2(length + 1) >> 1)));
}

/** Unless case counts, strings are compared in lower case. */
function caseFold(caseSensitive: Value, work: Work): (value: Value) => Value {
  return isTrue(caseSensitive, work) ? (value) => value : foldCase;
}

function foldCase(value: Value): Value {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

export function uniqueItems(value: Value, [attribute, caseSensitive]: readonly Value[], work: Work): readonly Value[] {
  const fold = caseFold(caseSensitive, work);
  const seen = new Set<Value>();
  const others: Value[] = [];
  return itemsOf(value, work).filter((item) => {
    const folded = fold(attribute === undefined ? item : valueAt(item, attribute, work));
    const key = folded instanceof Float ? folded.value : folded;
    if (typeof key !== 'object' || key === null) return !seen.has(key) && seen.add(key);
    work.spend(1 + others.length);
    if (others.some((other) => valuesEqual(other, key, work))) return false;
    others.push(key);
    return true;
  });
}

export function batchItems(value: Value, [count, fill]: readonly Value[], work: Work): readonly Value[] {
  const size = positiveCount(count);
  const items = itemsOf(value, work);
  const batches: Value[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  const last = batches.at(-1);
  if (last !== undefined && fill !== undefined) while (last.length < size) last.push(fill);
  return batches;
}

/** Divides a list into columns: the first ones have one more item when the items do not divide evenly. */
export function sliceItems(value: Value, [count, fill]: readonly Value[], work: Work): readonly Value[] {
  const columns = positiveCount(count);
  const items = itemsOf(value, work);
  const each = Math.floor(items.length / columns);
  const longer = items.length % columns;
  let at = 0;
  return Array.from({ length: columns }, (_, column) => {
    const size = each + (column < longer ? 1 : 0);
    const slice = items.slice(at, at + size);
    at += size;
    if (fill !== undefined && column >= longer) slice.push(fill);
    return slice;
  });
}

function positiveCount(value: Value): number {
  const count = countOf(value, 0);
  if (count === 0) throw new TemplateFault('the count cannot be 0');
  return count;
}

export function groupItems(value: Value, [attribute, fallback]: readonly Value[], work: Work): readonly Value[] {
  const groups: Array<{ readonly key: Value; readonly items: Value[] }> = [];
  const keyed = itemsOf(value, work).map((item) => [attributeOf(item, { attribute, fallback }, work), item] as const);
  spendOnSorting(keyed.length, work);
  for (const [key, item] of keyed.toSorted(([a], [b]) => compareValues(foldCase(a), foldCase(b), work))) {
    const last = groups.at(-1);
    if (last !== undefined && valuesEqual(foldCase(last.key), foldCase(key), work)) last.items.push(item);
    else groups.push({ key, items: [item] });
  }
  return groups.map((group) => Group.of<Value>(group.key, group.items));
}

/** Returns the value at a path, or the fallback if there is none. Null counts as a value. */
export function attributeOf(
  item: Value,
  { attribute, fallback }: { readonly attribute: Value; readonly fallback: Value },
  work: Work,
): Value {
  const found = valueAt(item, attribute, work);
  return found === undefined ? fallback : found;
}

/** Returns the largest item (`sign` 1) or the smallest (-1). */
export function extreme(value: Value, sign: 1 | -1, work: Work): Value {
  const items = itemsOf(value, work);
  let best = items[0];
  for (const item of items) if (sign * compareValues(item, best, work) > 0) best = item;
  return best;
}

/** Adds numbers. The sum is an integer if all of them are integral. A list of strings adds up to 0. */
export function sumItems(value: Value, _: readonly Value[], work: Work): Value {
  const items = itemsOf(value, work);
  let sum: Value = 0;
  for (const item of items) {
    if (numberOf(item) === undefined) {
      if (items.every((other) => typeof other === 'string')) return 0;
      throw new TemplateFault(`only numbers can be added, not ${kindOf(item)}`);
    }
    sum = add(sum, item instanceof Float ? item.value : item, work);
  }
  return items.every(isIntegral) ? sum : floatOf(numberOf(sum) ?? 0);
}

function isIntegral(value: Value): boolean {
  return Number.isInteger(numberOf(value));
}

export function zipItems(value: Value, [others]: readonly Value[], work: Work): readonly Value[] {
  const lists = [value, ...itemsOf(others, work)].map((list) => itemsOf(list, work));
  const length = Math.min(...lists.map((list) => list.length));
  return Array.from({ length }, (_, index) => lists.map((list) => list[index]));
}

/** Joins lists, or mappings (the later entry wins). */
export function chainItems(value: Value, [others]: readonly Value[], work: Work): Value {
  const parts = [value, ...itemsOf(others, work)];
  const maps = parts.map((part) => (isList(part) ? undefined : entriesOf(part, work)));
  if (maps.every((map) => map !== undefined)) return new Map(maps.flatMap((map) => [...map]));
  return parts.flatMap((part) => [...itemsOf(part, work)]);
}

export function reverseItems(value: Value, _: readonly Value[], work: Work): Value {
  if (value === undefined || value === null) return value;
  if (typeof value === 'string') return [...value].toReversed().join('');
  const items = itemsOf(value, work);
  // BAML leaves the keys of a map in their order.
  return value instanceof Map || isRecord(value) ? items : items.toReversed();
}

export function pairsOf(value: Value, work: Work): readonly (readonly [Value, Value])[] {
  const entries = isList(value) ? undefined : entriesOf(value, work);
  if (entries === undefined) throw new TemplateFault('the value has no pairs of keys and values');
  return [...entries];
}

export function sortPairs(value: Value, [caseSensitive, by, reverse]: readonly Value[], work: Work): readonly Value[] {
  if (by !== undefined && by !== 'key' && by !== 'value') throw new TemplateFault('"by" must be "key" or "value"');
  const index = by === 'value' ? 1 : 0;
  return sortItems(pairsOf(value, work), [reverse, index, caseSensitive], work);
}
