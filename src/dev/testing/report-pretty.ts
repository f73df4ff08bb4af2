import { withoutChecks } from '../../runtime/call/test-conditions.ts';
import type { SpanLocator } from '../../diagnostics/report-formats.ts';
import type { Span } from '../../diagnostics/span.ts';
import { visible, COLOURED, PLAIN, type Paint } from '../../diagnostics/report-formats.ts';
import { durationText, counted } from '../../base/amounts.ts';
import {
  dollars,
  conditionText,
  failureLines,
  promptLines,
  textLines,
  fullName,
  knownCost,
  meanLatency,
  passedRuns,
  type TestResult,
  type TestReport,
  type TestRun,
} from './test-results.ts';

/** The results by test and client: a column for each client, and its sums below. */
function clientTable(results: readonly TestResult[]): string {
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
    ['passed', ...clients.map((client) => passedCell(of(client)))],
    ['mean latency', ...clients.map((client) => latencyCell(of(client)))],
    ['tokens in, out', ...clients.map((client) => tokensCell(of(client)))],
    ...(knownCost(results) === undefined ? [] : [['cost', ...clients.map((client) => costCell(of(client)))]]),
  ]);
}

function cell(result: TestResult): string {
  const { runs, status } = result;
  const word = { passed: 'pass', failed: 'FAIL', 'not run': 'not run' }[status];
  const rate = runs.length > 1 ? ` ${passedRuns(result)}/${runs.length}` : '';
  const ms = meanLatency(result);
  return `${word}${rate}${ms === undefined ? '' : ` ${durationText(ms)}`}`;
}

function passedCell(results: readonly TestResult[]): string {
  return `${results.filter(({ status }) => status === 'passed').length} of ${results.length}`;
}

function latencyCell(results: readonly TestResult[]): string {
  const mean = meanLatency({ runs: results.flatMap(({ runs }) => runs) });
  return mean === undefined ? '-' : durationText(mean);
}

function tokensCell(results: readonly TestResult[]): string {
  const runs = results.flatMap((result) => result.runs);
  return `${sum(runs.map((run) => run.inputTokens))}, ${sum(runs.map((run) => run.outputTokens))}`;
}

/** `-` if nothing is known. */
function costCell(results: readonly TestResult[]): string {
  const known = knownCost(results);
  return known === undefined ? '-' : dollars(known);
}

/** The sum of the counts that are known; `-` if none is. */
export function sum(counts: readonly (number | undefined)[]): string {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? '-' : String(known.reduce((total, count) => total + count, 0));
}

/** Columns of equal width. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** The way in which a report for people is written. */
export interface PrettyStyle {
  readonly colour: boolean;
  readonly locator: SpanLocator;
  /** The repetitions of each test. */
  readonly repeat: number;
  /** The number of clients side by side; 1 also for the functions' own. */
  readonly clients: number;
  /** Whether to list the functions without a test. */
  readonly coverage: boolean;
}

/** A value that is longer than this is cut: the JSON format has all of it. */
const LONGEST_VALUE_LINES = 40;

/** One line for a test that has ended: `pass ExtractResume::Short  312 ms`. */
export function resultLine(result: TestResult, { colour, repeat, clients }: PrettyStyle): string {
  const paint = colour ? COLOURED : PLAIN;
  const { status, client } = result;
  const word = { passed: 'pass', failed: 'FAIL', 'not run': 'not run' }[status];
  const shown = status === 'failed' ? paint.severity('error', word) : status === 'passed' ? word : paint.dim(word);
  const latency = meanLatency(result);
  const facts = [
    ...(clients > 1 ? [client] : []),
    ...(repeat > 1 ? [passRate(result)] : []),
    ...(latency === undefined ? [] : [durationText(latency)]),
    ...(status === 'passed' ? failedChecks(result) : []),
  ];
  return `${shown} ${visible(fullName(result))}${facts.length === 0 ? '' : paint.dim(`  ${facts.join('  ')}`)}\n`;
}

/** States how many conditions of a test that passed do not hold. */
function failedChecks({ runs }: TestResult): readonly string[] {
  const failed = runs.flatMap(({ conditions }) => conditions).filter(({ status }) => status === 'failed');
  return failed.length === 0 ? [] : [`${counted(failed.length, 'check')} failed`];
}

/** The failures, the comparison of clients, and the summary. */
export function prettyTestReport(report: TestReport, style: PrettyStyle): string {
  const paint = style.colour ? COLOURED : PLAIN;
  const failed = report.results.filter(({ status }) => status === 'failed');
  const blocks = failed.map((result) => failureBlock(result, style, paint));
  if (style.clients > 1) blocks.push(clientTable(report.results));
  return `\n${[...blocks, summary(report, style)].join('\n')}`;
}

/** `7 of 10 passed (70%)` */
export function passRate(result: Pick<TestResult, 'runs'>): string {
  const [passed, all] = [passedRuns(result), result.runs.length];
  return `${passed} of ${all} passed (${all === 0 ? 0 : Math.floor((100 * passed) / all)}%)`;
}

/** The first run that did not pass, in full. */
function failureBlock(result: TestResult, style: PrettyStyle, paint: Paint): string {
  const run = result.runs.find(({ status }) => status !== 'passed');
  const place = paint.dim(placeOf(result.test.span, style));
  const client = style.clients > 1 ? ` with ${result.client}` : '';
  const head = `${paint.severity('error', 'FAIL')} ${paint.bold(visible(fullName(result)))}${client}  ${place}`;
  const rate = style.repeat > 1 ? [`  ${passRate(result)}; the first run that did not:`] : [];
  const body = run === undefined ? [] : [...reasons(run, result, style), ...valueLines(run), ...exchange(run, paint)];
  return `${[head, ...rate, ...body].join('\n')}\n`;
}

function reasons(run: TestRun, { test }: TestResult, style: PrettyStyle): readonly string[] {
  const lines: string[] = [];
  if (run.failure !== undefined)
    lines.push(
      ...failureLines(run.failure)
        .flatMap(textLines)
        .map((line) => `  ${line}`),
    );
  for (const outcome of run.conditions) {
    if (outcome.status !== 'failed') continue;
    const { start, end } = outcome.constraint.expression;
    lines.push(
      `  ${visible(conditionText(outcome))}`,
      `    --> ${placeOf({ file: test.span.file, start, end }, style)}`,
    );
  }
  const skipped = run.conditions.filter(({ status }) => status === 'skipped').length;
  if (skipped > 0) lines.push(`  ${counted(skipped, 'further condition')} skipped`);
  for (const { path, name, expression } of run.failedChecks) {
    lines.push(
      `  The value fails the check "${name}"${path === '' ? '' : ` at ${visible(path)}`}: ${visible(expression)}`,
    );
  }
  return lines;
}

function valueLines({ value }: TestRun): readonly string[] {
  if (value === undefined) return [];
  const lines = textLines(JSON.stringify(withoutChecks(value).value, undefined, 2));
  const more = lines.length - LONGEST_VALUE_LINES;
  const shown = more > 1 ? [...lines.slice(0, LONGEST_VALUE_LINES), `… (${more} more lines)`] : lines;
  const [first = '', ...rest] = shown;
  return [`  value: ${first}`, ...rest.map((line) => `  ${line}`)];
}

function exchange(run: TestRun, paint: Paint): readonly string[] {
  const lines: string[] = [];
  if (run.prompt !== undefined) lines.push('', `  ${paint.bold('prompt')}`, ...indented(promptLines(run.prompt)));
  if (run.reply !== undefined) {
    lines.push('', `  ${paint.bold('reply')}${paint.dim(replyFacts(run))}`, ...indented(textLines(run.reply)));
  }
  return lines;
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `    ${line}`));
}

function replyFacts({ client, model, latencyMs, inputTokens, outputTokens, cost }: TestRun): string {
  const facts = [
    ...(client === undefined ? [] : [client]),
    ...(model === undefined || model === client ? [] : [model]),
    ...(latencyMs === undefined ? [] : [durationText(latencyMs)]),
    ...(inputTokens === undefined ? [] : [`${inputTokens} tokens in`]),
    ...(outputTokens === undefined ? [] : [`${outputTokens} tokens out`]),
    ...(cost === undefined ? [] : [dollars(cost)]),
  ];
  return facts.length === 0 ? '' : ` (${visible(facts.join(', '))})`;
}

function summary(report: TestReport, { coverage }: PrettyStyle): string {
  const { results, durationMs, interrupted, untested, functions } = report;
  const count = (status: TestResult['status']): number => results.filter((result) => result.status === status).length;
  const parts = [`${count('passed')} passed`, `${count('failed')} failed`];
  if (count('not run') > 0) parts.push(`${count('not run')} not run`);
  const end = interrupted ? 'interrupted after' : 'in';
  const facts = `${parts.join(', ')}, ${end} ${durationText(durationMs)}${costFact(results)}`;
  const lines = [`${counted(results.length, 'test')}: ${facts}`];
  if (coverage && untested.length > 0) {
    lines.push(`${untested.length} of ${counted(functions, 'function')} without a test: ${untested.join(', ')}`);
  }
  return `${lines.join('\n')}\n`;
}

/** `, cost $0.0021`, and the number of runs with a known cost, unless all have one. */
function costFact(results: readonly TestResult[]): string {
  const cost = knownCost(results);
  if (cost === undefined) return '';
  const runs = results.flatMap((result) => result.runs);
  const known = runs.filter((run) => run.cost !== undefined).length;
  return `, cost ${dollars(cost)}${known === runs.length ? '' : ` (known for ${known} of ${counted(runs.length, 'run')})`}`;
}

function placeOf(span: Span, { locator }: PrettyStyle): string {
  const { line, column } = locator.range(span).start;
  return `${visible(span.file)}:${line}:${column}`;
}
