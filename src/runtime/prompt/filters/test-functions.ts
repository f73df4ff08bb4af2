import { isFilterName, isTestName, type TestName } from '../../../schema/template-vocabulary.ts';
import { TemplateFault } from '../template-fault.ts';
import { contains } from '../values/access-value.ts';
import { compareValues, valuesEqual } from '../values/compare-values.ts';
import { plainTextOf } from '../values/print-value.ts';
import { RichText } from '../values/rich-text.ts';
import { entriesOf, isFloat, isList, numberOf, type Value } from '../values/value.ts';

/** One test: its arguments come in the order of the vocabulary. */
export type TestFunction = (value: Value, args: readonly Value[]) => boolean;

/** Every test of the vocabulary. */
export const TEST_FUNCTIONS: Readonly<Record<TestName, TestFunction>> = {
  '!=': (value, [other]) => !valuesEqual(value, other),
  '<': (value, [other]) => compareValues(value, other) < 0,
  '<=': (value, [other]) => compareValues(value, other) <= 0,
  '==': (value, [other]) => valuesEqual(value, other),
  '>': (value, [other]) => compareValues(value, other) > 0,
  '>=': (value, [other]) => compareValues(value, other) >= 0,
  boolean: (value) => typeof value === 'boolean',
  defined: (value) => value !== undefined,
  divisibleby: (value, [number]) => rest(value, number) === 0,
  endingwith: (value, [end]) => plainTextOf(value).endsWith(plainTextOf(end)),
  eq: (value, [other]) => valuesEqual(value, other),
  equalto: (value, [other]) => valuesEqual(value, other),
  escaped: () => false,
  even: (value) => rest(value, 2) === 0,
  false: (value) => value === false,
  filter: (value) => typeof value === 'string' && isFilterName(value),
  float: isFloat,
  ge: (value, [other]) => compareValues(value, other) >= 0,
  greaterthan: (value, [other]) => compareValues(value, other) > 0,
  gt: (value, [other]) => compareValues(value, other) > 0,
  in: (value, [container]) => contains(container, value),
  integer: (value) => typeof value === 'number' && Number.isInteger(value),
  iterable: (value) => isText(value) || isList(value) || entriesOf(value) !== undefined,
  le: (value, [other]) => compareValues(value, other) <= 0,
  lessthan: (value, [other]) => compareValues(value, other) < 0,
  lower: (value) => isText(value) && /^\p{Lowercase}*$/u.test(plainTextOf(value)),
  lt: (value, [other]) => compareValues(value, other) < 0,
  mapping: (value) => !isList(value) && entriesOf(value) !== undefined,
  ne: (value, [other]) => !valuesEqual(value, other),
  none: (value) => value === null,
  number: (value) => typeof value !== 'boolean' && numberOf(value) !== undefined,
  odd: (value) => Math.abs(rest(value, 2)) === 1,
  safe: () => false,
  sameas: (value, [other]) => value === other || (isFloat(value) && isFloat(other) && valuesEqual(value, other)),
  sequence: isList,
  startingwith: (value, [start]) => plainTextOf(value).startsWith(plainTextOf(start)),
  string: isText,
  test: (value) => typeof value === 'string' && isTestName(value),
  true: (value) => value === true,
  undefined: (value) => value === undefined,
  upper: (value) => isText(value) && /^\p{Uppercase}*$/u.test(plainTextOf(value)),
};

function isText(value: Value): boolean {
  return typeof value === 'string' || value instanceof RichText;
}

/** The remainder, or NaN for what is no integer: no test on it holds then. */
function rest(value: Value, divisor: Value): number {
  const a = numberOf(value);
  const b = numberOf(divisor);
  if (b === undefined || b === 0) throw new TemplateFault('the divisor is a number other than 0');
  return a === undefined || typeof value === 'boolean' ? Number.NaN : a % b;
}
