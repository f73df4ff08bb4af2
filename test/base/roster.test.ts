import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Roster } from '../../src/base/roster.ts';

interface Guest {
  readonly name: number;
  rosterPlace: number;
}

test('a roster holds what a set would hold, whoever comes and goes', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ name: fc.nat(9), comes: fc.boolean() })), (steps) => {
      const guests = Array.from({ length: 10 }, (_, name): Guest => ({ name, rosterPlace: -1 }));
      const roster = new Roster<Guest>();
      const set = new Set<Guest>();
      for (const { name, comes } of steps) {
        const guest = guests[name];
        if (guest === undefined) continue;
        if (comes) roster.add(guest);
        else roster.delete(guest);
        if (comes) set.add(guest);
        else set.delete(guest);
        expect(roster.size).toBe(set.size);
      }
      expect(new Set(roster.list())).toEqual(set);
      for (const guest of guests) expect(guest.rosterPlace >= 0).toBe(set.has(guest));
    }),
  );
});

test('members may leave while the list of them is walked', () => {
  const roster = new Roster<Guest>();
  for (let name = 0; name < 5; name += 1) roster.add({ name, rosterPlace: -1 });
  const seen: number[] = [];
  for (const guest of roster.list()) {
    seen.push(guest.name);
    roster.delete(guest);
  }
  expect(seen.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
  expect(roster.size).toBe(0);
});
