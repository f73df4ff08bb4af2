import { entriesOf, type Value } from '../values/value.ts';

/** Methods of mappings, as in Python. */
export const mapMethods: ReadonlyMap<string, (value: Value, args: readonly Value[]) => Value> = new Map([
  ['keys', (value) => [...entries(value).keys()]],
  ['values', (value) => [...entries(value).values()]],
  ['items', (value) => [...entries(value)]],
  ['get', (value, [key, fallback]) => (entries(value).has(key) ? entries(value).get(key) : (fallback ?? null))],
]);

function entries(value: Value): ReadonlyMap<Value, Value> {
  return entriesOf(value) ?? new Map<Value, Value>();
}
