import { compareText } from '../../../base/json.ts';
import { EnumValue } from './argument-values.ts';
import { entriesOf, isList, numberOf, RichText, type Value } from './value.ts';
import type { Work } from './work.ts';

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
