import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Claim, OwnClaim } from '../../src/policy/answer-store.ts';
import { MemoryAnswers } from '../../src/policy/memory-answers.ts';
import { assertAsyncProperty } from '../support/assert-property.ts';
import { ManualClock } from './manual-clock.ts';

const MIB = 2 ** 20;

function createAnswers(maxBytes = MIB): { readonly answers: MemoryAnswers; readonly clock: ManualClock } {
  const clock = new ManualClock();
  return { answers: new MemoryAnswers({ maxBytes, clock }), clock };
}

async function own(answers: MemoryAnswers, key: string): Promise<OwnClaim> {
  const claim = await answers.claim(key, 0);
  if (claim.kind !== 'mine') throw new Error(`the claim is ${claim.kind}`);
  return claim;
}

async function keep(answers: MemoryAnswers, key: string, answer: string, ttlMs = 60_000): Promise<void> {
  (await own(answers, key)).keep(answer, ttlMs);
}

test('an answer is kept with its age until its time is over', async () => {
  const { answers, clock } = createAnswers();
  await keep(answers, 'a', 'one', 5_000);
  clock.advance(4_999);
  expect(await answers.claim('a', 0)).toEqual({ kind: 'kept', answer: 'one', ageMs: 4_999 });
  clock.advance(2);
  expect((await answers.claim('a', 0)).kind).toBe('mine');
});

test('all who wait get the answer of the owner', async () => {
  const { answers, clock } = createAnswers();
  const owner = await own(answers, 'a');
  const waiting = Array.from({ length: 3 }, () => answers.claim('a', 1_000));
  owner.keep('one', 1_000);
  for (const claim of await Promise.all(waiting)) expect(claim).toEqual({ kind: 'kept', answer: 'one', ageMs: 0 });
  expect(answers.counts).toMatchObject({ entries: 1, waits: 3 });
  clock.advance(120_000);
  expect(clock.timers).toBe(0);
});

test('a wait ends as busy, and the others go on', async () => {
  const { answers, clock } = createAnswers();
  const owner = await own(answers, 'a');
  const short = answers.claim('a', 10);
  const long = answers.claim('a', 1_000);
  clock.advance(10);
  expect(await short).toEqual({ kind: 'busy' });
  owner.release();
  expect((await long).kind).toBe('mine');
});

test('only the first end of a claim counts', async () => {
  const { answers } = createAnswers();
  const first = await own(answers, 'a');
  first.release();
  const second = await own(answers, 'a');
  first.keep('stale', 1_000);
  first.release();
  const waiting = answers.claim('a', 1_000);
  second.keep('fresh', 1_000);
  expect(await waiting).toMatchObject({ answer: 'fresh' });
});

test('an answer with no time to live reaches those who wait, and is not kept', async () => {
  const { answers } = createAnswers();
  const owner = await own(answers, 'a');
  const waiting = answers.claim('a', 1_000);
  owner.keep('one', 0);
  expect(await waiting).toMatchObject({ kind: 'kept' });
  expect(answers.counts).toMatchObject({ entries: 0, bytes: 0 });
  expect((await answers.claim('a', 0)).kind).toBe('mine');
});

test('the least recently used answers make room', async () => {
  const { answers } = createAnswers(MIB);
  const text = 'x'.repeat(100_000);
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) await keep(answers, key, text);
  expect((await answers.claim('a', 0)).kind).toBe('kept');
  await keep(answers, 'k', text);
  expect((await answers.claim('a', 0)).kind).toBe('kept');
  expect((await answers.claim('b', 0)).kind).toBe('mine');
});

test('an answer of more than an eighth of the memory is not kept', async () => {
  const { answers } = createAnswers(MIB);
  await keep(answers, 'a', 'x'.repeat(MIB / 8));
  expect(answers.counts).toMatchObject({ entries: 0, bytes: 0 });
  // Two bytes for each character.
  await keep(answers, 'b', '✓'.repeat(MIB / 16));
  expect(answers.counts.entries).toBe(0);
  await keep(answers, 'c', 'é'.repeat(MIB / 16));
  expect(answers.counts.entries).toBe(1);
});

test('expired answers leave the memory although no one asks for them', async () => {
  const { answers, clock } = createAnswers();
  await keep(answers, 'a', 'one', 1_000);
  await keep(answers, 'b', 'two', 90_000);
  clock.advance(60_000);
  expect(answers.counts.entries).toBe(1);
  clock.advance(60_000);
  expect(answers.counts).toMatchObject({ entries: 0, bytes: 0 });
  expect(clock.timers).toBe(0);
});

/** A step of a random run: a claim of a key, the end of one of the claims, or time that passes. */
const STEP = fc.oneof(
  fc.record({ do: fc.constant('claim' as const), key: fc.nat(2), waitMs: fc.nat(500) }),
  fc.record({ do: fc.constant('keep' as const), which: fc.nat(20), size: fc.nat(200_000), ttlMs: fc.nat(2_000) }),
  fc.record({ do: fc.constant('release' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.nat(700) }),
);

test('each key has one owner at a time, no one waits without one, and the bytes are bounded', async () => {
  const property = fc.asyncProperty(fc.array(STEP, { maxLength: 60 }), async (steps) => {
    const { answers, clock } = createAnswers(MIB);
    const owned: Array<{ readonly key: string; readonly claim: OwnClaim }> = [];
    const waiting = new Map<Promise<Claim>, string>();
    const settle = (key: string, claim: Claim, of: Promise<Claim>): void => {
      waiting.delete(of);
      if (claim.kind !== 'mine') return;
      expect(owned.filter((other) => other.key === key)).toEqual([]);
      owned.push({ key, claim });
    };
    for (const step of steps) {
      if (step.do === 'claim') {
        const key = `key ${step.key}`;
        const claim = answers.claim(key, step.waitMs);
        waiting.set(claim, key);
        void claim.then((settled) => settle(key, settled, claim));
      } else if (step.do === 'pass') clock.advance(step.ms);
      else {
        const [ended] = owned.splice(step.which % Math.max(1, owned.length), 1);
        if (step.do === 'keep') ended?.claim.keep('x'.repeat(step.size), step.ttlMs);
        else ended?.claim.release();
      }
      await new Promise(setImmediate);
      for (const key of waiting.values()) expect(owned.some((other) => other.key === key)).toBe(true);
      expect(answers.counts.bytes).toBeLessThanOrEqual(MIB);
    }
    // The owners fail one after the other until no one is left.
    while (owned.length > 0) {
      owned.shift()?.claim.release();
      await new Promise(setImmediate);
    }
    expect(waiting.size).toBe(0);
  });
  await assertAsyncProperty(property);
});
