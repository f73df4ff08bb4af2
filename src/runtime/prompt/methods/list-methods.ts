import { itemsOf } from '../values/access-value.ts';
import { valuesEqual } from '../values/compare-values.ts';
import type { Value } from '../values/value.ts';

/** Methods of lists, as in Python. */
export const listMethods: ReadonlyMap<string, (value: Value, args: readonly Value[]) => Value> = new Map([
  ['count', (value, [wanted]) => itemsOf(value).filter((item) => valuesEqual(item, wanted)).length],
]);
