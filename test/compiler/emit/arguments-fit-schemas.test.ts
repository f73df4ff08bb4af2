import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import type { ClassType, Type } from '../../../src/schema/type.ts';
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
import { publishedSchemas } from '../../support/published-schemas.ts';
import { validatorsOf } from '../../support/validators.ts';

// Two readings of the same types: the validators of the calls, and the schema of the document, as an independent validator
// reads it. Calls accept what the document promises.

function typesWith(...named: readonly Type[]): fc.Arbitrary<Type> {
  return fc.letrec<{ type: Type }>((tie) => ({
    type: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Type>(string, int, float, bool, nothing, media('image'), literal('X'), literal(1), literal(true)),
      fc.constantFrom(classRef('A'), classRef('B'), enumRef('E'), ...named),
      tie('type').map((element) => list(element)),
      tie('type').map((value) => map(string, value)),
      fc.array(tie('type'), { minLength: 2, maxLength: 3 }).map((members) => union(...members)),
    ),
  })).type;
}

const KEYS = ['a', 'b', 'kind', 'constructor', 'url', 'base64', 'media_type'];
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('', 'X', 'a', 'QUJD', 'QUI', 0, 1, 1.5, 2 ** 53, true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 4 }).map(withoutNullMedia),
  ),
})).value;

/** Calls accept null for the unused key of a media value, which the document does not mention. */
function withoutNullMedia(object: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(object).filter(([key, value]) => value !== null || (key !== 'url' && key !== 'base64')),
  );
}

interface Reading {
  readonly value: unknown;
  readonly accepted: boolean;
  readonly fits: boolean;
}

/** Passes the two readings of random values for random types to `check`; returns the numbers of accepted and refused values. */
function compare(types: fc.Arbitrary<Type>, check: (reading: Reading) => void): { accepted: number; refused: number } {
  const seen = { accepted: 0, refused: 0 };
  const fields = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'kind', 'constructor'), types), {
    selector: ([name]) => name,
    maxLength: 3,
  });
  const candidates = fc.array(values, { minLength: 12, maxLength: 12 });
  assertProperty(
    fc.property(fc.tuple(types, types, fields, fields, candidates), ([x, json, a, b, all]) => {
      const program = programOf({
        classes: [classOf('A', a), classOf('B', b)],
        enums: [enumType('E', ['X', 'Y'])],
        aliases: [alias('Json', union(string, list(json), list(aliasRef('Json'))))],
        functions: [functionType('Do', { x })],
      });
      const validators = validatorsOf(program).of('Do');
      const { args: schema } = publishedSchemas(program);
      for (const args of [...all.map((value) => ({ x: value })), {}, { x: null, other: 1 }]) {
        const reading = { value: args, accepted: validators.accepts(args), fits: schema(args) };
        check(reading);
        seen[reading.accepted ? 'accepted' : 'refused'] += 1;
      }
    }),
    { numRuns: 120 },
  );
  return seen;
}

function classOf(name: string, fields: ReadonlyArray<readonly [string, Type]>): ClassType {
  return classType(
    name,
    fields.map(([key, type]) => field(key, type)),
  );
}

test('calls accept exactly the arguments that fit the schema of the document', () => {
  const seen = compare(typesWith(), ({ value, accepted, fits }) => {
    expect({ value, accepted }).toEqual({ value, accepted: fits });
  });
  expect(seen.accepted).toBeGreaterThan(100);
  expect(seen.refused).toBeGreaterThan(500);
});

test('with recursive aliases, whose lists the document leaves open, accepted arguments fit the schema', () => {
  const seen = compare(typesWith(aliasRef('Json')), ({ value, accepted, fits }) => {
    if (accepted) expect({ value, fits }).toEqual({ value, fits: true });
  });
  expect(seen.accepted).toBeGreaterThan(100);
});
