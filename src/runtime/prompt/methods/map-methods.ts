import type { MethodName } from '../../../schema/template-vocabulary.ts';
import { contains, itemOf } from '../values/access-value.ts';
import { entriesOf, type Value } from '../values/value.ts';
import type { Method } from './method.ts';

/** Methods of mappings, as in Python. */
export const MAP_METHODS: Readonly<Record<MethodName<'map'>, Method>> = {
  keys: (value) => [...entries(value).keys()],
  values: (value) => [...entries(value).values()],
  items: (value) => [...entries(value)],
  get: (value, [key, fallback]) => (contains(value, key) ? itemOf(value, key) : (fallback ?? null)),
};

function entries(value: Value): ReadonlyMap<Value, Value> {
  return entriesOf(value) ?? new Map<Value, Value>();
}
