import { expect, test } from 'vitest';
import { clientTable } from '../../../src/dev/testing/report-pretty.ts';
import type { TestResult, TestRun } from '../../../src/dev/testing/test-results.ts';

function resultOf(name: string, client: string, ...runs: readonly Partial<TestRun>[]): TestResult {
  const span = { file: 'a.svc', start: 0, end: 1 };
  const block = { name, span, functions: ['F'], args: [], constraints: [], buildsTypes: false };
  const all = runs.map((run): TestRun => ({
    status: 'passed',
    durationMs: 1,
    conditions: [],
    failedChecks: [],
    ...run,
  }));
  const status = all.length === 0 ? 'not run' : all.every((run) => run.status === 'passed') ? 'passed' : 'failed';
  return { test: block, functionName: 'F', client, status, runs: all };
}

test('the table has a column for each client, and their sums below', () => {
  const results = [
    resultOf('Short', 'Fast', { latencyMs: 100, inputTokens: 5, outputTokens: 2 }, { latencyMs: 300, inputTokens: 5 }),
    resultOf('Short', 'Careful', { latencyMs: 1500 }, { status: 'failed', latencyMs: 500 }),
    resultOf('ALongerName', 'Fast', { status: 'error' }),
    resultOf('ALongerName', 'Careful'),
  ];
  expect(clientTable(results)).toBe(
    `                Fast             Careful
F::Short        pass 2/2 200 ms  FAIL 1/2 1.0 s
F::ALongerName  FAIL             not run
passed          1 of 2           0 of 2
mean latency    200 ms           1.0 s
tokens in, out  10, 2            -, -
`,
  );
});
