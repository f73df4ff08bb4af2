import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS, grantOf, type Limit } from '../../../src/policy/ledger.ts';
import { StoreLedger } from '../../../src/policy/store/store-ledger.ts';
import { assertAsyncProperty } from '../../support/assert-property.ts';
import { fakeStore, type Fault } from './fake-client.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PER_MINUTE: Limit = { id: 'key:a requests_per_minute', units: 100, windowMs: 60_000 };
const IN_FLIGHT: Limit = { id: 'key:a in_flight', units: 10, windowMs: undefined };

/** The counters of the store, which several machines share: what the scripts `take`, `give` and `hold` do. */
class Counters {
  window = 1_000_000;
  taken = 0;
  readonly held = new Map<string, number>();

  take([limit = 0, , unknown = 0, units = 0, least = 1]: readonly number[]): readonly number[] {
    this.taken += unknown;
    const granted = grantOf(limit - this.taken, units, least);
    this.taken += granted;
    return [granted, Math.max(0, limit - this.taken), 60_000, this.window];
  }

  give([units = 0, window]: readonly number[]): number {
    if (window === this.window) this.taken = Math.max(0, this.taken - units);
    return 1;
  }

  hold([limit, id, held, wanted, , least]: ReadonlyArray<string | number>): readonly number[] {
    this.held.delete(String(id));
    const others = [...this.held.values()].reduce((sum, units) => sum + units, 0);
    const granted = grantOf(Number(limit) - others - Number(held), Number(wanted), Number(least));
    this.held.set(String(id), Number(held) + granted);
    return [granted, Math.max(0, Number(limit) - others - Number(held) - granted)];
  }
}

/** A machine among `machines` that share the counters. Its clock stands still. */
async function machine(counters: Counters, machines = 2) {
  const { client, store } = fakeStore();
  client.answers.beat = () => [machines];
  client.answers.take = (_keys, args) => counters.take(args.map(Number));
  client.answers.give = (_keys, args) => counters.give(args.map(Number));
  client.answers.hold = (_keys, args) => counters.hold(args);
  client.become('none');
  await vi.advanceTimersByTimeAsync(0);
  const time = { ms: 0 };
  const ledger = new StoreLedger(store, { elapsedMs: () => time.ms, utcMs: () => 5 * DAY_MS + time.ms });
  return { client, ledger, time };
}

/** Takes units while the fake clock runs, so that operations without an answer end. */
async function take(ledger: StoreLedger, limit: Limit, units: number, least?: number) {
  const grant = ledger.take(limit, units, least);
  await vi.advanceTimersByTimeAsync(60);
  return grant;
}

test('machines share one limit, and no unit is granted twice', async () => {
  const counters = new Counters();
  const [one, two] = [await machine(counters), await machine(counters)];
  expect(await take(one.ledger, PER_MINUTE, 70)).toMatchObject({ granted: 70, remaining: 30, window: 1_000_000 });
  expect(await take(two.ledger, PER_MINUTE, 70)).toMatchObject({ granted: 30, remaining: 0 });
  one.ledger.give(PER_MINUTE, 5, 1_000_000);
  expect(await take(two.ledger, PER_MINUTE, 70)).toMatchObject({ granted: 5 });
});

test('fewer units than the least are not granted, and stay free for other machines', async () => {
  const counters = new Counters();
  const [one, two] = [await machine(counters), await machine(counters)];
  for (const limit of [PER_MINUTE, IN_FLIGHT]) {
    await take(one.ledger, limit, limit.units / 2);
    expect(await take(one.ledger, limit, limit.units, limit.units)).toMatchObject({ granted: 0 });
    expect(await take(two.ledger, limit, limit.units)).toMatchObject({ granted: limit.units / 2 });
  }
  const alone = await machine(new Counters());
  alone.client.become('closed');
  for (const limit of [PER_MINUTE, IN_FLIGHT]) {
    expect(await take(alone.ledger, limit, limit.units, limit.units)).toMatchObject({ granted: 0 });
  }
});

test('usage beyond what a counter of the store can hold is reported as the most that it can', async () => {
  const counters = new Counters();
  const { ledger } = await machine(counters);
  const { window } = await take(ledger, PER_MINUTE, 1);
  for (let call = 0; call < 2; call += 1) ledger.give(PER_MINUTE, -1e24, window);
  expect(await take(ledger, PER_MINUTE, 1)).toMatchObject({ granted: 0 });
  expect(counters.taken).toBe(Number.MAX_SAFE_INTEGER + 1);
});

test('without the store, a machine grants no more than its share, and what it took before counts', async () => {
  const { client, ledger } = await machine(new Counters());
  expect(await take(ledger, PER_MINUTE, 30)).toMatchObject({ granted: 30, window: 1_000_000 });
  client.become('closed');
  expect(await take(ledger, PER_MINUTE, 40)).toMatchObject({ granted: 20, remaining: 0, window: 1_000_000 });
  expect(await take(ledger, PER_MINUTE, 1)).toMatchObject({ granted: 0 });
});

test('what a machine took alone is reported when the store is back', async () => {
  const counters = new Counters();
  const { client, ledger } = await machine(counters);
  await take(ledger, PER_MINUTE, 10);
  client.become('closed');
  await take(ledger, PER_MINUTE, 15);
  ledger.give(PER_MINUTE, -3, 1_000_000);
  client.become('none');
  await vi.advanceTimersByTimeAsync(10);
  expect(await take(ledger, PER_MINUTE, 1)).toMatchObject({ granted: 1, remaining: 71 });
  expect(counters.taken).toBe(29);
});

test('a window that began without the store ends by itself, and one of a day ends at midnight UTC', async () => {
  const { client, ledger, time } = await machine(new Counters());
  client.become('closed');
  expect(await take(ledger, PER_MINUTE, 60)).toMatchObject({ granted: 50, resetMs: 60_000 });
  time.ms = 59_999;
  expect(await take(ledger, PER_MINUTE, 1)).toMatchObject({ granted: 0 });
  time.ms = 60_000;
  expect(await take(ledger, PER_MINUTE, 1)).toMatchObject({ granted: 1 });
  const daily = { ...PER_MINUTE, id: 'key:a cost_per_day', windowMs: DAY_MS };
  expect(await take(ledger, daily, 1)).toMatchObject({ window: 5, resetMs: DAY_MS - 60_000 });
});

test('a machine reports what it holds as one number, so that a store that forgot it learns it again', async () => {
  const counters = new Counters();
  const [one, two] = [await machine(counters), await machine(counters)];
  expect(await take(one.ledger, IN_FLIGHT, 6)).toMatchObject({ granted: 6, remaining: 4 });
  expect(await take(two.ledger, IN_FLIGHT, 6)).toMatchObject({ granted: 4, remaining: 0 });
  one.ledger.give(IN_FLIGHT, 2, 0);
  expect(await take(two.ledger, IN_FLIGHT, 6)).toMatchObject({ granted: 2 });
  counters.held.clear();
  expect(await take(one.ledger, IN_FLIGHT, 1)).toMatchObject({ granted: 1, remaining: 5 });
  await one.ledger.close();
  expect([...counters.held.values()]).toEqual([0]);
});

test('units that come back while the store answers are reported after the answer', async () => {
  const counters = new Counters();
  const { ledger } = await machine(counters);
  await take(ledger, IN_FLIGHT, 5);
  const more = ledger.take(IN_FLIGHT, 2);
  ledger.give(IN_FLIGHT, 4, 0);
  expect(await more).toMatchObject({ granted: 2 });
  await vi.advanceTimersByTimeAsync(0);
  expect([...counters.held.values()]).toEqual([3]);
});

test('whatever happens to the store, every question is answered, and a machine grants at most the limit, or its share if it is alone', async () => {
  const fault = fc.constantFrom<Fault>('none', 'silent', 'OOM', 'closed');
  const step = fc.tuple(fault, fc.array(fc.tuple(fc.boolean(), fc.nat(40)), { maxLength: 6 }));
  await assertAsyncProperty(
    fc.asyncProperty(fc.constantFrom(PER_MINUTE, IN_FLIGHT), fc.array(step, { maxLength: 8 }), async (limit, steps) => {
      // Those of the run before.
      vi.clearAllTimers();
      const { client, ledger } = await machine(new Counters());
      let held = 0;
      let window = 0;
      for (const [state, actions] of steps) {
        client.become(state);
        await vi.advanceTimersByTimeAsync(2_000);
        const before = held;
        for (const [gives, units] of actions) {
          if (gives) {
            const returned = Math.min(units, held);
            ledger.give(limit, returned, window);
            held -= returned;
          } else {
            const grant = await take(ledger, limit, units);
            expect(grant.granted).toBeLessThanOrEqual(units);
            held += grant.granted;
            ({ window } = grant);
          }
        }
        expect(held).toBeLessThanOrEqual(state === 'none' ? limit.units : Math.max(before, limit.units / 2));
      }
    }),
  );
});
