import { visible } from '../../diagnostics/report-formats.ts';
import { durationText } from '../../base/amounts.ts';
import { dollars } from './report-lines.ts';
import { fullName, knownCost, meanLatency, passedRuns, type TestResult } from './test-results.ts';

/** The results by test and client: a column for each client, and its sums below. */
export function clientTable(results: readonly TestResult[]): string {
  const clients = [...new Set(results.map(({ client }) => client))];
  const names = [...new Set(results.map(fullName))];
  const cells = new Map(results.map((result) => [`${fullName(result)} ${result.client}`, result]));
  const rows = names.map((name) => [
    visible(name),
    ...clients.map((client) => {
      const result = cells.get(`${name} ${client}`);
      return result === undefined ? '' : cell(result);
    }),
  ]);
  const of = (client: string): readonly TestResult[] => results.filter((result) => result.client === client);
  return table([
    ['', ...clients.map(visible)],
    ...rows,
    ['passed', ...clients.map((client) => passed(of(client)))],
    ['mean latency', ...clients.map((client) => latency(of(client)))],
    ['tokens in, out', ...clients.map((client) => tokens(of(client)))],
    ...(knownCost(results) === undefined ? [] : [['cost', ...clients.map((client) => cost(of(client)))]]),
  ]);
}

function cell(result: TestResult): string {
  const { runs, status } = result;
  const word = { passed: 'pass', failed: 'FAIL', 'not run': 'not run' }[status];
  const rate = runs.length > 1 ? ` ${passedRuns(result)}/${runs.length}` : '';
  const ms = meanLatency(result);
  return `${word}${rate}${ms === undefined ? '' : ` ${durationText(ms)}`}`;
}

function passed(results: readonly TestResult[]): string {
  return `${results.filter(({ status }) => status === 'passed').length} of ${results.length}`;
}

function latency(results: readonly TestResult[]): string {
  const mean = meanLatency({ runs: results.flatMap(({ runs }) => runs) });
  return mean === undefined ? '-' : durationText(mean);
}

function tokens(results: readonly TestResult[]): string {
  const runs = results.flatMap((result) => result.runs);
  return `${sum(runs.map((run) => run.inputTokens))}, ${sum(runs.map((run) => run.outputTokens))}`;
}

/** `-` if nothing is known. */
function cost(results: readonly TestResult[]): string {
  const known = knownCost(results);
  return known === undefined ? '-' : dollars(known);
}

/** `-` if nothing is known. */
function sum(counts: readonly (number | undefined)[]): string {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? '-' : String(known.reduce((total, count) => total + count, 0));
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}
