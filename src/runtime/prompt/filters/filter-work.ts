import type { FilterName } from '../../../schema/template-vocabulary.ts';
import { sizeOf } from '../values/access-value.ts';
import { isList, type Value } from '../values/value.ts';

/** The units of work that a filter is charged for a value: one, and more for as much of the value as it reads. */
export function filterWork(name: FilterName, value: Value): number {
  return readsAll(name, value) ? 1 + (sizeOf(value) >> 7) : 1;
}

/** The lengths of lists and maps, and the ends of lists, are there without going through them. */
function readsAll(name: FilterName, value: Value): boolean {
  switch (name) {
    case 'd':
    case 'default':
      return false;
    case 'count':
    case 'length':
      return typeof value === 'string';
    case 'first':
    case 'last':
      return !isList(value);
    default:
      return true;
  }
}
