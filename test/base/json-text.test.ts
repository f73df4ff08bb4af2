import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memberTexts, rawValueAt } from '../../src/base/json-text.ts';
import { assertProperty } from '../support/assert-property.ts';

test('a value keeps its source text', () => {
  const json = ' { "a\\u0062": [ 1.0 , {"c" : 9007199254740993 } ,"],\\"" ] , "d":{} } ';
  expect(rawValueAt(json, ['ab', 0])).toBe('1.0');
  expect(rawValueAt(json, ['ab', 1])).toBe('{"c" : 9007199254740993 }');
  expect(rawValueAt(json, ['ab', 1, 'c'])).toBe('9007199254740993');
  expect(rawValueAt(json, ['ab', 2])).toBe('"],\\""');
  expect(rawValueAt(json, ['d'])).toBe('{}');
  expect(rawValueAt(json, [])).toBe(json.trim());
});

test('of members with the same name, the first one counts', () => {
  expect(rawValueAt('{"a":1,"a":2,"b":3}', ['a'])).toBe('1');
});

test('there is no value at other paths', () => {
  for (const path of [['b'], ['a', 2], ['a', 'length'], ['a', 0, 'x'], [0]]) {
    expect(rawValueAt('{"a":[1,[]]}', path)).toBeUndefined();
  }
  expect(rawValueAt('[]', [0])).toBeUndefined();
  expect(rawValueAt('{}', ['toString'])).toBeUndefined();
});

test('every value inside any JSON is found at its path', () => {
  assertProperty(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, ' ', '\t'), (value, indent) => {
      const json = JSON.stringify(value, null, indent);
      for (const [path, expected] of placesIn(JSON.parse(json))) {
        expect(JSON.parse(rawValueAt(json, path) ?? 'no value')).toEqual(expected);
      }
    }),
  );
});

type Place = readonly [path: ReadonlyArray<string | number>, value: unknown];

function placesIn(value: unknown, path: ReadonlyArray<string | number> = []): readonly Place[] {
  const isParent = typeof value === 'object' && value !== null;
  const parts = Array.isArray(value) ? [...value.entries()] : isParent ? Object.entries(value) : [];
  return [[path, value], ...parts.flatMap(([step, part]) => placesIn(part, [...path, step]))];
}

test('the texts of members are those of the object, with every digit', () => {
  expect([...memberTexts('{"id": 12345678901234567890, "a,b": [1, {"c": "}"}] , "d\\"": "x\\\\"}')]).toEqual([
    ['id', '12345678901234567890'],
    ['a,b', '[1, {"c": "}"}]'],
    ['d"', '"x\\\\"'],
  ]);
  expect(memberTexts(' { } ').size).toBe(0);
});

test('the texts of the members of any object parse to its members', () => {
  assertProperty(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (object, spaces) => {
      const json = JSON.stringify(object, undefined, spaces);
      const members = [...memberTexts(json)].map(([key, text]) => [key, JSON.parse(text) as unknown] as const);
      expect(new Map(members)).toEqual(new Map(Object.entries(JSON.parse(json) as object)));
    }),
  );
});
