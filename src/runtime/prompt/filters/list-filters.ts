import { assertTextLength } from '../text-limit.ts';
import { TemplateFault } from '../template-fault.ts';
import { attributeOf, itemOf, itemsOf } from '../values/access-value.ts';
import { compareValues, valuesEqual } from '../values/compare-values.ts';
import { plainTextOf, printValue } from '../values/print-value.ts';
import { Output, type RichText } from '../values/rich-text.ts';
import type { Run } from '../run.ts';
import { calculate } from '../values/calculate.ts';
import { entriesOf, Float, Group, isList, isTrue, kindOf, numberOf, type Value } from '../values/value.ts';
import { countOf } from './text-filters.ts';

export function join(value: Value, separator: Value): string | RichText {
  const between = separator === undefined || separator === null ? '' : plainTextOf(separator);
  const out = new Output();
  let first = true;
  for (const item of itemsOf(value)) {
    if (!first) out.write(between);
    first = false;
    if (item === null) out.write('none');
    else printValue(out, item);
    assertTextLength(out.length);
  }
  return out.take();
}

/** The value at a dotted path: `a.b.0`. */
export function pathOf(value: Value, path: Value): Value {
  if (typeof path !== 'string') return itemOf(value, path);
  let result = value;
  for (const name of path.split('.')) {
    if (result === undefined) return undefined;
    result = isList(result) && /^\d+$/u.test(name) ? result[Number(name)] : attributeOf(result, name);
  }
  return result;
}

export function sortItems(
  value: Value,
  [reverse, attribute, caseSensitive]: readonly Value[],
  run: Run,
): readonly Value[] {
  const items = itemsOf(value);
  run.charge(items.length * (1 + (Math.log2(items.length + 1) >> 1)));
  const keyed = items.map((item) => ({
    item,
    key: foldCase(attribute === undefined ? item : pathOf(item, attribute), caseSensitive),
  }));
  const sign = isTrue(reverse) ? -1 : 1;
  keyed.sort((a, b) => sign * compareValues(a.key, b.key));
  return keyed.map((entry) => entry.item);
}

function foldCase(value: Value, caseSensitive: Value): Value {
  return typeof value === 'string' && !isTrue(caseSensitive) ? value.toLowerCase() : value;
}

export function uniqueItems(value: Value, [attribute, caseSensitive]: readonly Value[], run: Run): readonly Value[] {
  const seen = new Set<Value>();
  const others: Value[] = [];
  return itemsOf(value).filter((item) => {
    const folded = foldCase(attribute === undefined ? item : pathOf(item, attribute), caseSensitive);
    const key = folded instanceof Float ? folded.value : folded;
    if (typeof key !== 'object' || key === null) return !seen.has(key) && seen.add(key);
    run.charge(1 + others.length);
    if (others.some((other) => valuesEqual(other, key))) return false;
    others.push(key);
    return true;
  });
}

export function batchItems(value: Value, [count, fill]: readonly Value[]): readonly Value[] {
  const size = positiveCount(count);
  const items = itemsOf(value);
  const batches: Value[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  const last = batches.at(-1);
  if (last !== undefined && fill !== undefined) while (last.length < size) last.push(fill);
  return batches;
}

/** Columns: the first ones get one more when the items do not divide evenly. */
export function sliceItems(value: Value, [count, fill]: readonly Value[]): readonly Value[] {
  const columns = positiveCount(count);
  const items = itemsOf(value);
  const each = Math.floor(items.length / columns);
  const longer = items.length % columns;
  let at = 0;
  return Array.from({ length: columns }, (_, column) => {
    const size = each + (column < longer ? 1 : 0);
    const slice = items.slice(at, at + size);
    at += size;
    if (fill !== undefined && longer > 0 && column >= longer) slice.push(fill);
    return slice;
  });
}

function positiveCount(value: Value): number {
  const count = countOf(value, 0);
  if (count === 0) throw new TemplateFault('the count cannot be 0');
  return count;
}

export function groupItems(value: Value, [attribute, fallback]: readonly Value[], run: Run): readonly Value[] {
  const groups: Array<{ readonly key: Value; readonly items: Value[] }> = [];
  const sorted = sortItems(value, [undefined, attribute, undefined], run);
  for (const item of sorted) {
    const key = pathOf(item, attribute) ?? fallback;
    const last = groups.at(-1);
    if (last !== undefined && valuesEqual(foldCase(last.key, false), foldCase(key, false))) last.items.push(item);
    else groups.push({ key, items: [item] });
  }
  return groups.map((group) => Group.of<Value>(group.key, group.items));
}

export function smallest(value: Value): Value {
  return extreme(value, -1);
}

export function largest(value: Value): Value {
  return extreme(value, 1);
}

function extreme(value: Value, sign: number): Value {
  const items = itemsOf(value);
  let best = items[0];
  for (const item of items) if (sign * compareValues(item, best) > 0) best = item;
  return best;
}

/** The sum of the numbers; a list of other things sums to 0. */
export function sumItems(value: Value): Value {
  const items = itemsOf(value);
  let sum: Value = 0;
  for (const item of items) {
    if (numberOf(item) === undefined) {
      if (items.every((other) => typeof other === 'string')) return 0;
      throw new TemplateFault(`only numbers can be summed, not ${kindOf(item)}`);
    }
    sum = calculate('+', sum, item);
  }
  return sum;
}

export function zipItems(value: Value, others: Value): readonly Value[] {
  const lists = [itemsOf(value), ...itemsOf(others).map(itemsOf)];
  const length = Math.min(...lists.map((list) => list.length));
  return Array.from({ length }, (_, index) => lists.map((list) => list[index]));
}

/** Several lists as one, or several mappings as one (the later entry wins). */
export function chainItems(value: Value, others: Value): Value {
  const parts = [value, ...itemsOf(others)];
  const maps = parts.map((part) => (isList(part) ? undefined : entriesOf(part)));
  if (maps.every((map) => map !== undefined)) return new Map(maps.flatMap((map) => [...map]));
  return parts.flatMap((part) => [...itemsOf(part)]);
}

export function reverseItems(value: Value): Value {
  if (typeof value === 'string') return [...value].toReversed().join('');
  return itemsOf(value).toReversed();
}

export function pairsOf(value: Value): readonly (readonly [Value, Value])[] {
  const entries = isList(value) ? undefined : entriesOf(value);
  if (entries === undefined) throw new TemplateFault('the value has no pairs of keys and values');
  return [...entries];
}

export function sortPairs(value: Value, [caseSensitive, by, reverse]: readonly Value[], run: Run): readonly Value[] {
  if (by !== undefined && by !== 'key' && by !== 'value') throw new TemplateFault('"by" is "key" or "value"');
  const index = by === 'value' ? 1 : 0;
  return sortItems(pairsOf(value), [reverse, index, caseSensitive], run);
}
