import { expect, test } from 'vitest';
import { canRetry } from '../../../src/runtime/model/strategies/run-plan.ts';
import { FAILED, retryWaits } from '../../support/retry-waits.ts';

const EXPONENTIAL = { kind: 'exponential', delayMs: 100, multiplier: 2, maxDelayMs: 300 } as const;
const CONSTANT = { kind: 'constant', delayMs: 200 } as const;

test('a constant policy waits the same time before each of its retries', async () => {
  expect((await retryWaits({ maxRetries: 3, strategy: CONSTANT })).waits).toEqual([200, 200, 200]);
});

test('a cap holds for every wait', async () => {
  const { waits } = await retryWaits({ maxRetries: 60, strategy: EXPONENTIAL });
  expect(waits).toHaveLength(60);
  expect([...new Set(waits)]).toEqual([200, 300]);
});

test('jitter shortens the waits of a call by up to a tenth, and none of a constant policy', async () => {
  expect((await retryWaits({ maxRetries: 2, strategy: EXPONENTIAL }, { random: 1 })).waits).toEqual([180, 270]);
  expect((await retryWaits({ maxRetries: 1, strategy: CONSTANT }, { random: 1 })).waits).toEqual([200]);
});

test('a multiplier beyond all numbers waits for the longest time', async () => {
  const strategy = { ...EXPONENTIAL, delayMs: 1e300, multiplier: 1e300 };
  expect((await retryWaits({ maxRetries: 2, strategy })).waits).toEqual([300, 300]);
});

test('a wait that would end after the deadline does not begin', async () => {
  const policy = { maxRetries: 9, strategy: CONSTANT };
  expect(await retryWaits(policy, { deadlineMs: 500 })).toEqual({ waits: [200, 200], endedAfter: 400 });
  const asked = { ...FAILED, retryAfterMs: 600 };
  expect(await retryWaits(policy, { deadlineMs: 500, failed: asked })).toEqual({ waits: [], endedAfter: 0 });
});

test('cancellation ends a wait', async () => {
  const policy = { maxRetries: 9, strategy: CONSTANT };
  expect(await retryWaits(policy, { cancelMs: 250 })).toEqual({ waits: [200], endedAfter: 250 });
});

test('the next attempt waits for the time that the provider asked for', async () => {
  const policy = { maxRetries: 2, strategy: { kind: 'constant', delayMs: 1 } } as const;
  expect((await retryWaits(policy, { failed: { ...FAILED, retryAfterMs: 60 } })).waits).toEqual([60, 60]);
});

test('a policy with its own statuses retries only these, and failures without a status as before', () => {
  const policy = { statuses: [404] };
  const { failure } = FAILED;
  expect(canRetry({ failure, retry: 'status', upstreamStatus: 404 }, policy)).toBe(true);
  expect(canRetry({ failure, retry: 'status', upstreamStatus: 503 }, policy)).toBe(false);
  expect(canRetry({ failure, retry: 'always' }, policy)).toBe(true);
  expect(canRetry({ failure, retry: 'never' }, policy)).toBe(false);
});
