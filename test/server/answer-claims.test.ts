import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryAnswers } from '../../src/policy/memory-answers.ts';
import { AnswerClaims } from '../../src/server/shared-state.ts';
import type { ClaimedAnswer, PrimaryMessage } from '../../src/server/protocol.ts';
import { assertAsyncProperty } from '../support/assert-property.ts';

/** A worker that records what its claims return. */
class FakeWorker {
  exited = false;
  readonly claimed = new Map<number, ClaimedAnswer>();

  send(message: PrimaryMessage): void {
    if (message.type === 'claimed-answer') this.claimed.set(message.id, message.claimed);
  }
}

const LONG_MS = 60_000;

function createClaims(): AnswerClaims {
  return new AnswerClaims(() => Promise.resolve(new MemoryAnswers({ maxBytes: 2 ** 20 })));
}

function claim(claims: AnswerClaims, worker: FakeWorker, id: number, key = 'a'): Promise<void> {
  return claims.claim(worker, { type: 'claim-answer', id, key, waitMs: LONG_MS });
}

test('one worker produces the answer, and the other one gets it', async () => {
  const claims = createClaims();
  const [first, second] = [new FakeWorker(), new FakeWorker()];
  await claim(claims, first, 1);
  const waiting = claim(claims, second, 1);
  claims.keep(first, { type: 'keep-answer', id: 1, answer: 'one', ttlMs: LONG_MS });
  await waiting;
  expect(first.claimed.get(1)).toEqual({ kind: 'mine' });
  expect(second.claimed.get(1)).toMatchObject({ kind: 'kept', answer: 'one' });
});

test('the ids of two workers do not mix', async () => {
  const claims = createClaims();
  const [first, second] = [new FakeWorker(), new FakeWorker()];
  await claim(claims, first, 1);
  const waiting = claim(claims, second, 2);
  claims.release(second, { type: 'release-answer', id: 1 });
  claims.keep(second, { type: 'keep-answer', id: 1, answer: 'no', ttlMs: LONG_MS });
  claims.release(first, { type: 'release-answer', id: 1 });
  await waiting;
  expect(second.claimed.get(2)).toEqual({ kind: 'mine' });
});

test('the claims of a worker that dies are released, also those that it would get later', async () => {
  const claims = createClaims();
  const [dying, waiting, last] = [new FakeWorker(), new FakeWorker(), new FakeWorker()];
  await claim(claims, dying, 1);
  const own = claim(claims, dying, 2);
  const others = [claim(claims, waiting, 1), claim(claims, last, 1)];
  dying.exited = true;
  claims.exited(dying);
  await own;
  await others[0];
  expect(waiting.claimed.get(1)).toEqual({ kind: 'mine' });
  claims.exited(waiting);
  await others[1];
  expect(last.claimed.get(1)).toEqual({ kind: 'mine' });
});

test('a store that does not open fails the claim, and the next claim opens it again', async () => {
  let opened = 0;
  const claims = new AnswerClaims(() => {
    opened += 1;
    if (opened === 1) return Promise.reject(new Error('no code'));
    return Promise.resolve(new MemoryAnswers({ maxBytes: 2 ** 20 }));
  });
  const worker = new FakeWorker();
  await claim(claims, worker, 1);
  await claim(claims, worker, 2);
  await claim(claims, worker, 3, 'b');
  expect([...worker.claimed.values()]).toEqual([
    { kind: 'failed', reason: 'no code' },
    { kind: 'mine' },
    { kind: 'mine' },
  ]);
  expect(opened).toBe(2);
});

test('no claim waits for ever, whichever workers die', async () => {
  const step = fc.record({ worker: fc.nat(3), key: fc.nat(1), dies: fc.boolean() });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const claims = createClaims();
    const workers = Array.from({ length: 4 }, () => new FakeWorker());
    const asked: Array<Promise<void>> = [];
    const all = [...workers];
    for (const [id, { worker: at, key, dies }] of steps.entries()) {
      const worker = workers[at] ?? new FakeWorker();
      if (dies) {
        worker.exited = true;
        claims.exited(worker);
        workers[at] = new FakeWorker();
        all.push(workers[at]);
      } else asked.push(claim(claims, worker, id, `key ${key}`));
      await new Promise(setImmediate);
    }
    for (const worker of workers) {
      worker.exited = true;
      claims.exited(worker);
    }
    await Promise.all(asked);
    expect(all.reduce((answered, worker) => answered + worker.claimed.size, 0)).toBe(asked.length);
  });
  await assertAsyncProperty(property);
});
