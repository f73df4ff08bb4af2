import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../support/assert-property.ts';
import { didYouMean, editDistance, nearestNames } from '../../src/base/suggestion.ts';

test('a typo finds the intended name', () => {
  expect(nearestNames('Resmue', ['Resume', 'Person', 'Result'])[0]).toBe('Resume');
});

test('a name that differs only in case comes first', () => {
  expect(nearestNames('resume', ['Resumes', 'Resume'])).toEqual(['Resume', 'Resumes']);
});

test('nothing is suggested when nothing is near', () => {
  expect(nearestNames('Invoice', ['Person', 'Address'])).toEqual([]);
  expect(didYouMean('Invoice', ['Person'])).toBe('');
});

test('a name is suggested once, and short names need a letter in common', () => {
  expect(nearestNames('pp', ['p', '_', '_', 'p'])).toEqual(['p']);
});

test('at most three names are suggested', () => {
  expect(nearestNames('ab', ['aa', 'ac', 'ad', 'ae', 'af'])).toHaveLength(3);
});

test('the sentence joins the last name with or', () => {
  expect(didYouMean('strng', ['string'])).toBe('Did you mean "string"?');
  expect(didYouMean('nam', ['name', 'nam1'])).toMatch(/^Did you mean "\w+" or "\w+"\?$/u);
});

test('swapped letters are one edit', () => {
  expect(editDistance('abcd', 'abdc')).toBe(1);
});

test('distance is symmetric, zero only for the same text, and never above the longer length', () => {
  assertProperty(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      const distance = editDistance(a, b);
      expect(editDistance(b, a)).toBe(distance);
      expect(distance === 0).toBe(a === b);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});

test('a distance within the limit is exact, and one above it is Infinity or exact', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'A'), maxLength: 12 });
  assertProperty(
    fc.property(word, word, fc.nat(6), (a, b, limit) => {
      const exact = editDistance(a, b);
      const limited = editDistance(a, b, limit);
      expect(limited).toBe(exact <= limit ? exact : limited);
      expect(limited).toBeGreaterThanOrEqual(exact);
    }),
  );
});
