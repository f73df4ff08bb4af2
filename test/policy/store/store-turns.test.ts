import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StoreTurns } from '../../../src/policy/turns.ts';
import { assertAsyncProperty } from '../../support/assert-property.ts';
import { fakeStore, type Fault } from './fake-client.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A machine whose store counts in `counter`, which other machines can share. */
async function machine(counter: { value: number }) {
  const { client, store } = fakeStore();
  client.answers.turns = (_keys, [count]) => (counter.value += Number(count));
  client.become('none');
  await vi.advanceTimersByTimeAsync(0);
  return { client, turns: new StoreTurns(store) };
}

test('machines that take turns slowly alternate exactly', async () => {
  const counter = { value: 0 };
  const [one, two] = [await machine(counter), await machine(counter)];
  const taken = [];
  for (let each = 0; each < 3; each += 1) {
    taken.push(await one.turns.next('A'), await two.turns.next('A'));
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
});

test('a machine that takes many turns asks the store rarely, and no turn is taken twice', async () => {
  const counter = { value: 0 };
  const [one, two] = [await machine(counter), await machine(counter)];
  const taken = new Set<number>();
  for (let each = 0; each < 1_000; each += 1) taken.add(await one.turns.next('A')).add(await two.turns.next('A'));
  expect(taken.size).toBe(2_000);
  expect(one.client.asked.filter((operation) => operation === 'turns').length).toBeLessThan(15);
});

test('whatever happens to the store, every call gets a turn, and turns are consecutive except where the store comes or goes', async () => {
  const fault = fc.constantFrom<Fault>('none', 'silent', 'OOM', 'closed');
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(fc.tuple(fault, fc.nat(20)), { maxLength: 20 }), async (steps) => {
      // Those of the run before.
      vi.clearAllTimers();
      const { client, turns } = await machine({ value: 0 });
      for (const [state, calls] of steps) {
        client.become(state);
        const taken: number[] = [];
        for (let each = 0; each < calls; each += 1) {
          const turn = turns.next('A');
          await vi.advanceTimersByTimeAsync(60);
          taken.push(await turn);
        }
        const jumps = taken.filter((turn, index) => index > 0 && turn !== (taken[index - 1] ?? 0) + 1);
        expect(jumps.length).toBeLessThanOrEqual(1);
        expect(taken.every((turn) => Number.isSafeInteger(turn) && turn >= 0)).toBe(true);
      }
    }),
  );
});
