import { spendWork } from '../work-budget.ts';
import { EnumValue } from './enum-value.ts';
import { RichText } from './rich-text.ts';
import { entriesOf, isList, numberOf, type Value } from './value.ts';

/** `==`: numbers by value, lists and mappings by content, an enum value also with its real name. */
export function valuesEqual(left: Value, right: Value, depth = 0): boolean {
  if (left === right) return true;
  const a = comparable(left);
  const b = comparable(right);
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || depth > 100) return false;
  spendWork(isList(a) ? 1 + (a.length >> 1) : 10);
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, i) => valuesEqual(item, b[i], depth + 1));
  const entries = isList(b) ? undefined : entriesOf(a);
  const others = entriesOf(b);
  if (entries === undefined || others === undefined || entries.size !== others.size) return false;
  return [...entries].every(([key, value]) => others.has(key) && valuesEqual(value, others.get(key), depth + 1));
}

/** The plain value that a value compares as. */
function comparable(value: Value): Value {
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? Number(value) : value;
  if (value instanceof EnumValue) return value.name;
  if (value instanceof RichText) return value.plain();
  return numberOf(value) ?? value;
}

/** A total order: numbers, then strings, then lists, and by kind otherwise. */
export function compareValues(left: Value, right: Value): number {
  const a = comparable(left);
  const b = comparable(right);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (isList(a) && isList(b)) return compareLists(a, b);
  return rank(a) - rank(b);
}

/** By code point, which UTF-16 units are not beyond the basic plane. */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  spendWork(a.length);
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = compareValues(a[index], b[index]);
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
