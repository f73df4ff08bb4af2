import { expect, test } from 'vitest';
import {
  fits,
  initialArguments,
  initialValue,
  unionMemberOf,
  withMember,
  isOptional,
  type Types,
} from '../../src/playground/data/argument-values.ts';
import type { Type } from '../../src/schema/type.ts';
import {
  aliasRef,
  bool,
  classRef,
  enumRef,
  float,
  int,
  list,
  literal,
  map,
  media,
  nothing,
  optional,
  string,
  union,
} from '../support/definitions.ts';

const TYPES: Types = {
  classes: new Map([
    ['Circle', { name: 'Circle', fields: [field('kind', literal('circle')), field('radius', float)] }],
    ['Square', { name: 'Square', fields: [field('kind', literal('square')), field('side', float)] }],
    ['Tree', { name: 'Tree', fields: [field('name', string), field('left', optional(classRef('Tree')))] }],
    ['Endless', { name: 'Endless', fields: [field('inner', classRef('Endless'))] }],
  ]),
  enums: new Map([['Level', { name: 'Level', values: [{ name: 'Low' }, { name: 'High' }] }]]),
  aliases: new Map([['Json', { name: 'Json', type: union(string, list(aliasRef('Json')), nothing) }]]),
};

function field(name: string, type: Type) {
  return { name, type };
}

test('a form begins with empty values for what is required, and without what is optional', () => {
  const parameters = [
    field('text', string),
    field('count', int),
    field('flag', bool),
    field('level', enumRef('Level')),
    field('shape', union(classRef('Circle'), classRef('Square'))),
    field('tree', classRef('Tree')),
    field('list', list(int)),
    field('map', map(string, int)),
    field('picture', media('image')),
    field('note', optional(string)),
    field('any', aliasRef('Json')),
  ];
  expect(initialArguments(parameters, TYPES)).toEqual({
    text: '',
    count: 0,
    flag: false,
    level: 'Low',
    shape: { kind: 'circle', radius: 0 },
    tree: { name: '' },
    list: [],
    map: {},
    picture: { url: '' },
  });
});

test('a class that requires itself has an empty value that ends', () => {
  expect(JSON.stringify(initialValue(classRef('Endless'), TYPES)).length).toBeLessThan(200);
});

test('an alias is optional if its target is', () => {
  expect(isOptional(aliasRef('Json'), TYPES)).toBe(true);
  expect(isOptional(union(aliasRef('Json'), int), TYPES)).toBe(true);
  expect(isOptional(union(string, int), TYPES)).toBe(false);
});

test.each<readonly [Type, unknown, boolean]>([
  [string, 'a', true],
  [int, 1.5, false],
  [float, 1.5, true],
  [literal('a'), 'a', true],
  [enumRef('Level'), 'Medium', false],
  [media('image'), { url: '' }, true],
  [media('image'), {}, false],
  [list(int), [1, 'b'], false],
  [map(string, int), { a: 1 }, true],
  [classRef('Circle'), { kind: 'circle', radius: 1 }, true],
  [classRef('Circle'), { kind: 'circle' }, false],
  [classRef('Tree'), { name: 'a' }, true],
  [aliasRef('Json'), [['a', null]], true],
  [aliasRef('Json'), [[1]], false],
])('whether %j fits %j', (type, value, expected) => {
  expect(fits(type, value as never, TYPES)).toBe(expected);
});

test('a value belongs to the member of a union that it fits, or else to the one that it is meant to be', () => {
  const members = [classRef('Circle'), classRef('Square'), list(string), int];
  expect(unionMemberOf(members, { kind: 'square', side: 1 }, TYPES)).toBe(1);
  expect(unionMemberOf(members, { kind: 'square' }, TYPES)).toBe(1);
  expect(unionMemberOf(members, [1], TYPES)).toBe(2);
  expect(unionMemberOf(members, 1.5, TYPES)).toBe(3);
  expect(unionMemberOf(members, true, TYPES)).toBe(-1);
});

test('a member is replaced in its place, appended, or removed', () => {
  expect(JSON.stringify(withMember({ a: 1, b: 2 }, 'a', 3))).toBe('{"a":3,"b":2}');
  expect(JSON.stringify(withMember({ a: 1 }, 'b', 2))).toBe('{"a":1,"b":2}');
  expect(JSON.stringify(withMember({ a: 1, b: 2 }, 'a', undefined))).toBe('{"b":2}');
});
