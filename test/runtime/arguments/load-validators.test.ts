import { expect, test } from 'vitest';
import {
  ArgumentValidators,
  loadValidators,
  type FunctionValidators,
} from '../../../src/runtime/arguments/load-validators.ts';
import type { Definitions } from '../../../src/schema/program.ts';
import type { Type } from '../../../src/schema/type.ts';
import {
  classRef,
  classType,
  enumRef,
  enumType,
  field,
  functionType,
  int,
  list,
  literal,
  media,
  nothing,
  optional,
  programOf,
  string,
  union,
} from '../../support/definitions.ts';
import { validatorSource, validatorsOf } from '../../support/validators.ts';

/** The validators of a function `Do` with one parameter `x`. */
function validatorsFor(type: Type, definitions: Partial<Definitions> = {}): FunctionValidators {
  return validatorsOf(programOf({ ...definitions, functions: [functionType('Do', { x: type })] })).of('Do');
}

const numbers = (length: number): readonly number[] => Array.from({ length }, (_item, at) => at);

test('every function has validators, whatever its name', () => {
  const names = ['constructor', '__proto__x', 'toString', 'a-b', 'é', '"quoted"', 'Normal'];
  const validators = validatorsOf(programOf({ functions: names.map((name) => functionType(name, { x: int })) }));
  for (const name of names) {
    expect(validators.of(name).accepts({ x: 1 }), name).toBe(true);
    expect(validators.of(name).accepts({ x: 'a' }), name).toBe(false);
  }
});

test('a module holds the types of its function and no others', () => {
  const source = validatorSource(
    programOf({
      classes: [classType('A', [field('a', classRef('B'))]), classType('B', []), classType('C', [])],
      functions: [functionType('One', { x: list(classRef('A')) }), functionType('Two', { y: int })],
    }),
  );
  const types = (name: string) => [...loadValidators(source(name)).types.keys()].toSorted();
  expect(types('One')).toEqual(['A', 'A[]', 'B']);
  expect(types('Two')).toEqual(['int']);
});

test('the same definitions give the same source, in whatever order functions are called', () => {
  const program = programOf({
    classes: [classType('A', [field('a', optional(int))])],
    functions: [functionType('One', { x: classRef('A') }), functionType('Two', { y: list(classRef('A')) })],
  });
  const source = validatorSource(program);
  expect(source('One')).toBe(validatorSource(program)('One'));
  expect(source('Two')).toBe(source('Two'));
});

test('a chain of a thousand classes has validators, and a value too deep for the stack does not fit', () => {
  const classes = numbers(1000).map((at) =>
    classType(`C${at}`, [field('next', optional(classRef(`C${(at + 1) % 1000}`)))]),
  );
  const validators = validatorsFor(classRef('C0'), { classes });
  expect(validators.accepts({ x: { next: { next: null } } })).toBe(true);
  expect(validators.accepts({ x: { next: { next: 5 } } })).toBe(false);
  let deep: object = {};
  for (let depth = 0; depth < 200_000; depth += 1) deep = { next: deep };
  expect(validators.accepts({ x: deep })).toBe(false);
});

test('a class with a thousand fields, an enum with three thousand values and a union of hundreds of classes have validators', () => {
  const wide = classType(
    'Wide',
    numbers(1000).map((at) => field(`f${at}`, at % 2 === 0 ? string : optional(int))),
  );
  const value = Object.fromEntries(numbers(1000).map((at) => [`f${at}`, at % 2 === 0 ? '' : null]));
  const ofClass = validatorsFor(classRef('Wide'), { classes: [wide] });
  expect(ofClass.accepts({ x: value })).toBe(true);
  expect(ofClass.accepts({ x: { ...value, f998: 1 } })).toBe(false);

  const ofEnum = validatorsFor(enumRef('E'), {
    enums: [
      enumType(
        'E',
        numbers(3000).map((at) => `V${at}`),
      ),
    ],
  });
  expect(ofEnum.accepts({ x: 'V2999' })).toBe(true);
  expect(ofEnum.accepts({ x: 'V3000' })).toBe(false);

  const classes = numbers(300).map((at) => classType(`M${at}`, [field('kind', literal(`m${at}`)), field('n', int)]));
  const ofUnion = validatorsFor(union(...classes.map(({ name }) => classRef(name))), { classes });
  expect(ofUnion.accepts({ x: { kind: 'm299', n: 1 } })).toBe(true);
  expect(ofUnion.accepts({ x: { kind: 'm299', n: 'a' } })).toBe(false);
});

test('a function with a thousand parameters knows each of them', () => {
  const parameters = Object.fromEntries(numbers(1000).map((at) => [`p${at}`, at % 2 === 0 ? int : optional(int)]));
  const validators = validatorsOf(programOf({ functions: [functionType('Do', parameters)] })).of('Do');
  const args = Object.fromEntries(numbers(1000).map((at) => [`p${at}`, at]));
  expect(validators.accepts(args)).toBe(true);
  expect(validators.accepts({ ...args, p1000: 1 })).toBe(false);
  expect(validators.accepts({ ...args, p999: 'a' })).toBe(false);
});

test.each<[string, unknown, boolean]>([
  ['with padding', 'QUI=', true],
  ['without padding', 'QUI', false],
  ['with line breaks', 'QUJD\r\nQUJD\n', true],
  ['for URLs', 'QU-_', false],
  ['behind a data URL', 'data:image/png;base64,QUJD', false],
  ['of no bytes', '', true],
])('base64 %s is %j: %s', (_what, base64, fits) => {
  expect(validatorsFor(media('image')).accepts({ x: { base64 } })).toBe(fits);
});

test('base64 of twenty megabytes does not overflow the stack', () => {
  const base64 = Buffer.alloc(20_000_000, 'QUJD').toString();
  expect(validatorsFor(media('image')).accepts({ x: { base64 } })).toBe(true);
  expect(validatorsFor(media('image')).accepts({ x: { base64: `${base64}!!!!` } })).toBe(false);
});

/** `{ next: { next: … } }`, which throws after `limit` reads of a `next`: exponential work fails instead of hanging. */
function chain(levels: number, end: unknown, limit: number, more: object = {}): unknown {
  let reads = 0;
  let value = end;
  for (let level = 0; level < levels; level += 1) {
    const next = value;
    const get = (): unknown => {
      reads += 1;
      if (reads > limit) throw new Error(`more than ${limit} reads`);
      return next;
    };
    value = Object.defineProperty({ ...more }, 'next', { get, enumerable: true });
  }
  return value;
}

test.each<[string, readonly [Type, Type]]>([
  [
    'both of which lead back',
    [optional(union(classRef('A'), classRef('B'))), optional(union(classRef('A'), classRef('B')))],
  ],
  ['one of which leads back', [optional(union(classRef('A'), classRef('B'))), nothing]],
  [
    'in lists',
    [union(list(classRef('A')), classRef('A'), classRef('B'), nothing), union(classRef('A'), classRef('B'))],
  ],
])('a union of classes, %s, reads each level of a value a few times', (_what, [a, b]) => {
  const fields = [field('tail', optional(int))];
  const classes = [classType('A', [field('next', a), ...fields]), classType('B', [field('next', b), ...fields])];
  const validators = validatorsFor(classRef('A'), { classes });
  expect(validators.accepts({ x: chain(120, 'wrong', 120 * 10) })).toBe(false);
  expect(validators.createFits()(classRef('B'), chain(120, 'wrong', 120 * 10))).toBe(false);
});

test('one memory serves all questions about the parts of one value', () => {
  const next = optional(union(classRef('A'), classRef('B')));
  const classes = [classType('A', [field('next', next)]), classType('B', [field('next', next), field('b', int)])];
  const fits = validatorsFor(classRef('A'), { classes }).createFits();
  let part = chain(120, 'wrong', 120 * 15);
  for (let level = 0; level < 120; level += 1) {
    expect(fits(next, part)).toBe(false);
    part = (part as { next: unknown }).next;
  }
});

test('a tagged union reads each level of a value a few times', () => {
  const members = ['a', 'b', 'c'].map((tag) => classRef(tag.toUpperCase()));
  const classes = ['a', 'b', 'c'].map((tag) =>
    classType(tag.toUpperCase(), [field('next', optional(union(...members))), field('kind', literal(tag))]),
  );
  const value = chain(120, null, 120 * 5, { kind: 'c' });
  expect(validatorsFor(classRef('C'), { classes }).accepts({ x: value })).toBe(true);
});

test('a module sees nothing of this file or of a module system but its exports', () => {
  const source = `exports.types = new Map();
    exports.accepts = () => typeof module + typeof require + typeof __filename + typeof source;`;
  expect(loadValidators(source).accepts.call(undefined, {})).toBe('undefined'.repeat(4));
});

test('validators that another process compiles are loaded once, and requested again after a failure', async () => {
  const source = validatorSource(programOf({ functions: [functionType('Do', { x: int })] }));
  const answers = [Promise.reject(new Error('gone')), Promise.resolve(source('Do'))];
  let asked = 0;
  const validators = new ArgumentValidators(() => answers[asked++] ?? '');
  expect(() => validators.of('Do')).toThrow('the validators of Do are not loaded');
  await expect(validators.load('Do')).rejects.toThrow('gone');
  await Promise.all([validators.load('Do'), validators.load('Do')]);
  expect(asked).toBe(2);
  expect(validators.load('Do')).toBeUndefined();
  expect(validators.of('Do').accepts({ x: 1 })).toBe(true);
});
