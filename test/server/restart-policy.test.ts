import { expect, test } from 'vitest';
import { RestartPolicy } from '../../src/server/restart-policy.ts';

test('a worker that served is made good for at once', () => {
  const policy = new RestartPolicy();
  const delays = Array.from({ length: 10 }, (_, second) => policy.delayAfterDeath(true, second * 500));
  expect(delays).toEqual(Array.from({ length: 10 }, () => 0));
});

test('workers that die in quick succession are made good for later and later, and at once again after a quiet time', () => {
  const policy = new RestartPolicy();
  const delays = Array.from({ length: 14 }, () => policy.delayAfterDeath(true, 1_000));
  expect(delays.slice(9)).toEqual([0, 100, 200, 400, 800]);
  expect(policy.delayAfterDeath(true, 11_000)).toBe(0);
});

test('a worker that cannot start is tried later and later, up to ten seconds, until one serves', () => {
  const policy = new RestartPolicy();
  const delays = Array.from({ length: 9 }, () => policy.delayAfterDeath(false, 0));
  expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  policy.started();
  expect(policy.delayAfterDeath(false, 0)).toBe(100);
});
