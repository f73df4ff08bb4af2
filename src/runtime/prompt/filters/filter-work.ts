import type { FilterName } from '../../../schema/template-vocabulary.ts';
import { sizeOf } from '../values/access-value.ts';
import { isList, type Value } from '../values/value.ts';

/** The units of work that a filter is charged for a value: one, and more for as much of the value as it reads. */
export function filterWork(name: FilterName, value: Value): number {
  return readsAll(name, value) ? 1 + (sizeOf(value) >> 7) : 1;
}

/** The length and the ends of a list are there without going through it. */
function readsAll(name: FilterName, value: Value): boolean {
  switch (name) {
    case 'd':
    case 'default':
      return false;
    case 'count':
    case 'length':
      return !isList(value) && !(value instanceof Map);
    case 'first':
    case 'last':
      return !isList(value);
    default:
      return true;
  }
}
