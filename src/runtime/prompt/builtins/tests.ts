import { isFilterName, isTestName, type TestName } from '../../../schema/template-vocabulary.ts';
import { TemplateFault } from '../template-fault.ts';
import type { Work } from '../values/work.ts';
import { contains } from '../values/access-value.ts';
import { compareValues, valuesEqual } from '../values/compare-values.ts';
import { plainTextOf } from '../values/print-value.ts';
import { isFloat, isList, isMapping, isString, numberOf, type Value } from '../values/value.ts';

/** Applies a test. Arguments come in the order of the vocabulary. */
type TestFunction = (value: Value, args: readonly Value[], work: Work) => boolean;

const isEqual: TestFunction = (value, [other], work) => valuesEqual(value, other, work);
const isOther: TestFunction = (value, [other], work) => !valuesEqual(value, other, work);
const isLess: TestFunction = (value, [other], work) => compareValues(value, other, work) < 0;
const isAtMost: TestFunction = (value, [other], work) => compareValues(value, other, work) <= 0;
const isGreater: TestFunction = (value, [other], work) => compareValues(value, other, work) > 0;
const isInteger: TestFunction = (value) => typeof value === 'number' && Number.isInteger(value);
const isAtLeast: TestFunction = (value, [other], work) => compareValues(value, other, work) >= 0;

/** Every test of the vocabulary. */
export const TEST_FUNCTIONS: Readonly<Record<TestName, TestFunction>> = {
  '!=': isOther,
  '<': isLess,
  '<=': isAtMost,
  '==': isEqual,
  '>': isGreater,
  '>=': isAtLeast,
  boolean: (value) => typeof value === 'boolean',
  defined: (value) => value !== undefined,
  divisibleby: (value, [number]) => rest(value, number) === 0,
  endingwith: (value, [end], work) => plainTextOf(value, work).endsWith(plainTextOf(end, work)),
  eq: isEqual,
  equalto: isEqual,
  escaped: () => false,
  even: (value) => rest(value, 2) === 0,
  false: (value) => value === false,
  filter: (value) => typeof value === 'string' && isFilterName(value),
  float: isFloat,
  ge: isAtLeast,
  greaterthan: isGreater,
  gt: isGreater,
  in: (value, [container], work) => contains(container, value, work),
  int: isInteger,
  integer: isInteger,
  // A loop over null or an undefined value visits no items.
  iterable: (value) => value === undefined || value === null || isString(value) || isList(value) || isMapping(value),
  le: isAtMost,
  lessthan: isLess,
  lower: (value, _, work) => isString(value) && /^\p{Lowercase}*$/u.test(plainTextOf(value, work)),
  lt: isLess,
  mapping: isMapping,
  ne: isOther,
  none: (value) => value === null,
  number: (value) => typeof value !== 'boolean' && numberOf(value) !== undefined,
  odd: (value) => Math.abs(rest(value, 2)) === 1,
  safe: () => false,
  sameas: (value, [other], work) =>
    value === other || (isFloat(value) && isFloat(other) && valuesEqual(value, other, work)),
  sequence: isList,
  startingwith: (value, [start], work) => plainTextOf(value, work).startsWith(plainTextOf(start, work)),
  string: isString,
  test: (value) => typeof value === 'string' && isTestName(value),
  true: (value) => value === true,
  undefined: (value) => value === undefined,
  upper: (value, _, work) => isString(value) && /^\p{Uppercase}*$/u.test(plainTextOf(value, work)),
};

/** The remainder. NaN unless the value is a number: then no test on it holds. */
function rest(value: Value, divisor: Value): number {
  const a = numberOf(value);
  const b = numberOf(divisor);
  if (b === undefined || b === 0) throw new TemplateFault('the divisor must be a number other than 0');
  return a === undefined ? Number.NaN : a % b;
}
