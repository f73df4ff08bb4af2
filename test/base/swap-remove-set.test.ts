import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../support/assert-property.ts';
import { SwapRemoveSet } from '../../src/base/swap-remove-set.ts';

interface Numbered {
  readonly name: number;
  setIndex: number;
}

test('after any sequence of additions and deletions it holds the same members as a Set', () => {
  assertProperty(
    fc.property(fc.array(fc.record({ name: fc.nat(9), add: fc.boolean() })), (steps) => {
      const objects = Array.from({ length: 10 }, (_, name): Numbered => ({ name, setIndex: -1 }));
      const tested = new SwapRemoveSet<Numbered>();
      const oracle = new Set<Numbered>();
      for (const { name, add } of steps) {
        const object = objects[name];
        if (object === undefined) continue;
        if (add) tested.add(object);
        else tested.delete(object);
        if (add) oracle.add(object);
        else oracle.delete(object);
        expect(tested.size).toBe(oracle.size);
      }
      expect(new Set(tested.list())).toEqual(oracle);
      for (const object of objects) expect(object.setIndex >= 0).toBe(oracle.has(object));
    }),
  );
});

test('members can be deleted while the list is iterated', () => {
  const set = new SwapRemoveSet<Numbered>();
  for (let name = 0; name < 5; name += 1) set.add({ name, setIndex: -1 });
  const seen: number[] = [];
  for (const object of set.list()) {
    seen.push(object.name);
    set.delete(object);
  }
  expect(seen.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
  expect(set.size).toBe(0);
});
