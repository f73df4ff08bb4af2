import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { argumentFaults } from '../../../src/runtime/arguments/argument-faults.ts';
import { loadValidators } from '../../../src/runtime/arguments/load-validators.ts';
import { indexDefinitions } from '../../../src/schema/definition-index.ts';
import type { Type } from '../../../src/schema/type.ts';
import {
  alias,
  aliasRef,
  bool,
  classRef,
  classType,
  enumRef,
  enumType,
  field,
  float,
  functionType,
  int,
  list,
  literal,
  map,
  media,
  nothing,
  programOf,
  string,
  union,
} from '../../support/definitions.ts';

/** Small alphabets, so that random values fit random types now and then. */
const NAMES = ['A', 'B', 'C'] as const;
const KEYS = ['a', 'b', 'kind', 'constructor', '__proto__', 'url', 'base64', 'media_type', 'X'];
const TEXTS = ['', 'X', 'Y', 'a', 'b'];

const types: fc.Arbitrary<Type> = fc.letrec<{ type: Type }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(string, int, float, bool, nothing, media('image'), media('pdf')),
    fc.constantFrom('X', 'Y', 0, 1, true).map((value) => literal(value)),
    fc.constantFrom(...NAMES).map((name) => classRef(name)),
    fc.constantFrom(enumRef('E'), aliasRef('Json')),
    tie('type').map((element) => list(element)),
    fc
      .tuple(fc.constantFrom(string, enumRef('E'), union(literal('a'), literal('b'))), tie('type'))
      .map(([key, value]) => map(key, value)),
    fc.array(tie('type'), { minLength: 2, maxLength: 3 }).map((members) => union(...members)),
  ),
})).type;

const fields = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'kind', 'constructor'), types), {
  selector: ([name]) => name,
  maxLength: 3,
});

const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...TEXTS, 0, 1, -0, 1.5, 2 ** 53, Infinity, NaN, true, false, null, undefined),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 4 }).map(objectOf),
  ),
})).value;

/** An object with exactly these own keys, `__proto__` too. */
function objectOf(entries: ReadonlyArray<readonly [string, unknown]>): object {
  const object = {};
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

test('the compiled predicate says yes exactly when the walk finds no fault', () => {
  let accepted = 0;
  let compiled = 0;
  const program = fc.tuple(fields, fields, fields, types, types);
  assertProperty(
    fc.property(
      program,
      fc.array(values, { minLength: 8, maxLength: 12 }),
      ([a, b, c, json, parameter], candidates) => {
        const fn = functionType('Do', { x: parameter });
        const definitions = {
          classes: [a, b, c].map((one, at) =>
            classType(
              NAMES[at] ?? '',
              one.map(([name, type]) => field(name, type)),
            ),
          ),
          enums: [enumType('E', ['X', '-Y'])],
          aliases: [alias('Json', union(string, list(json), list(aliasRef('Json'))))],
          functions: [fn],
        };
        const emitted = programOf(definitions);
        const predicate = loadValidators(emitted.validatorSource).get('Do');
        if (predicate === undefined) return;
        compiled += 1;
        for (const value of candidates) {
          const args = { x: value };
          const fits = argumentFaults(fn, args, indexDefinitions(emitted)).length === 0;
          expect(predicate(args)).toBe(fits);
          if (fits) accepted += 1;
        }
      },
    ),
    { numRuns: 150 },
  );
  // A property over values that never fit, or over functions without a predicate, would say nothing.
  expect(compiled).toBeGreaterThan(60);
  expect(accepted).toBeGreaterThan(100);
});

test('the walk agrees with itself when unions have no predicate', () => {
  const members = optionalPair();
  const fn = functionType('Do', { x: classRef('A') });
  const definitions = {
    classes: [classType('A', [field('next', members)]), classType('B', [field('next', members), field('b', int)])],
    functions: [fn],
  };
  const program = programOf(definitions);
  expect(loadValidators(program.validatorSource).has('Do')).toBe(false);
  const faults = (value: unknown) => argumentFaults(fn, { x: value }, indexDefinitions(program));
  expect(faults({ next: { next: { b: 1 } } })).toEqual([]);
  expect(faults({ next: 5 })).toHaveLength(1);
});

function optionalPair(): Type {
  return union(classRef('A'), classRef('B'), nothing);
}
