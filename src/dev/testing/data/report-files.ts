import { stringify } from 'csv-stringify/sync';
import { ownValue, type JsonValue } from '../../../base/json.ts';
import { decimal } from '../../../schema/price-list.ts';
import { readablePrompt } from '../recordings.ts';
import { costOf, element, exchangeText, seconds, textElement } from '../report-junit.ts';
import { failingRows, passes, type Comparison, type DataReport } from './data-report.ts';
import type { EvaluatedRow, RowRun } from './evaluate-rows.ts';
import { expectedValue } from './judge.ts';

/** For programs: one object with all rows. Runs that did not pass have their prompt and reply. */
export function jsonDataReport(report: DataReport): string {
  const { variants, comparisons, rows } = report;
  const data = {
    function: report.functionName,
    data: report.source,
    checks: report.checks,
    pass_rate: report.passRate,
    interrupted: report.interrupted,
    variants: variants.map((variant) => ({
      name: variant.name,
      rows: variant.rows,
      passed: variant.passed,
      interval: [variant.interval.low, variant.interval.high],
      mean_score: variant.score,
      mean_latency_ms: variant.latencyMs,
      latency_95_ms: variant.latency95Ms,
      cost: variant.cost,
      cost_rows: variant.costRows,
    })),
    judge_cost: report.judgeCost,
    comparisons: comparisons.map((comparison) => comparisonData(comparison, report)),
    failing: failingRows(report).map(({ row }) => row.id),
    rows: rows.map((row) => rowData(row, report)),
  };
  return `${JSON.stringify(data, undefined, 2)}\n`;
}

function comparisonData({ baseline, candidate, better, worse, rows, p }: Comparison, { variants }: DataReport): object {
  return {
    baseline: variants[baseline]?.name,
    candidate: variants[candidate]?.name,
    rows,
    p,
    better: better.map(({ row }) => row.id),
    worse: worse.map(({ row }) => row.id),
  };
}

function rowData({ row: { id, args, expected, columns }, runs }: EvaluatedRow, { variants }: DataReport): object {
  return {
    id,
    args,
    ...(expected.length > 0 && { expected: expectedValue(expected) }),
    columns,
    runs: runs.map((run, at) => ({ variant: variants[at]?.name, ...(run && runData(run)) })),
  };
}

function runData(run: RowRun): object {
  const { status, reasons, value, score, latencyMs, inputTokens, outputTokens, cost, client, model } = run;
  const exchange = passes(run) ? {} : { prompt: run.prompt && readablePrompt(run.prompt), reply: run.reply };
  const facts = { latency_ms: latencyMs, input_tokens: inputTokens, output_tokens: outputTokens, cost };
  return { status, reasons, value, score, client, model, ...facts, failure: run.failure, ...exchange };
}

/** For spreadsheets: a line for each row and variant. Strings are cells as they are; other values are JSON. */
export function csvDataReport({ rows, variants }: DataReport, copied: readonly string[]): string {
  const header = ['id', 'variant', 'status', 'reasons', 'expected', 'value', 'score', 'latency_ms'];
  const lines = rows.flatMap(({ row, runs }) =>
    runs.map((run, at) => [
      row.id,
      variants[at]?.name,
      run?.status ?? 'not run',
      run?.reasons.join('\n'),
      row.expected.length === 0 ? '' : cellOf(expectedValue(row.expected)),
      cellOf(run?.value),
      cellOf(run?.score),
      run?.latencyMs,
      run?.inputTokens,
      run?.outputTokens,
      run?.cost === undefined ? '' : decimal(run.cost),
      ...copied.map((name) => cellOf(ownValue(row.columns, name))),
    ]),
  );
  return stringify([
    [...header, 'input_tokens', 'output_tokens', 'cost', ...copied.map((name) => `input.${name}`)],
    ...lines,
  ]);
}

function cellOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** JUnit's XML: a suite for each variant, and a case for each row. Times are those of the models. */
export function junitDataReport(report: DataReport): string {
  const { functionName, source, variants, rows } = report;
  const suites = variants.map(({ name }, at) => {
    const ofVariant = name === '' ? '' : ` (${name})`;
    const runs = rows.map((row) => row.runs[at]);
    const cases = rows.map(({ row }, index) => testCase(row.id + ofVariant, runs[index], functionName));
    const attributes = { name: functionName + ofVariant, ...counts(runs), time: timeOf(runs) };
    return element('testsuite', attributes, [...costOf([{ runs: runs.filter((run) => run !== undefined) }]), ...cases]);
  });
  const all = rows.flatMap(({ runs }) => runs);
  const attributes = { name: `svc test --data ${source}`, ...counts(all), time: timeOf(all) };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', attributes, suites)}\n`;
}

function testCase(name: string, run: RowRun | undefined, classname: string): string {
  const attributes = { classname, name, time: timeOf([run]) };
  if (run === undefined) return element('testcase', attributes, [element('skipped', { message: 'interrupted' }, [])]);
  if (passes(run)) return element('testcase', attributes, []);
  const kind = run.status === 'error' ? 'error' : 'failure';
  const [message = ''] = run.reasons;
  const problem = textElement(kind, { message, type: run.failure?.code ?? 'row' }, run.reasons.join('\n'));
  return element('testcase', attributes, [problem, textElement('system-out', {}, exchangeText(run))]);
}

function counts(runs: readonly (RowRun | undefined)[]): Readonly<Record<string, string>> {
  const count = (status: RowRun['status'] | undefined): string =>
    String(runs.filter((run) => run?.status === status).length);
  return { tests: String(runs.length), failures: count('failed'), errors: count('error'), skipped: count(undefined) };
}

function timeOf(runs: readonly (RowRun | undefined)[]): string {
  return seconds(runs.reduce((total, run) => total + (run?.latencyMs ?? 0), 0));
}
