import { expect, test } from 'vitest';
import { modelTables, SEED } from '../../bench/scaling-model.ts';
import {
  ASSUMED,
  RandomTraffic,
  readMeasured,
  simulateLimits,
  simulateLoad,
  simulateStore,
} from '../../bench/scaling-simulation.ts';
import { generatedSection } from '../docs/generated-section.ts';
import { tableOf } from '../docs/markdown.ts';

const measured = readMeasured();

test.each([...modelTables(SEED)])(
  'the table "%s" in docs/scaling.md is that of the model',
  (name, [head = [], ...rows]) => {
    expect(rows.flat().join(' ')).not.toMatch(/NaN|undefined/u);
    const { actual, expected } = generatedSection('docs/scaling.md', name, tableOf(head, rows));
    expect(actual, 'run the tests with UPDATE_DOCS=1').toBe(expected);
  },
);

function uneven(seed: number): unknown {
  return simulateLoad({ machines: 3, even: false, callsPerSecond: 50 }, measured, seed);
}

test('equal seeds give equal figures, and others do not', () => {
  expect(uneven(5)).toEqual(uneven(5));
  expect(uneven(5)).not.toEqual(uneven(6));
});

test("the calls in flight follow Little's law", () => {
  const { medianSeconds, spread, longShare, longSeconds, workers } = ASSUMED;
  const seconds = (1 - longShare) * medianSeconds * Math.exp(spread ** 2 / 2) + longShare * longSeconds;
  const { p99 } = simulateLoad({ machines: 20, even: true, callsPerSecond: 200 }, measured, 1);
  const mean = (200 / workers) * seconds;
  // The calls in flight are a Poisson number, of which the 99th percentile is 2.33 deviations above the mean.
  expect(Math.abs(p99 - (mean + 2.33 * Math.sqrt(mean)))).toBeLessThan(0.05 * mean);
});

function meanOf(next: () => number): number {
  let sum = 0;
  for (let count = 0; count < 20_000; count += 1) sum += next();
  return sum / 20_000;
}

test('random numbers have their means', () => {
  const traffic = new RandomTraffic(7);
  expect(meanOf(() => traffic.uniform())).toBeCloseTo(0.5, 1);
  expect(meanOf(() => traffic.exponential(3)) / 3).toBeCloseTo(1, 1);
  expect(meanOf(() => traffic.poisson(4)) / 4).toBeCloseTo(1, 1);
  expect(meanOf(() => traffic.poisson(400)) / 400).toBeCloseTo(1, 1);
});

test('a store waits longer the more it is used, and cannot do more than one script at a time', () => {
  const { storeMs } = ASSUMED;
  const [idle, busy, over] = [100, 80_000, 100_001].map((rate) => simulateStore(rate, 1).mean);
  expect(idle).toBeCloseTo(storeMs + 0.01, 3);
  // A queue with one server and constant service times: half of what random ones would add.
  expect(busy).toBeCloseTo(storeMs + 0.01 + (0.01 * 0.8) / (2 * 0.2), 2);
  expect(over).toBe(Infinity);
});

test('a limit costs at most one question for each call, which the primary passes on to the store', () => {
  const { toPrimary, toStore } = simulateLimits(10, 3);
  expect(toPrimary).toBeLessThan(10 * ASSUMED.callsPerSecond);
  expect(toStore).toBe(toPrimary);
});
