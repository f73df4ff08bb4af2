import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryAnswers } from '../../src/policy/memory-answers.ts';
import { AnswerClaims } from '../../src/server/shared-state.ts';
import type { ClaimedAnswer } from '../../src/server/protocol.ts';
import { assertAsyncProperty } from '../support/assert-property.ts';

class FakeWorker {
  exited = false;
}

const LONG_MS = 60_000;

function createClaims(): AnswerClaims {
  return new AnswerClaims(() => Promise.resolve(new MemoryAnswers({ maxBytes: 2 ** 20 })));
}

function claim(claims: AnswerClaims, worker: FakeWorker, id: number, key = 'a'): Promise<ClaimedAnswer> {
  return claims.claim(worker, { type: 'claim-answer', id, key, waitMs: LONG_MS });
}

test('one worker produces the answer, and the other one gets it', async () => {
  const claims = createClaims();
  const [first, second] = [new FakeWorker(), new FakeWorker()];
  expect(await claim(claims, first, 1)).toEqual({ kind: 'mine', id: 1 });
  const waiting = claim(claims, second, 1);
  claims.end(first, 1)?.keep('one', LONG_MS);
  expect(await waiting).toMatchObject({ kind: 'kept', answer: 'one' });
});

test('the ids of two workers do not mix', async () => {
  const claims = createClaims();
  const [first, second] = [new FakeWorker(), new FakeWorker()];
  await claim(claims, first, 1);
  const waiting = claim(claims, second, 2);
  expect(claims.end(second, 1)).toBeUndefined();
  claims.end(first, 1)?.release();
  expect(await waiting).toEqual({ kind: 'mine', id: 2 });
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
  expect(await others[0]).toEqual({ kind: 'mine', id: 1 });
  claims.exited(waiting);
  expect(await others[1]).toEqual({ kind: 'mine', id: 1 });
});

test('a store that does not open fails the claim, and the next claim opens it again', async () => {
  let opened = 0;
  const claims = new AnswerClaims(() => {
    opened += 1;
    if (opened === 1) return Promise.reject(new Error('no code'));
    return Promise.resolve(new MemoryAnswers({ maxBytes: 2 ** 20 }));
  });
  const worker = new FakeWorker();
  await expect(claim(claims, worker, 1)).rejects.toThrow('no code');
  expect(await claim(claims, worker, 2)).toEqual({ kind: 'mine', id: 2 });
  expect(await claim(claims, worker, 3, 'b')).toEqual({ kind: 'mine', id: 3 });
  expect(opened).toBe(2);
});

test('no claim waits for ever, whichever workers die', async () => {
  const step = fc.record({ worker: fc.nat(3), key: fc.nat(1), dies: fc.boolean() });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const claims = createClaims();
    const workers = Array.from({ length: 4 }, () => new FakeWorker());
    const asked: Array<Promise<ClaimedAnswer>> = [];
    for (const [id, { worker: at, key, dies }] of steps.entries()) {
      const worker = workers[at] ?? new FakeWorker();
      if (dies) {
        worker.exited = true;
        claims.exited(worker);
        workers[at] = new FakeWorker();
      } else asked.push(claim(claims, worker, id, `key ${key}`));
      await new Promise(setImmediate);
    }
    for (const worker of workers) {
      worker.exited = true;
      claims.exited(worker);
    }
    expect(await Promise.all(asked)).toHaveLength(asked.length);
  });
  await assertAsyncProperty(property);
});
