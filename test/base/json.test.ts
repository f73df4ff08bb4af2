import { expect, test } from 'vitest';
import { canonicalJson, isJsonObject, ownValue } from '../../src/base/json.ts';

test('only plain objects are JSON objects', () => {
  expect(isJsonObject({})).toBe(true);
  for (const other of [null, [], 'x', 1, true, undefined]) expect(isJsonObject(other)).toBe(false);
});

test('inherited properties are not values', () => {
  expect(ownValue({ a: 1 }, 'a')).toBe(1);
  for (const name of ['constructor', '__proto__', 'toString']) expect(ownValue({}, name)).toBeUndefined();
});

test('equal data has equal canonical JSON, whatever the order of its keys', () => {
  const one = JSON.parse('{"b":[{"y":1,"x":null}],"10":1,"9":2,"__proto__":{"d":1,"c":"é"}}') as unknown;
  const other = JSON.parse('{"__proto__":{"c":"é","d":1},"9":2,"10":1,"b":[{"x":null,"y":1}]}') as unknown;
  expect(canonicalJson(one)).toBe('{"9":2,"10":1,"__proto__":{"c":"é","d":1},"b":[{"x":null,"y":1}]}');
  expect(canonicalJson(other)).toBe(canonicalJson(one));
  expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
});
