import type { JsonValue } from '../../base/json.ts';
import type { ConditionOutcome, ValueCheck } from '../../runtime/call/test-conditions.ts';
import type { Message } from '../../schema/message.ts';
import type { RunFailure } from '../local-runtime.ts';
import type { SelectedTest } from './select-tests.ts';

/** One call of a function by a test, and what became of it. */
export interface TestRun {
  /** `error`: there is no value, for a reason other than the reply. */
  readonly status: 'passed' | 'failed' | 'error';
  readonly durationMs: number;
  /** Milliseconds of waiting for models. */
  readonly latencyMs?: number;
  /** As a call returns it. */
  readonly value?: JsonValue;
  readonly conditions: readonly ConditionOutcome[];
  /** The checks of types that the value fails. They fail no test. */
  readonly failedChecks: readonly ValueCheck[];
  readonly failure?: RunFailure;
  readonly prompt?: readonly Message[];
  readonly reply?: string;
  /** The client that answered, and its model. */
  readonly client?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** US dollars. Absent if a price or a count is unknown, and for recorded replies. */
  readonly cost?: number;
}

/** One test of one function with one client, repeated as often as the user asks. */
export interface TestResult extends SelectedTest {
  /** The client that the user selected, or the function's own. */
  readonly client: string;
  /** `not run`: the user interrupted the tests before all repetitions had ended. */
  readonly status: 'passed' | 'failed' | 'not run';
  /** The repetitions that have ended, in order. */
  readonly runs: readonly TestRun[];
}

/** `ExtractResume::Short`, as the option `--include` takes it. */
export function fullName({ functionName, test }: SelectedTest): string {
  return `${functionName}::${test.name}`;
}

export function passedRuns({ runs }: Pick<TestResult, 'runs'>): number {
  return runs.filter(({ status }) => status === 'passed').length;
}

/** The mean latency of the runs that have one; undefined if none has. */
export function meanLatency({ runs }: Pick<TestResult, 'runs'>): number | undefined {
  const known = runs.flatMap(({ latencyMs }) => latencyMs ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, ms) => sum + ms, 0) / known.length;
}

/** US dollars for all runs whose cost is known; undefined if none is. */
export function knownCost(results: ReadonlyArray<Pick<TestResult, 'runs'>>): number | undefined {
  const known = results.flatMap(({ runs }) => runs.flatMap(({ cost }) => cost ?? []));
  return known.length === 0 ? undefined : Math.round(known.reduce((sum, cost) => sum + cost, 0) * 1e9) / 1e9;
}

/** The results of all tests, and facts about the definitions. */
export interface TestReport {
  readonly results: readonly TestResult[];
  readonly durationMs: number;
  readonly interrupted: boolean;
  /** The functions without a test, by name. */
  readonly untested: readonly string[];
  /** The number of functions in the definitions. */
  readonly functions: number;
}
