import { expect, test } from 'vitest';
import { BoundedCache } from '../../src/base/bounded-cache.ts';

test('beyond the number of entries, the cache drops the least recently used value', () => {
  const cache = new BoundedCache<number>({ entries: 2, characters: 100 });
  cache.set('a', 1, 1);
  cache.set('b', 2, 1);
  cache.get('a');
  cache.set('c', 3, 1);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
});

test('beyond the number of characters, the cache drops as many values as necessary', () => {
  const cache = new BoundedCache<number>({ entries: 10, characters: 100 });
  for (const key of ['a', 'b', 'c']) cache.set(key, 0, 30);
  cache.set('d', 0, 60);
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.get('d')]).toEqual([undefined, undefined, 0, 0]);
});

test('a value that is larger than the cache is not kept', () => {
  const cache = new BoundedCache<number>({ entries: 10, characters: 100 });
  cache.set('a', 0, 101);
  expect(cache.size).toBe(0);
  cache.set('b', 0, 100);
  expect(cache.size).toBe(1);
});

test('a new value of a key replaces the old one and its size', () => {
  const cache = new BoundedCache<number>({ entries: 10, characters: 100 });
  for (let value = 0; value < 5; value += 1) cache.set('a', value, 90);
  expect([cache.get('a'), cache.size]).toEqual([4, 1]);
});
