import type { SpanLocator } from '../../diagnostics/report-formats.ts';
import {
  conditionText,
  failureLines,
  promptLines,
  textLines,
  knownCost,
  type TestReport,
  type TestResult,
  type TestRun,
} from './test-results.ts';
import { passRate } from './report-pretty.ts';
import { decimal } from '../../schema/price-list.ts';

/**
 * JUnit's XML, as CI systems read it (https://github.com/testmoapp/junitxml): a suite for each function, a case for each test
 * and client. A value that breaks a condition, or a reply that does not fit, is a failure; any other problem is an error.
 */
export function junitReport(report: TestReport, locator: SpanLocator, clients: number): string {
  const { results, durationMs } = report;
  const suites = [...new Set(results.map(({ functionName }) => functionName))].map((name) => {
    const own = results.filter((result) => result.functionName === name);
    const cases = own.map((result) => testCase(result, locator, clients));
    const time = own.reduce((sum, result) => sum + durationOf(result), 0);
    return element('testsuite', { name, ...counts(own), time: seconds(time) }, [...costOf(own), ...cases]);
  });
  const attributes = { name: 'svc test', ...counts(results), time: seconds(durationMs) };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', attributes, suites)}\n`;
}

function testCase(result: TestResult, locator: SpanLocator, clients: number): string {
  const { functionName, test, client, status } = result;
  const attributes = {
    classname: functionName,
    name: clients > 1 ? `${test.name} (${client})` : test.name,
    file: test.span.file,
    line: String(locator.range(test.span).start.line),
    time: seconds(durationOf(result)),
  };
  if (status === 'not run')
    return element('testcase', attributes, [element('skipped', { message: 'interrupted' }, [])]);
  return element('testcase', attributes, [...costOf([result]), ...(status === 'passed' ? [] : problems(result))]);
}

/** The cost in US dollars as a property, if it is known. */
export function costOf(results: Parameters<typeof knownCost>[0]): readonly string[] {
  const cost = knownCost(results);
  if (cost === undefined) return [];
  return [element('properties', {}, [element('property', { name: 'cost', value: decimal(cost) }, [])])];
}

function problems(result: TestResult): readonly string[] {
  const run = firstProblem(result);
  if (run === undefined) return [];
  const rate = result.runs.length > 1 ? `${passRate(result)}: ` : '';
  const type = run.failure?.code ?? 'condition';
  const problem = textElement(kindOf(run), { message: rate + messageOf(run), type }, reasons(run).join('\n'));
  const exchange = exchangeText(run);
  return exchange === '' ? [problem] : [problem, textElement('system-out', {}, exchange)];
}

function firstProblem({ runs }: TestResult): TestRun | undefined {
  return runs.find(({ status }) => status !== 'passed');
}

function kindOf({ status }: TestRun): 'failure' | 'error' {
  return status === 'error' ? 'error' : 'failure';
}

function messageOf(run: TestRun): string {
  return reasons(run)[0] ?? 'failed';
}

function reasons({ failure, conditions }: TestRun): readonly string[] {
  const broken = conditions.filter(({ status }) => status === 'failed');
  return [...(failure === undefined ? [] : failureLines(failure)), ...broken.map(conditionText)];
}

/** The value, the prompt and the reply. */
export function exchangeText({ value, prompt, reply }: Pick<TestRun, 'value' | 'prompt' | 'reply'>): string {
  const parts = [
    ...(value === undefined ? [] : [['value', ...textLines(JSON.stringify(value, undefined, 2))]]),
    ...(prompt === undefined ? [] : [['prompt', ...promptLines(prompt)]]),
    ...(reply === undefined ? [] : [['reply', ...textLines(reply)]]),
  ];
  return parts.map((lines) => lines.join('\n')).join('\n\n');
}

function counts(results: readonly TestResult[]): Readonly<Record<string, string>> {
  const failed = results.filter(({ status }) => status === 'failed').map(firstProblem);
  const errors = failed.filter((run) => run !== undefined && kindOf(run) === 'error').length;
  return {
    tests: String(results.length),
    failures: String(failed.length - errors),
    errors: String(errors),
    skipped: String(results.filter(({ status }) => status === 'not run').length),
  };
}

function durationOf({ runs }: TestResult): number {
  return runs.reduce((sum, run) => sum + run.durationMs, 0);
}

export function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

export function element(name: string, attributes: Attributes, children: readonly string[]): string {
  const head = opening(name, attributes);
  return children.length === 0 ? `<${head}/>` : `<${head}>\n${children.join('\n')}\n</${name}>`;
}

export function textElement(name: string, attributes: Attributes, text: string): string {
  return `<${opening(name, attributes)}>${escaped(text)}</${name}>`;
}

type Attributes = Readonly<Record<string, string>>;

function opening(name: string, attributes: Attributes): string {
  // A parser turns a line break in an attribute into a space.
  const pairs = Object.entries(attributes).map(
    ([key, value]) => `${key}="${escaped(value).replaceAll('\n', '&#10;')}"`,
  );
  return [name, ...pairs].join(' ');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

// oxlint-disable-next-line no-control-regex -- the pattern searches for them
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF\p{Surrogate}]/gu;

/** Replaces the characters that no XML document can contain (https://www.w3.org/TR/xml/#charsets), and lone surrogates. */
export function escaped(text: string): string {
  return text.replaceAll(FORBIDDEN, '\uFFFD').replaceAll(/[&<>"]/gu, (character) => ENTITIES[character] ?? '');
}
