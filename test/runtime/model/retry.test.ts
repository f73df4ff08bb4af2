import { expect, test } from 'vitest';
import { delayBefore, mayRetry } from '../../../src/runtime/model/strategies/retry.ts';
import { clientFailure } from '../../../src/runtime/model/attempt-failure.ts';

const failure = clientFailure('A', 'failed');

test('the default exponential policy waits 300, 450 and 675 ms', () => {
  const strategy = { kind: 'exponential', delayMs: 200, multiplier: 1.5, maxDelayMs: 10_000 } as const;
  expect([0, 1, 2].map((retries) => delayBefore(strategy, retries, () => 0))).toEqual([300, 450, 675]);
});

test('a cap holds for every wait', () => {
  const strategy = { kind: 'exponential', delayMs: 100, multiplier: 2, maxDelayMs: 300 } as const;
  expect([0, 1, 2, 60].map((retries) => delayBefore(strategy, retries, () => 0))).toEqual([200, 300, 300, 300]);
});

test('jitter makes a wait up to a tenth shorter, never longer', () => {
  const strategy = { kind: 'exponential', delayMs: 100, multiplier: 2, maxDelayMs: 1000 } as const;
  expect(delayBefore(strategy, 0, () => 1)).toBe(180);
  expect(delayBefore({ kind: 'constant', delayMs: 200 }, 5, () => 1)).toBe(200);
});

test('a policy with statuses of its own retries these alone, and what is no status as before', () => {
  const policy = { statuses: [404] };
  expect(mayRetry({ failure, retry: 'status', upstreamStatus: 404 }, policy)).toBe(true);
  expect(mayRetry({ failure, retry: 'status', upstreamStatus: 503 }, policy)).toBe(false);
  expect(mayRetry({ failure, retry: 'always' }, policy)).toBe(true);
  expect(mayRetry({ failure, retry: 'never' }, policy)).toBe(false);
});
