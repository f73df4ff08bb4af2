import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from './bars.ts';
import { median } from './load.ts';
import type { CaseResult, Sample } from './measure.ts';
import type { Scaling } from './scaling.ts';
import { RESULTS_FOLDER } from './sides.ts';

/** One line for each side of each case. */
export function resultTable(results: readonly CaseResult[]): string {
  const head = ['case', 'side', 'CPU µs/request', 'spread', 'requests/s', 'p50 ms', 'p99 ms'];
  const rows = results.flatMap((result) =>
    Object.entries(result.samples).map(([side, samples]) => [result.title, side, ...cells(samples)]),
  );
  return table([head, ...rows]);
}

function cells(samples: readonly Sample[]): readonly string[] {
  const costs = samples.map((sample) => sample.cpuMicrosPerRequest);
  const middle = (pick: (sample: Sample) => number): string => number(median(samples.map(pick)));
  return [
    number(median(costs)),
    `${number(Math.min(...costs))} to ${number(Math.max(...costs))}`,
    middle((sample) => sample.requestsPerSecond),
    middle((sample) => sample.p50),
    middle((sample) => sample.p99),
  ];
}

export function scalingTable({ title, one, two, cores }: Scaling): string {
  return table([
    [title, 'calls/s', 'spread'],
    scalingRow('one worker', one),
    scalingRow('two workers', two),
    scalingRow('work of two cores divided by that of one, without a server', cores),
  ]);
}

function scalingRow(name: string, values: readonly number[]): readonly string[] {
  return [name, number(median(values)), `${number(Math.min(...values))} to ${number(Math.max(...values))}`];
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const head = ['bar', 'measured', 'limit', 'holds'];
  const rows = verdicts.map(({ bar, measured, limit, holds }) => [
    bar,
    measured === undefined ? '-' : ratio(measured),
    ratio(limit),
    holds === undefined ? 'not measured' : holds ? 'yes' : 'NO',
  ]);
  return table([head, ...rows]);
}

/** Columns padded to the longest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Three significant digits, with separators between thousands. */
export function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

function ratio(value: number): string {
  return value >= 0.9 || value === 0 ? value.toFixed(2) : `1/${(1 / value).toFixed(1)}`;
}

/** Writes `bench/results/<date>-<kind>.json` (`<date>.json` for the main run) and returns its path. */
export function writeResults(data: unknown, kind?: string): string {
  mkdirSync(RESULTS_FOLDER, { recursive: true });
  const path = resultsPath(kind);
  // Another run can read the file at the same time.
  writeFileSync(`${path}.new`, `${resultText({ machine: machine(), ...(data as object) })}\n`);
  renameSync(`${path}.new`, path);
  return path;
}

/** The path of the results of today. */
export function resultsPath(kind?: string): string {
  const date = new Date().toISOString().slice(0, 10);
  return join(RESULTS_FOLDER, `${date}${kind === undefined ? '' : `-${kind}`}.json`);
}

/** JSON with one line for each field, and for each row of a list: a change of one row is one line of a diff. Leaves undefined fields out. */
export function resultText(data: object): string {
  const known = Object.entries(data).filter(([, value]) => value !== undefined);
  const fields = known.map(([name, value]: [string, unknown]) => {
    if (!Array.isArray(value) || value.length === 0) return `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    return `  ${JSON.stringify(name)}: [\n${value.map((row) => `    ${JSON.stringify(row)}`).join(',\n')}\n  ]`;
  });
  return `{\n${fields.join(',\n')}\n}`;
}

function machine(): Readonly<Record<string, unknown>> {
  const processors = cpus();
  return {
    node: process.version,
    cores: processors.length,
    processor: processors[0]?.model ?? 'unknown',
    /** Over the last minute: above about 2, other programs ran too. */
    load: loadavg()[0],
    system: `${process.platform} ${release()} ${process.arch}`,
  };
}
