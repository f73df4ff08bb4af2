import type { CallPoint } from '../../schema/kept-call.ts';
import { countText, dollarText } from './amount-texts.ts';
import { RANGES, type Range } from './page-place.ts';

/** The span of a chart, which has one bar for each of its intervals. Times are in milliseconds since 1970. */
export interface ChartWindow {
  readonly since: number;
  readonly until: number;
  readonly interval: number;
}

/** The intervals give 42 to 60 bars, which a phone has room for. */
const INTERVALS: Readonly<Record<Range, number>> = { hour: 60_000, day: 1_800_000, week: 14_400_000 };

export const INTERVAL_TEXTS: Readonly<Record<Range, string>> = { hour: 'a minute', day: '30 minutes', week: '4 hours' };

/** The window ends with the interval that contains `now`, and begins and ends where intervals do. */
export function chartWindow(range: Range, now: number): ChartWindow {
  const interval = INTERVALS[range];
  const until = (Math.floor(now / interval) + 1) * interval;
  return { since: until - RANGES[range], until, interval };
}

/** What a chart shows of the calls of each interval. */
export interface Measure {
  readonly name: 'Calls' | 'Failures' | 'Cost' | 'Tokens';
  readonly of: (point: CallPoint) => number;
  readonly text: (value: number) => string;
}

export const MEASURES: readonly Measure[] = [
  { name: 'Calls', of: ({ calls }) => calls, text: countText },
  { name: 'Failures', of: ({ failures }) => failures, text: countText },
  { name: 'Cost', of: ({ cost }) => cost, text: dollarText },
  { name: 'Tokens', of: ({ inputTokens, outputTokens }) => inputTokens + outputTokens, text: countText },
];

/** A value for each interval of the window: the sum of its points, which can belong to several functions. */
export function valuesOver(
  points: readonly CallPoint[],
  { since, until, interval }: ChartWindow,
  of: Measure['of'],
): readonly number[] {
  const values = Array.from({ length: Math.round((until - since) / interval) }, () => 0);
  for (const point of points) {
    const at = Math.floor((point.at - since) / interval);
    if (at >= 0 && at < values.length) values[at] = (values[at] ?? 0) + of(point);
  }
  return values;
}

/** The heights of bars, of which the highest is `height`. A value above zero is at least one unit high, so that it is visible. */
export function barHeights(values: readonly number[], height: number): readonly number[] {
  const peak = Math.max(0, ...values);
  return values.map((value) => (value <= 0 ? 0 : Math.max(1, Math.round((value / peak) * height))));
}
