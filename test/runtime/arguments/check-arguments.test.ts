import { expect, test } from 'vitest';
import { stepGrowth } from '../../support/count-steps.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { createArgumentChecker } from '../../../src/runtime/arguments/check-arguments.ts';
import type { Violation } from '../../../src/schema/violation.ts';
import type { Definitions } from '../../../src/schema/program.ts';
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
  optional,
  programOf,
  string,
  union,
} from '../../support/definitions.ts';
import { validatorsOf } from '../../support/validators.ts';

const OPEN = { ...enumType('Open', ['RED']), dynamic: true };

const shared: Partial<Definitions> = {
  classes: [
    classType('Skill', [field('name', string), field('years', optional(int))]),
    classType('Resume', [field('name', string), field('skills', list(classRef('Skill')))]),
    classType('Circle', [field('kind', literal('circle')), field('radius', float)]),
    classType('Square', [field('kind', literal('square')), field('side', float)]),
    classType('Polygon', [field('kind', union(literal('pentagon'), literal('hexagon'))), field('sides', int)]),
    classType('Note', [field('kind', string), field('text', string)]),
    classType('FirstOrder', [field('type', literal('order')), field('version', literal(1))]),
    classType('SecondOrder', [field('type', literal('order')), field('version', literal(2))]),
    classType('A', [field('next', optional(union(classRef('A'), classRef('B'))))]),
    classType('B', [field('next', optional(union(classRef('A'), classRef('B'))))]),
    classType('Odd', [field('constructor', optional(string)), field('toString', string)]),
    classType('Node', [field('next', optional(classRef('Node')))]),
  ],
  enums: [enumType('Color', ['RED', 'GREEN', '-HIDDEN']), enumType('Never', []), OPEN],
  aliases: [
    alias('Shape', union(classRef('Circle'), classRef('Square'))),
    alias('Json', union(string, int, nothing, list(aliasRef('Json')), map(string, aliasRef('Json')))),
  ],
};

/** The violations of one argument `x` of the type. */
function violationsOf(type: Type, value: unknown): readonly Violation[] {
  return violationsIn({ x: type }, { x: value });
}

function violationsIn(parameters: Readonly<Record<string, Type>>, args: Record<string, unknown>): readonly Violation[] {
  const fn = functionType('Check', parameters);
  const program = programOf({ ...shared, functions: [fn] });
  return createArgumentChecker(program, validatorsOf(program), compileCondition)(fn, args);
}

const TOO_LARGE = 'expected an int, got a number beyond ±9007199254740991, the bounds of an int';

const resume = classRef('Resume');
const json = (text: string): Record<string, unknown> => JSON.parse(text);

test.each<[string, Type, unknown]>([
  ['an int', int, 5],
  ['the largest int', int, Number.MAX_SAFE_INTEGER],
  ['a float', float, 1.5],
  ['an int as a float', float, 2],
  ['a string', string, ''],
  ['a bool', bool, false],
  ['null', nothing, null],
  ['a literal', literal(5), 5],
  ['an enum value', enumRef('Color'), 'RED'],
  ['a skipped enum value', enumRef('Color'), 'HIDDEN'],
  ['a declared value of a dynamic enum', enumRef('Open'), 'RED'],
  ['another value of a dynamic enum', enumRef('Open'), 'BLUE'],
  ['another value of a dynamic enum as a key', map(enumRef('Open'), int), { BLUE: 1 }],
  ['a class with keys that it does not declare', classRef('Skill'), { name: 'x', more: 1, __proto__: null }],
  ['a class with an optional null', classRef('Skill'), { name: 'x', years: null }],
  ['an image by url', media('image'), { url: 'https://example.com/a.png' }],
  ['an image by url with its type', media('image'), { url: 'u', media_type: 'image/png' }],
  ['audio inline', media('audio'), { base64: 'AAAA', media_type: 'audio/wav' }],
  ['media with nulls for what is absent', media('pdf'), { url: 'u', base64: null, media_type: null }],
  ['a map', map(string, int), { a: 1, __proto__x: 2 }],
  ['a map with enum keys', map(enumRef('Color'), int), { RED: 1, HIDDEN: 2 }],
  ['a map with literal keys', map(union(literal('a'), literal('b')), int), { a: 1 }],
  ['a map with the key __proto__', map(string, int), json('{"__proto__": 1, "constructor": 2}')],
  ['a recursive alias', aliasRef('Json'), [1, { a: ['x', null] }]],
  ['the second member of a union', union(int, list(string)), ['a']],
  ['members of one class that lead back to each other', classRef('A'), { next: { next: { next: null } } }],
])('accepts %s', (_name, type, value) => {
  expect(violationsOf(type, value)).toEqual([]);
});

test.each<[what: string, type: Type, value: unknown, ...violation: string[]]>([
  ['a string for an int', int, '5', 'x', 'expected an int, got a string'],
  ['a fraction for an int', int, 1.5, 'x', 'expected an int, got a float'],
  ['an int that JSON cannot keep exactly', int, json('{"n":9007199254740993}')['n'], 'x', TOO_LARGE],
  ['a negative one', int, -(2 ** 53), 'x', TOO_LARGE],
  ['a large int with an exponent', int, json('{"n":1e30}')['n'], 'x', TOO_LARGE],
  ['a large int in a list', list(int), [1, 2 ** 53], 'x[1]', TOO_LARGE],
  ['a large int in a map', map(string, int), { a: 2 ** 53 }, 'x.a', TOO_LARGE],
  ['a large optional int', optional(int), 2 ** 53, 'x', TOO_LARGE.replace('an int', 'an int or null')],
  [
    'a large int in a field',
    classRef('Skill'),
    { name: 'n', years: 1e30 },
    'x.years',
    TOO_LARGE.replace('an int', 'an int or null'),
  ],
  [
    'a large int in a class in a list in a class',
    resume,
    {
      name: 'n',
      skills: [
        { name: 'a', years: 1 },
        { name: 'b', years: 2 ** 53 },
      ],
    },
    'x.skills[1].years',
    TOO_LARGE.replace('an int', 'an int or null'),
  ],
  [
    'a large int for a union without floats',
    union(int, string),
    2 ** 53,
    'x',
    TOO_LARGE.replace('an int', 'one of int or string'),
  ],
  ['infinity for a float', float, json('{"n":1e999}')['n'], 'x', 'expected a float, got a number out of range'],
  ['a number for a string', string, 5, 'x', 'expected a string, got an int'],
  ['a number for a bool', bool, 1, 'x', 'expected a bool, got an int'],
  ['null for a string', string, null, 'x', 'expected a string, got null'],
  ['a string for null', nothing, '', 'x', 'expected null, got a string'],
  ['another literal', literal('yes'), 'yess', 'x', 'expected "yes", got "yess". Did you mean "yes"?'],
  [
    'an enum alias',
    enumRef('Color'),
    'GREENS',
    'x',
    'expected one of "RED", "GREEN" or "HIDDEN", got "GREENS". Did you mean "GREEN"?',
  ],
  ['anything for an empty enum', enumRef('Never'), 'A', 'x', 'expected one of nothing, got a string'],
  ['a list for a class', resume, [], 'x', 'expected an object of class Resume, got a list'],
  ['an object for a list', list(int), {}, 'x', 'expected a list (int[]), got an object'],
  ['a list for a map', map(string, int), [], 'x', 'expected an object (map<string, int>), got a list'],
  [
    'a wrong map key',
    map(enumRef('Color'), int),
    { BLUE: 1 },
    'x.BLUE',
    'not a key of this map: expected one of "RED", "GREEN" or "HIDDEN"',
  ],
  ['a wrong map value', map(string, int), { 'a b': 'c' }, 'x["a b"]', 'expected an int, got a string'],
  [
    'a plain string for an image',
    media('image'),
    'u',
    'x',
    'expected an image as {"url": …} or {"base64": …, "media_type": …}, got a string',
  ],
  [
    'an image with both',
    media('image'),
    { url: 'u', base64: 'b' },
    'x',
    'expected exactly one of "url" and "base64" in this image',
  ],
  ['an image with neither', media('image'), {}, 'x', 'expected exactly one of "url" and "base64" in this image'],
  [
    'an image by file',
    media('image'),
    { file: 'f' },
    'x.file',
    'unknown key "file"; allowed: "url", "base64" or "media_type"',
  ],
  [
    'a data URL as base64',
    media('image'),
    { base64: 'data:image/png;base64,QUJD' },
    'x.base64',
    'expected base64 with padding (RFC 4648, section 4)',
  ],
  ['a wrong media type', media('pdf'), { url: 'u', media_type: 5 }, 'x.media_type', 'expected a string, got an int'],
  ['no member of a union', union(int, list(string)), true, 'x', 'expected one of int or string[], got a bool'],
  ['no member of an optional', optional(int), 'a', 'x', 'expected an int or null, got a string'],
  ['the one member that was meant', union(int, list(string)), [1], 'x[0]', 'expected a string, got an int'],
  [
    'the member with that tag',
    union(classRef('Circle'), classRef('Square')),
    { kind: 'square', side: 'a' },
    'x.side',
    'expected a float, got a string',
  ],
  [
    'no tag of a union of classes',
    union(classRef('Circle'), classRef('Square')),
    { kind: 'oval' },
    'x.kind',
    'expected one of "circle" or "square", got "oval"',
  ],
  [
    'a misspelled tag in a list, in a union with null',
    list(optional(union(classRef('Circle'), classRef('Square')))),
    [null, { kind: 'squares', side: 1 }],
    'x[1].kind',
    'expected one of "circle" or "square", got "squares". Did you mean "square"?',
  ],
  [
    'a value without a tag',
    union(classRef('Circle'), classRef('Square')),
    { side: 1 },
    'x.kind',
    'missing: expected one of "circle" or "square"',
  ],
  [
    'a tag of another type',
    union(classRef('Circle'), classRef('Square')),
    { kind: 1 },
    'x.kind',
    'expected one of "circle" or "square", got an int',
  ],
  [
    'the wrong tag of an optional class',
    optional(classRef('Circle')),
    { kind: 'a' },
    'x.kind',
    'expected "circle", got "a"',
  ],
  [
    'a tag that one member has several of',
    union(classRef('Circle'), classRef('Polygon')),
    { kind: 'pentagram', sides: 5 },
    'x.kind',
    'expected one of "circle", "pentagon" or "hexagon", got "pentagram". Did you mean "pentagon"?',
  ],
  [
    'a wrong field of a member that one of several tags selects',
    union(classRef('Circle'), classRef('Polygon')),
    { kind: 'hexagon', sides: 'six' },
    'x.sides',
    'expected an int, got a string',
  ],
  [
    'a second tag that belongs to another member',
    union(classRef('FirstOrder'), classRef('SecondOrder')),
    { type: 'order', version: 3 },
    'x.version',
    'expected one of 1 or 2, got an int',
  ],
  [
    'a wrong tag beside a member without one',
    union(classRef('Circle'), classRef('Skill')),
    { kind: 'oval', radius: 1 },
    'x.kind',
    'expected "circle", got "oval"',
  ],
  [
    'a value without a tag, of the member without one',
    union(classRef('Circle'), classRef('Skill')),
    { years: 1 },
    'x.name',
    'missing: expected a string',
  ],
  [
    'a tag that the other member declares as a string',
    union(classRef('Circle'), classRef('Note')),
    { kind: 'oval' },
    'x.text',
    'missing: expected a string',
  ],
  [
    'tags of members inside aliases and unions',
    union(string, aliasRef('Shape')),
    { kind: 'oval' },
    'x.kind',
    'expected one of "circle" or "square", got "oval"',
  ],
  [
    'a wrong value deep inside',
    resume,
    { name: 'n', skills: [{ name: 'a' }, { name: 1 }] },
    'x.skills[1].name',
    'expected a string, got an int',
  ],
  ['a missing field', resume, { name: 'n' }, 'x.skills', 'missing: expected a list (Skill[])'],
  ['an inherited field', classRef('Odd'), {}, 'x.toString', 'missing: expected a string'],
  [
    '__proto__ as an object with fields',
    classRef('Skill'),
    json('{"__proto__": {"name": "x"}}'),
    'x.name',
    'missing: expected a string',
  ],
])('refuses %s', (_what, type, value, ...[path, message]) => {
  expect(violationsOf(type, value)).toEqual([{ path, message }]);
});

test('an optional parameter can be absent or null, a required one cannot be absent', () => {
  const parameters = { a: optional(string), b: aliasRef('Json'), c: string };
  expect(violationsIn(parameters, { c: 'x' })).toEqual([]);
  expect(violationsIn(parameters, { a: null, b: null, c: 'x' })).toEqual([]);
  expect(violationsIn(parameters, {})).toEqual([{ path: 'c', message: 'missing: expected a string' }]);
});

test('a value that fits a member without a tag is no fault, whatever its other keys are', () => {
  const shapes = list(union(classRef('Circle'), classRef('Skill')));
  const value = [{ name: 'n', kind: 'oval' }, { name: 1 }];
  expect(violationsOf(shapes, value)).toEqual([{ path: 'x[1].name', message: 'expected a string, got an int' }]);
});

test('every violation is listed', () => {
  const violations = violationsIn(
    { text: string, count: int, resume },
    { txt: 'a', count: '1', resume: { name: 1, skills: [2] } },
  );
  expect(violations).toEqual([
    { path: 'text', message: 'missing: expected a string' },
    { path: 'count', message: 'expected an int, got a string' },
    { path: 'resume.name', message: 'expected a string, got an int' },
    { path: 'resume.skills[0]', message: 'expected an object of class Skill, got an int' },
    { path: 'txt', message: 'unknown parameter "txt". Did you mean "text"?' },
  ]);
});

test('options keys are accepted whatever they hold, other unknown keys are not', () => {
  expect(violationsIn({ a: int }, { a: 1, svc_options: 5, __svc_options__: [], __baml_options__: null })).toEqual([]);
  expect(violationsIn({ a: int }, { a: 1, zzzzzz: 5 })).toEqual([
    { path: 'zzzzzz', message: 'unknown parameter "zzzzzz"; allowed: "a"' },
  ]);
  expect(violationsIn({ a: int }, { a: 1, baml_options: {} })).toEqual([
    {
      path: 'baml_options',
      message: 'unknown parameter "baml_options". Did you mean "__baml_options__" or "svc_options"?',
    },
  ]);
  expect(violationsIn({}, json('{"__proto__": 1}'))).toEqual([
    { path: '__proto__', message: 'unknown parameter "__proto__"; no parameters are allowed' },
  ]);
});

test('a long list of violations ends after a hundred with a note', () => {
  const violations = violationsOf(
    list(int),
    Array.from({ length: 10_000 }, () => 'a'),
  );
  expect(violations).toHaveLength(101);
  expect(violations.at(-1)).toEqual({ path: '', message: 'and more: these are the first 100' });
});

test('long text of the caller is cut in messages and paths', () => {
  const long = 'k'.repeat(1_000_000);
  expect(violationsOf(enumRef('Color'), long)[0]?.message.length).toBeLessThan(200);
  expect(violationsIn({}, { [long]: 1 })[0]?.path.length).toBeLessThan(200);
});

test('a value nested a hundred thousand levels deep is refused and not a crash', () => {
  let deepNode: unknown = 'wrong';
  let deepJson: unknown = true;
  for (let level = 0; level < 100_000; level += 1) {
    deepNode = { next: deepNode };
    deepJson = [deepJson];
  }
  for (const violations of [violationsOf(classRef('Node'), deepNode), violationsOf(aliasRef('Json'), deepJson)]) {
    expect(violations).toHaveLength(1);
    expect(violations[0]?.message).toBe('nested deeper than 256 levels');
  }
});

test('classes that lead back to each other through unions take steps in proportion to the depth', () => {
  const growth = stepGrowth(60, (levels) => {
    let value: unknown = { next: 'wrong' };
    for (let level = 0; level < levels; level += 1) value = { next: value };
    return () =>
      expect(violationsOf(classRef('A'), value)).toEqual([
        { path: 'x.next', message: 'expected one of A, B or null, got an object' },
      ]);
  });
  expect(growth.factor).toBeLessThan(3);
});

test('an explanation reads each level of a recursive value a few times', () => {
  let reads = 0;
  let value: unknown = true;
  for (let level = 0; level < 120; level += 1) {
    const inner = value;
    const get = (): unknown => {
      reads += 1;
      return inner;
    };
    value = Object.defineProperty({ before: [1, 2, 3] }, 'next', { get, enumerable: true });
  }
  const [violation] = violationsOf(aliasRef('Json'), value);
  expect(violation?.path).toBe(`x${'.next'.repeat(120)}`);
  expect(reads).toBeLessThan(120 * 6);
});

test('arguments cannot reach a prototype', () => {
  violationsOf(
    map(string, aliasRef('Json')),
    json('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}'),
  );
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});
