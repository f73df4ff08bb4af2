import type { JsonObject } from '../../base/json.ts';
import type { SpanLocator } from '../../diagnostics/report-formats.ts';
import type { ConditionOutcome } from '../../runtime/call/test-conditions.ts';
import { readablePrompt } from './recordings.ts';
import { knownCost, passedRuns, type TestReport, type TestResult, type TestRun } from './test-results.ts';

/** For programs: one object with all results. Runs that did not pass have their prompt and reply. */
export function jsonReport(report: TestReport, locator: SpanLocator): string {
  const { results, durationMs, interrupted, untested, functions } = report;
  const count = (status: TestResult['status']): number => results.filter((result) => result.status === status).length;
  const data = {
    passed: count('passed'),
    failed: count('failed'),
    not_run: count('not run'),
    interrupted,
    duration_ms: Math.round(durationMs),
    cost: knownCost(results),
    functions,
    functions_without_test: untested,
    tests: results.map((result) => resultData(result, locator)),
  };
  return `${JSON.stringify(data, undefined, 2)}\n`;
}

function resultData(result: TestResult, locator: SpanLocator): object {
  const { functionName, test, client, status, runs } = result;
  const { file } = test.span;
  return {
    function: functionName,
    test: test.name,
    file,
    line: locator.range(test.span).start.line,
    client,
    status: status === 'not run' ? 'not_run' : status,
    passed_runs: passedRuns(result),
    runs: runs.map((run) => ({
      status: run.status,
      duration_ms: Math.round(run.durationMs),
      latency_ms: run.latencyMs,
      client: run.client,
      model: run.model,
      input_tokens: run.inputTokens,
      output_tokens: run.outputTokens,
      cost: run.cost,
      value: run.value,
      conditions: run.conditions.map((condition) => conditionData(condition, file, locator)),
      failed_checks: run.failedChecks.map(({ path, name, expression }) => ({ path, name, expression })),
      ...(run.status !== 'passed' && failureData(run)),
    })),
  };
}

function conditionData({ constraint, status, reason }: ConditionOutcome, file: string, locator: SpanLocator): object {
  const { level, label, source, expression } = constraint;
  const { line } = locator.range({ file, start: expression.start, end: expression.end }).start;
  return { kind: level, label, expression: source, line, status, reason };
}

function failureData({ failure, prompt, reply }: TestRun): object {
  const readable: readonly JsonObject[] | undefined = prompt && readablePrompt(prompt);
  return { failure, prompt: readable, reply };
}
