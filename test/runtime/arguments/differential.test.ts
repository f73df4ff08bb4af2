import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { explainArguments } from '../../../src/runtime/arguments/explain-arguments.ts';
import { indexDefinitions, type DefinitionIndex } from '../../../src/schema/program.ts';
import { acceptsNull } from '../../../src/schema/type-graph.ts';
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
import { validatorsOf } from '../../support/validators.ts';

// Three readings of the same types: the validators that AJV compiles, the walk that explains refusals, and a plain reading
// of the contract, which is slow and independent of JSON Schema.

/** Small alphabets, so that random values fit random types now and then. */
const NAMES = ['A', 'B', 'C'] as const;
const KEYS = ['a', 'b', 'kind', 'constructor', '__proto__', 'url', 'base64', 'media_type', 'X'];
const TEXTS = ['', 'X', 'Y', 'a', 'b', 'QUJD', 'QUI=', 'QUI'];

const types: fc.Arbitrary<Type> = fc.letrec<{ type: Type }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(string, int, float, bool, nothing, media('image'), media('pdf')),
    fc.constantFrom(...['X', 'Y', 0, 1, true].map((value) => literal(value)), union(literal('X'), literal('Y'))),
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (object: Record<string, unknown>, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined);

function plainlyFits(type: Type, value: unknown, index: DefinitionIndex): boolean {
  const fits = (inner: Type, part: unknown) => plainlyFits(inner, part, index);
  switch (type.kind) {
    case 'string':
      return typeof value === 'string';
    case 'int':
      return Number.isSafeInteger(value);
    case 'float':
      return Number.isFinite(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'literal':
      return value === type.value;
    case 'enum':
      return index.enums.get(type.name)?.values.some(({ name }) => name === value) === true;
    case 'media':
      return isObject(value) && mediaFits(value);
    case 'union':
      return type.members.some((member) => fits(member, value));
    case 'alias': {
      const target = index.aliases.get(type.name)?.type;
      return target !== undefined && fits(target, value);
    }
    case 'list':
      return Array.isArray(value) && Array.from(value).every((item) => fits(type.element, item));
    case 'map':
      return isObject(value) && Object.keys(value).every((key) => fits(type.key, key) && fits(type.value, value[key]));
    case 'class':
      return (
        isObject(value) &&
        (index.classes.get(type.name)?.fields ?? []).every((each) => {
          const member = own(value, each.name);
          return member === undefined ? acceptsNull(each.type, index.aliases) : fits(each.type, member);
        })
      );
  }
}

function mediaFits(value: Record<string, unknown>): boolean {
  const [url = null, base64 = null, mediaType = null] = ['url', 'base64', 'media_type'].map((key) => own(value, key));
  if (Object.keys(value).some((key) => !['url', 'base64', 'media_type'].includes(key))) return false;
  if (mediaType !== null && typeof mediaType !== 'string') return false;
  if (base64 === null) return typeof url === 'string';
  return url === null && typeof base64 === 'string' && Buffer.from(base64, 'base64').toString('base64') === base64;
}

const programs = fc.record({ a: fields, b: fields, c: fields, json: types, parameter: types }).map((made) => {
  const fn = functionType('Do', { x: made.parameter });
  const program = programOf({
    classes: [made.a, made.b, made.c].map((one, at) =>
      classType(
        NAMES[at] ?? '',
        one.map(([name, type]) => field(name, type)),
      ),
    ),
    enums: [enumType('E', ['X', '-Y'])],
    aliases: [alias('Json', union(string, list(made.json), list(aliasRef('Json'))))],
    functions: [fn],
  });
  return { fn, program };
});

test('a validator accepts exactly the values that fit, and the explanation is empty exactly for these', () => {
  const seen = { accepted: 0, refused: 0 };
  assertProperty(
    fc.property(programs, fc.array(values, { minLength: 8, maxLength: 12 }), ({ fn, program }, candidates) => {
      const index = indexDefinitions(program);
      const validators = validatorsOf(program).of('Do');
      const parameter = fn.parameters[0]?.type ?? nothing;
      for (const value of candidates) {
        const args = { x: value };
        const accepted = validators.accepts(args);
        const expected =
          value === undefined ? acceptsNull(parameter, index.aliases) : plainlyFits(parameter, value, index);
        expect({ value, accepted }).toEqual({ value, accepted: expected });
        const explained = explainArguments(fn, args, { index, fits: validators.createFits() });
        expect({ value, refused: explained.length > 0 }).toEqual({ value, refused: !accepted });
        seen[accepted ? 'accepted' : 'refused'] += 1;
      }
    }),
    { numRuns: 60 },
  );
  // A property over values that never fit would show nothing.
  expect(seen.accepted).toBeGreaterThan(50);
  expect(seen.refused).toBeGreaterThan(200);
});

test('the validator of each part agrees with the plain reading, in any order of calls', () => {
  assertProperty(
    fc.property(programs, fc.array(values, { minLength: 4, maxLength: 8 }), ({ fn, program }, candidates) => {
      const index = indexDefinitions(program);
      const fits = validatorsOf(program).of('Do').createFits();
      const { type } = fn.parameters[0] ?? { type: nothing };
      for (const part of [
        type,
        ...(type.kind === 'union' ? type.members : []),
        ...(type.kind === 'list' ? [type.element] : []),
      ]) {
        for (const value of candidates) {
          expect({ part, value, fits: fits(part, value) }).toEqual({
            part,
            value,
            fits: plainlyFits(part, value, index),
          });
        }
      }
    }),
    { numRuns: 60 },
  );
});
