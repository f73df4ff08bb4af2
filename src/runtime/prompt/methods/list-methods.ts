import type { MethodName } from '../../../schema/template-vocabulary.ts';
import { itemsOf } from '../values/access-value.ts';
import { valuesEqual } from '../values/compare-values.ts';
import type { Method } from './method.ts';

/** Methods of lists, as in Python. */
export const LIST_METHODS: Readonly<Record<MethodName<'list'>, Method>> = {
  count: (value, [wanted]) => itemsOf(value).filter((item) => valuesEqual(item, wanted)).length,
};
