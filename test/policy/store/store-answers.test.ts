import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Claim, OwnClaim } from '../../../src/policy/answer-store.ts';
import { MemoryAnswers } from '../../../src/policy/memory-answers.ts';
import { StoreAnswers } from '../../../src/policy/store/store-answers.ts';
import { fakeStore } from './fake-client.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What the scripts about answers do, without lifetimes. */
class Shelf {
  readonly answers = new Map<string, string>();
  readonly locks = new Map<string, unknown>();
}

async function machine(shelf: Shelf) {
  const { client, store } = fakeStore();
  const release = ([, lock = '']: readonly string[], [token]: ReadonlyArray<string | number>): number => {
    if (shelf.locks.get(lock) === token) shelf.locks.delete(lock);
    return 1;
  };
  client.answers.claim = ([answer = '', lock = ''], [token]) => {
    const kept = shelf.answers.get(answer);
    if (kept !== undefined) return [kept, '1000', 3500];
    if (shelf.locks.has(lock)) return 0;
    shelf.locks.set(lock, token);
    return 1;
  };
  client.answers.keep = (keys, args) => {
    shelf.answers.set(keys[0] ?? '', String(args[1]));
    return release(keys, args);
  };
  client.answers.release = release;
  client.answers.renew = () => 1;
  client.become('none');
  await vi.advanceTimersByTimeAsync(0);
  return { client, answers: new StoreAnswers(store, new MemoryAnswers({ maxBytes: 2 ** 24 })) };
}

function mine(claim: Claim): OwnClaim {
  if (claim.kind !== 'mine') throw new Error(`the claim is ${claim.kind}`);
  return claim;
}

test('a machine waits for the answer that another one produces', async () => {
  const shelf = new Shelf();
  const [one, two] = [await machine(shelf), await machine(shelf)];
  const first = mine(await one.answers.claim('k', 1_000));
  const waiting = [two.answers.claim('k', 1_000), two.answers.claim('k', 1_000)];
  await vi.advanceTimersByTimeAsync(100);
  first.keep('hello', 60_000);
  await vi.advanceTimersByTimeAsync(250);
  expect(await Promise.all(waiting)).toEqual([
    { kind: 'kept', answer: 'hello', ageMs: 2500 },
    { kind: 'kept', answer: 'hello', ageMs: 0 },
  ]);
  expect(two.client.asked.filter((operation) => operation === 'claim').length).toBeLessThan(10);
});

test('a machine whose wait ends is busy, and one that waits when the owner fails becomes the owner', async () => {
  const shelf = new Shelf();
  const [one, two] = [await machine(shelf), await machine(shelf)];
  const first = mine(await one.answers.claim('k', 1_000));
  const impatient = two.answers.claim('k', 100);
  await vi.advanceTimersByTimeAsync(200);
  expect(await impatient).toEqual({ kind: 'busy' });
  const next = two.answers.claim('k', 1_000);
  await vi.advanceTimersByTimeAsync(10);
  first.release();
  await vi.advanceTimersByTimeAsync(250);
  mine(await next).release();
  expect(shelf.locks.size).toBe(0);
});

test('the owner renews its lock until the call ends', async () => {
  const { client, answers } = await machine(new Shelf());
  const own = mine(await answers.claim('k', 0));
  await vi.advanceTimersByTimeAsync(30_000);
  const renewals = () => client.asked.filter((operation) => operation === 'renew').length;
  expect(renewals()).toBe(9);
  own.keep('a', 1_000);
  own.release();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(renewals()).toBe(9);
  expect(client.asked.filter((operation) => operation === 'release')).toEqual([]);
});

test('an answer that is too large for the store stays in memory, and its lock is free', async () => {
  const shelf = new Shelf();
  const { answers } = await machine(shelf);
  mine(await answers.claim('k', 0)).keep('x'.repeat(1_048_577), 60_000);
  expect(shelf.answers.size + shelf.locks.size).toBe(0);
  expect(await answers.claim('k', 0)).toMatchObject({ kind: 'kept' });
});

test('without the store, the memory of the machine decides', async () => {
  const { client, answers } = await machine(new Shelf());
  client.become('closed');
  const own = mine(await answers.claim('k', 0));
  const second = answers.claim('k', 100);
  await vi.advanceTimersByTimeAsync(100);
  expect(await second).toEqual({ kind: 'busy' });
  own.keep('a', 60_000);
  expect(await answers.claim('k', 0)).toMatchObject({ kind: 'kept', answer: 'a' });
});
