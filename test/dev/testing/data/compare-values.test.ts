import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../../../src/base/json.ts';
import { differencesFrom, similarity } from '../../../../src/dev/testing/data/compare-values.ts';
import { assertProperty } from '../../../support/assert-property.ts';

function whole(value: JsonValue, similar = false) {
  return [{ path: [], value, similar }];
}

test('equal values have no difference, whatever the order of their keys', () => {
  assertProperty(
    fc.property(fc.jsonValue(), (json) => {
      const value = JSON.parse(JSON.stringify(json)) as JsonValue;
      expect(differencesFrom(whole(value), value, 1)).toEqual([]);
    }),
  );
  expect(differencesFrom(whole({ a: 1, b: { c: 2, d: null } }), { b: { c: 2 }, a: 1 }, 1)).toEqual([]);
});

test('each difference has its path', () => {
  const expected = { name: 'Ada', tags: ['a', 'b'], address: { 'post code': '1', city: 'London' } };
  const value = { name: 'Ada B', tags: ['a', 'c'], address: { 'post code': '2', city: 'London' }, extra: true };
  expect(differencesFrom(whole(expected), value, 1)).toEqual([
    'name: expected "Ada", got "Ada B"',
    'tags[1]: expected "b", got "c"',
    'address["post code"]: expected "1", got "2"',
    'extra: expected null, got true',
  ]);
  expect(differencesFrom(whole(['a']), ['a', 'b'], 1)).toEqual(['expected ["a"], got ["a","b"]']);
  expect(differencesFrom(whole(1), '1', 1)).toEqual(['expected 1, got "1"']);
});

test('an expected field is compared alone', () => {
  const path = ['people', '0', 'name'];
  const expected = [{ path, value: 'Ada', similar: false }];
  expect(differencesFrom(expected, { people: [{ name: 'Ada', age: 36 }] }, 1)).toEqual([]);
  expect(differencesFrom(expected, { people: [] }, 1)).toEqual(['people[0].name: expected "Ada", got null']);
  expect(differencesFrom(expected, 'Ada', 1)).toEqual(['people[0].name: expected "Ada", got null']);
});

test('similarity applies to strings only', () => {
  const expected = { summary: 'The cat sat.', count: 2 };
  expect(differencesFrom(whole(expected, true), { summary: 'the cat sat down', count: 2 }, 0.8)).toEqual([]);
  expect(differencesFrom(whole(expected, true), { summary: 'the cat sat down', count: 3 }, 0.9)).toEqual([
    'summary: 85 % similar to "The cat sat.", got "the cat sat down"',
    'count: expected 2, got 3',
  ]);
});

test.each([
  ['the cat sat', 'The cat sat down', 6 / 7],
  ['a a b', 'a b b', 2 / 3],
  ['Straße, 5', 'strasse 5', 1 / 2],
  ['東京都', '東京', 4 / 5],
  ['…', '!', 0],
  ['', '', 1],
])('the similarity of "%s" and "%s" is the F1 of their words', (a, b, share) => {
  expect(similarity(a, b)).toBeCloseTo(share, 12);
});

test('similarity is symmetric, between 0 and 1, and 1 for equal strings', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'Ada', 'née', '5', ',', '東'), { maxLength: 8 });
  assertProperty(
    fc.property(words, words, (left, right) => {
      const [a, b] = [left.join(' '), right.join(' ')];
      const share = similarity(a, b);
      expect(share).toBe(similarity(b, a));
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share).toBeLessThanOrEqual(1);
      expect(similarity(a, a)).toBe(1);
    }),
  );
});
