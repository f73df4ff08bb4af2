import type { CaseName } from './cases.ts';
import { medianCpu, medianRatio, type CaseResult } from './measure.ts';

/** A bar, and whether the run meets it. */
export interface Verdict {
  readonly bar: string;
  /** The measured value in the bar's unit; undefined if a side was missing. */
  readonly measured: number | undefined;
  readonly limit: number;
  readonly holds: boolean | undefined;
}

interface Bar {
  readonly bar: string;
  readonly limit: number;
  measure(results: ReadonlyMap<CaseName, CaseResult>): number | undefined;
}

/** CPU per request of svc as a share of another side's, at most `limit`. */
function share(name: CaseName, other: 'baml' | 'floor', limit: number): Pick<Bar, 'limit' | 'measure'> {
  return { limit, measure: (results) => medianRatio(results.get(name), 'svc', other) };
}

const BARS: readonly Bar[] = [
  { bar: '/call 150 bytes: at most 1/6 of the peer', ...share('call-small', 'baml', 1 / 6) },
  { bar: '/call 150 bytes: at most 2 times the floor', ...share('call-small', 'floor', 2) },
  { bar: '/call 30 KB: at most 1/60 of the peer', ...share('call-large', 'baml', 1 / 60) },
  { bar: '/stream 30 KB at once: at most 1/15 of the peer', ...share('stream-burst', 'baml', 1 / 15) },
  { bar: '/stream 30 KB at once: at most 1/25 of the peer (aim)', ...share('stream-burst', 'baml', 1 / 25) },
  { bar: '/stream 30 KB in HTTP chunks: at most 1/25 of the peer', ...share('stream-chunks', 'baml', 1 / 25) },
  { bar: '/stream 30 KB in DATA frames: at most 1/25 of the peer', ...share('stream-frames', 'baml', 1 / 25) },
  { bar: '/stream 300 KB: at most 12 times 30 KB', limit: 12, measure: growth },
  { bar: '/stream 30 KB paced: at most 1/12 of the peer', ...share('stream-paced', 'baml', 1 / 12) },
];

function growth(results: ReadonlyMap<CaseName, CaseResult>): number | undefined {
  const short = medianCpu(results.get('stream-burst'), 'svc');
  const long = medianCpu(results.get('stream-long'), 'svc');
  return short === undefined || long === undefined ? undefined : long / short;
}

/** The bars in a fixed order, including those that could not be measured. */
export function judge(results: readonly CaseResult[]): readonly Verdict[] {
  const byName = new Map(results.map((result) => [result.name, result]));
  return BARS.map((one) => {
    const { bar, limit } = one;
    const measured = one.measure(byName);
    return { bar, measured, limit, holds: measured === undefined ? undefined : measured <= limit };
  });
}
