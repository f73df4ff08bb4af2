import { expect, test } from 'vitest';
import { isJsonObject, ownValue } from '../../src/base/json.ts';

test('only plain objects are JSON objects', () => {
  expect(isJsonObject({})).toBe(true);
  for (const other of [null, [], 'x', 1, true, undefined]) expect(isJsonObject(other)).toBe(false);
});

test('inherited properties are not values', () => {
  expect(ownValue({ a: 1 }, 'a')).toBe(1);
  for (const name of ['constructor', '__proto__', 'toString']) expect(ownValue({}, name)).toBeUndefined();
});
