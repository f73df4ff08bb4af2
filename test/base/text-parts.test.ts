import { expect, test } from 'vitest';
import { isSameText, joinParts, lengthOfParts, textParts } from '../../src/base/text-parts.ts';

const LONG = 'x'.repeat(2000);

test('short parts are one with their neighbors, and long parts stay as they are', () => {
  expect(textParts('')).toEqual([]);
  expect(textParts(['a', ['b', [], ''], 'c'])).toEqual(['abc']);
  expect(textParts(['a', [LONG, ['b'], 'c', LONG], 'd'])).toEqual(['a', LONG, 'bc', LONG, 'd']);
  expect(lengthOfParts(['a', LONG])).toBe(2001);
  expect(joinParts(['a', 'b', 'c'])).toBe('abc');
});

test('texts are compared whatever their parts', () => {
  expect(isSameText(['ab', 'c'], ['a', 'bc'])).toBe(true);
  expect(isSameText(['ab', 'c'], ['a', 'bd'])).toBe(false);
  expect(isSameText(['ab'], ['ab', 'c'])).toBe(false);
  expect(isSameText([], [''])).toBe(true);
});
