import { expect, test } from 'vitest';
import { barHeights, chartWindow, MEASURES, valuesOver } from '../../src/playground/data/call-charts.ts';
import type { Range } from '../../src/playground/data/page-place.ts';
import type { CallPoint } from '../../src/schema/kept-call.ts';

function point(at: number, calls: number): CallPoint {
  return { at, calls, failures: 1, lossy: 0, cost: 0.25, inputTokens: 10, outputTokens: 2, ms: 100 };
}

test.each<readonly [Range, number]>([
  ['hour', 60],
  ['day', 48],
  ['week', 42],
])('the bars of a chart of a %s are whole intervals, of which the last contains the time', (range, bars) => {
  const now = 1_700_000_123_456;
  const { interval, since, until } = chartWindow(range, now);
  expect((until - since) / interval).toBe(bars);
  expect(since % interval).toBe(0);
  expect(until - interval <= now && now < until).toBe(true);
  // The window stays the same until its last interval ends.
  expect(chartWindow(range, until - 1)).toEqual(chartWindow(range, now));
});

test('an interval has the sum of its points, and zero without any', () => {
  const window = { since: 1000, until: 1400, interval: 100 };
  const points = [point(1000, 1), point(1200, 2), point(1200, 3), point(900, 50), point(1400, 50)];
  expect(valuesOver(points, window, ({ calls }) => calls)).toEqual([1, 0, 5, 0]);
  const totals = MEASURES.map(({ name, of, text }) => [name, text(of(point(0, 1234)))]);
  expect(totals).toEqual([
    ['Calls', '1,234'],
    ['Failures', '1'],
    ['Cost', '$0.25'],
    ['Tokens', '12'],
  ]);
});

test('the highest bar has the full height, and every value above zero is visible', () => {
  expect(barHeights([0, 1, 500, 1000], 40)).toEqual([0, 1, 20, 40]);
  expect(barHeights([0, 0], 40)).toEqual([0, 0]);
  expect(barHeights([], 40)).toEqual([]);
  expect(barHeights([0.00001, 0.00002], 40)).toEqual([20, 40]);
});
