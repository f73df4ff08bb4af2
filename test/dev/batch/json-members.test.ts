import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memberTexts } from '../../../src/dev/batch/answer-format.ts';
import { assertProperty } from '../../support/assert-property.ts';

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
