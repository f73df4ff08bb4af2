import { expect, test } from 'vitest';
import { setNewest } from '../../src/base/set-newest.ts';

test('an entry that is set again is the newest one', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  setNewest(map, 'a', 3, 2);
  expect([...map]).toEqual([
    ['b', 2],
    ['a', 3],
  ]);
});

test('a new entry replaces the oldest one if there are too many', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  setNewest(map, 'c', 3, 2);
  expect([...map.keys()]).toEqual(['b', 'c']);
});
