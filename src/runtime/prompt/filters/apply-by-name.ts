import { type FilterName, FILTERS, isFilterName, isTestName, TESTS } from '../../../schema/template-vocabulary.ts';
import { orderArguments } from '../compile/bind-arguments.ts';
import type { Run } from '../run.ts';
import { TemplateFault } from '../template-fault.ts';
import type { Value } from '../values/value.ts';
import { filterWork } from './filter-work.ts';
import { TEST_FUNCTIONS } from './test-functions.ts';

type Filters = Readonly<Record<FilterName, (value: Value, args: readonly Value[], run: Run) => Value>>;

interface NamedApplication {
  readonly name: string;
  readonly value: Value;
  readonly args: readonly Value[];
}

const NO_NAMES: ReadonlyMap<string, Value> = new Map();

/** A filter by a name that is known only at run time, as in `map("upper")`. */
export function applyFilter(filters: Filters, { name, value, args }: NamedApplication, run: Run): Value {
  if (!isFilterName(name)) throw new TemplateFault(`there is no filter "${name}"`);
  run.charge(filterWork(name, value));
  return filters[name](value, orderArguments({ positional: args, named: NO_NAMES }, FILTERS[name]), run);
}

/** A test by a name that is known only at run time, as in `select("odd")`. */
export function applyTest(name: string, value: Value, args: readonly Value[]): boolean {
  if (!isTestName(name)) throw new TemplateFault(`there is no test "${name}"`);
  return TEST_FUNCTIONS[name](value, orderArguments({ positional: args, named: NO_NAMES }, TESTS[name]));
}
