import { counted, durationText } from '../../../base/amounts.ts';
import { sum } from '../report-pretty.ts';
import { dollars, knownCost, meanLatency } from '../test-results.ts';
import type { EvaluatedRow, RowRun } from './evaluate-rows.ts';
import { mean, quantile, signTest, wilsonInterval, type Interval } from './statistics.ts';

/** The results of all rows, which every format of a report shows. */
export interface DataReport {
  readonly functionName: string;
  /** The name of the file. */
  readonly source: string;
  /** What decides whether a row passes, besides that it has a value. */
  readonly checks: readonly string[];
  /** The share of the rows that have to pass, from 0 to 1. */
  readonly passRate: number;
  readonly rows: readonly EvaluatedRow[];
  readonly variants: readonly VariantSummary[];
  /** Each variant after the first one, compared with the first one. */
  readonly comparisons: readonly Comparison[];
  /** US dollars for all calls of the judge; absent if unknown. */
  readonly judgeCost?: number;
  readonly interrupted: boolean;
}

export interface VariantSummary {
  readonly name: string;
  /** The rows that ended. */
  readonly rows: number;
  readonly passed: number;
  /** Of 95 %, for the share of rows that pass. */
  readonly interval: Interval;
  /** The mean of the judge, with true as 1 and false as 0. */
  readonly score?: number;
  /** Milliseconds of waiting for models: the mean, and the time that 95 % of the rows do not exceed. */
  readonly latencyMs?: number;
  readonly latency95Ms?: number;
  readonly inputTokens: string;
  readonly outputTokens: string;
  /** US dollars for all rows whose cost is known, and their number. */
  readonly cost?: number;
  readonly costRows: number;
}

/** Two variants on the rows that ended with both. */
export interface Comparison {
  /** Their numbers in the list of variants. */
  readonly baseline: number;
  readonly candidate: number;
  /** The rows that only the candidate passes, and those that only the baseline passes. */
  readonly better: readonly EvaluatedRow[];
  readonly worse: readonly EvaluatedRow[];
  readonly rows: number;
  /** Of the exact sign test. */
  readonly p: number;
}

export function summaryOf(name: string, variant: number, rows: readonly EvaluatedRow[]): VariantSummary {
  const runs = rows.flatMap((row) => row.runs[variant] ?? []);
  const passed = runs.filter(passes).length;
  const score = mean(runs.flatMap((run) => (run.score === undefined ? [] : Number(run.score))));
  const latencyMs = meanLatency({ runs });
  const latency95Ms = quantile(
    runs.flatMap((run) => run.latencyMs ?? []),
    0.95,
  );
  const cost = knownCost([{ runs }]);
  return {
    name,
    rows: runs.length,
    passed,
    interval: wilsonInterval(passed, runs.length),
    inputTokens: sum(runs.map((run) => run.inputTokens)),
    outputTokens: sum(runs.map((run) => run.outputTokens)),
    costRows: runs.filter((run) => run.cost !== undefined).length,
    ...(score !== undefined && { score }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(latency95Ms !== undefined && { latency95Ms }),
    ...(cost !== undefined && { cost }),
  };
}

export function comparisonOf(baseline: number, candidate: number, rows: readonly EvaluatedRow[]): Comparison {
  const pairs = rows.flatMap((row) => {
    const [before, after] = [row.runs[baseline], row.runs[candidate]];
    return before === undefined || after === undefined ? [] : [{ row, before: passes(before), after: passes(after) }];
  });
  const better = pairs.filter(({ before, after }) => after && !before).map(({ row }) => row);
  const worse = pairs.filter(({ before, after }) => before && !after).map(({ row }) => row);
  return { baseline, candidate, better, worse, rows: pairs.length, p: signTest(better.length, worse.length) };
}

export function passes({ status }: RowRun): boolean {
  return status === 'passed';
}

/** The rows that pass with no variant. */
export function failingRows({ rows }: DataReport): readonly EvaluatedRow[] {
  return rows.filter(({ runs }) => runs.some((run) => run !== undefined) && !runs.some((run) => run && passes(run)));
}

/** `86.5 %` */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** `Read on rows.csv: 200 rows, 90 % must pass`, and the checks. */
export function headLines({
  functionName,
  source,
  rows,
  passRate,
  checks,
  interrupted,
}: DataReport): readonly string[] {
  const needed = passRate === 1 ? 'all' : `${Number((100 * passRate).toFixed(4))} %`;
  const end = interrupted ? ' (interrupted)' : '';
  return [
    `${functionName} on ${source}: ${counted(rows.length, 'row')}, ${needed} must pass${end}`,
    `checks: ${checks.length === 0 ? 'none, a row with a value passes' : checks.join(', ')}`,
  ];
}

/** The summaries as a table: a line for each fact that is known, with a cell for each variant. */
export function summaryTable({ variants, judgeCost }: DataReport): readonly (readonly string[])[] {
  const lines = (
    [
      ['passed', ({ passed, rows }) => `${passed} of ${rows}${rows === 0 ? '' : ` (${percent(passed / rows)})`}`],
      ['95 % interval', ({ interval: { low, high } }) => `${percent(low)} to ${percent(high)}`],
      ['mean of the judge', ({ score }) => score?.toFixed(3)],
      ['mean latency', ({ latencyMs }) => latencyMs && durationText(latencyMs)],
      ['95 % within', ({ latency95Ms }) => latency95Ms && durationText(latency95Ms)],
      ['tokens in, out', ({ inputTokens, outputTokens }) => `${inputTokens}, ${outputTokens}`],
      ['cost', costCell],
    ] satisfies readonly SummaryLine[]
  ).map(([label, cell]): readonly string[] => [label, ...variants.map((variant) => cell(variant) || '-')]);
  const known = lines.filter(([, ...cells]) => cells.some((cell) => cell !== '-' && cell !== '-, -'));
  const names = variants.length > 1 ? [['', ...variants.map(({ name }) => name)]] : [];
  const ofJudge = judgeCost === undefined ? [] : [['cost of the judge', dollars(judgeCost)]];
  return [...names, ...known, ...ofJudge];
}

function costCell({ cost, costRows, rows }: VariantSummary): string | undefined {
  if (cost === undefined) return undefined;
  return `${dollars(cost)}${costRows === rows ? '' : ` (known for ${costRows} of ${counted(rows, 'row')})`}`;
}

type SummaryLine = readonly [label: string, cell: (variant: VariantSummary) => string | number | undefined];

/** `B compared with A: 14 rows better, 5 worse, 181 the same; +4.5 points, p = 0.064` */
export function comparisonText({ better, worse, rows, p, ...pair }: Comparison, { variants }: DataReport): string {
  const [candidate = '', baseline = ''] = [pair.candidate, pair.baseline].map((at) => variants[at]?.name);
  const same = rows - better.length - worse.length;
  const points = rows === 0 ? 0 : (100 * (better.length - worse.length)) / rows;
  const counts = `${counted(better.length, 'row')} better, ${worse.length} worse, ${same} the same`;
  return `${candidate} compared with ${baseline}: ${counts}; ${points < 0 ? '' : '+'}${points.toFixed(1)} points, p = ${pText(p)}`;
}

function pText(p: number): string {
  return p < 0.001 ? p.toExponential(1) : p.toFixed(3);
}
