import type { Verdict } from '../bars.ts';
import { median } from '../load.ts';
import { number, table } from '../report.ts';
import {
  KNEE_MS,
  LIMITS_MS,
  RATES,
  type FixedRate,
  type LatencyResults,
  type LatencySample,
} from './measure-latency.ts';

/** The p99 of what svc adds, in microseconds, at the first rate. */
const P99_LIMIT_MICROS = 1000;

/** Verdicts on two workers that share the cores with load and model. */
export function judgeLatency(latency: LatencyResults | undefined): readonly Verdict[] {
  if (latency === undefined) return [];
  const [rate, kneeRate] = RATES;
  const ofSvc = latency.fixedRates.filter(({ side, layout }) => side === 'svc' && layout === 'shared');
  const verdicts = ofSvc
    .filter(({ perSecond }) => perSecond === rate)
    .map(({ modelMs, samples }) => {
      const measured = 1000 * median(samples.map(({ p99 }) => p99));
      const bar = `/call at ${rate}/s, model of ${modelMs} ms: p99 of the added latency at most 1,000 µs`;
      return { bar, measured, limit: P99_LIMIT_MICROS, holds: measured <= P99_LIMIT_MICROS };
    });
  const measured = latency.highestRates.find(({ side, limitMs }) => side === 'svc' && limitMs === KNEE_MS)?.perSecond;
  const holds = measured === undefined ? undefined : measured >= kneeRate;
  const bar = `/call: no knee (p99 of ${KNEE_MS} ms) before ${kneeRate}/s`;
  return [...verdicts, { bar, measured, limit: kneeRate, holds }];
}

const COLUMNS: Readonly<Record<string, (sample: LatencySample) => number>> = {
  'p50 ms': (one) => one.p50,
  'p99 ms': (one) => one.p99,
  'p99.9 ms': (one) => one.p999,
  'sent late, p99 ms': (one) => one.lateP99,
  failed: (one) => one.failed,
};

/** Added latency at fixed rates, and the highest rates. */
export function latencyTables({ fixedRates, highestRates }: LatencyResults): string {
  const head = ['added latency', 'model takes', 'calls/s', 'side', ...Object.keys(COLUMNS), 'spread of p99'];
  const limits = LIMITS_MS.map((limitMs) => `p99 below ${limitMs} ms`);
  const sides = [...new Set(highestRates.map(({ side }) => side))];
  const rates = sides.map((side) => {
    const found = highestRates.filter((one) => one.side === side);
    return [side, ...found.map(({ perSecond }) => perSecond.toLocaleString('en-US'))];
  });
  return `${table([head, ...fixedRates.map(fixedRateRow)])}\n\n${table([['highest calls/s', ...limits], ...rates])}`;
}

function fixedRateRow({ layout, side, modelMs, perSecond, samples }: FixedRate): readonly string[] {
  const figures = Object.values(COLUMNS).map((pick) => number(median(samples.map(pick))));
  const p99s = samples.map(({ p99 }) => p99);
  const spread = `${number(Math.min(...p99s))} to ${number(Math.max(...p99s))}`;
  return [layout, `${modelMs} ms`, perSecond.toLocaleString('en-US'), side, ...figures, spread];
}
