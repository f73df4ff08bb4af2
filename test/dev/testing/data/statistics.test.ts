import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mean, quantile, signTest, wilsonInterval } from '../../../../src/dev/testing/data/statistics.ts';
import { assertProperty } from '../../../support/assert-property.ts';

// R. G. Newcombe, Statistics in Medicine 17, 1998, table I: method 3.
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])('the interval of %i of %i is the published one', (passed, all, low, high) => {
  const interval = wilsonInterval(passed, all);
  expect(interval.low).toBeCloseTo(low, 4);
  expect(interval.high).toBeCloseTo(high, 4);
});

test('without rows, nothing is known about the share', () => {
  expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
});

test('an interval contains the share, is inside of 0 to 1, and mirrors that of the failures', () => {
  assertProperty(
    fc.property(fc.nat(2000), fc.nat(2000), (passed, failed) => {
      const all = passed + failed + 1;
      const { low, high } = wilsonInterval(passed, all);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(low).toBeLessThanOrEqual(passed / all + 1e-12);
      expect(high).toBeGreaterThanOrEqual(passed / all - 1e-12);
      expect(high).toBeLessThanOrEqual(1);
      expect(wilsonInterval(all - passed, all).low).toBeCloseTo(1 - high, 10);
    }),
  );
});

// Twice the tail of the binomial distribution with the probability 1/2, by hand: 2 * (1 + 10) / 1024, and so on.
test.each([
  [9, 1, 22 / 1024],
  [1, 9, 22 / 1024],
  [5, 0, 2 / 32],
  [6, 2, (2 * (1 + 8 + 28)) / 256],
  [3, 3, 1],
  [0, 0, 1],
  [1, 0, 1],
])('%i better and %i worse have the p-value of the binomial distribution', (better, worse, p) => {
  expect(signTest(better, worse)).toBeCloseTo(p, 12);
});

test('thousands of changed rows have a p-value, too', () => {
  // Twice the sum of C(2100, k) / 2^2100 for k from 0 to 1000, in exact fractions.
  expect(signTest(1000, 1100)).toBeCloseTo(0.030720707864242296, 10);
  expect(signTest(2000, 2000)).toBe(1);
});

test('mean and quantile', () => {
  expect([mean([]), mean([1, 2, 6])]).toEqual([undefined, 3]);
  expect([quantile([], 0.5), quantile([4, 1, 3, 2], 0.5), quantile([1, 2, 3], 0.95)]).toEqual([undefined, 2, 3]);
});
