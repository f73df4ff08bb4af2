import type { Cancellation } from '../../base/cancellation.ts';
import type { JsonObject } from '../../base/json.ts';
import { type Result, err, ok } from '../../base/result.ts';
import { functionNotFound } from '../../runtime/call/prepare-call.ts';
import {
  indexDefinitions,
  type Program,
  type TestType,
  type DefinitionIndex,
  type FunctionType,
} from '../../schema/program.ts';
import { failureOf, type RunFailure } from '../local-runtime.ts';
import type { SelectedTest } from './select-tests.ts';
import { testArguments } from './test-arguments.ts';
import { TestCaller, masked, refused, withConditions, type CallerParts, type TestedRun } from './test-caller.ts';
import { passedRuns, type TestResult, type TestRun } from './test-results.ts';

interface TestPlan extends CallerParts {
  readonly program: Program;
  readonly tests: readonly SelectedTest[];
  /** The clients to call; empty for the own client of each function. */
  readonly clients: readonly string[];
  readonly repeat: number;
  /** The fraction of repetitions that have to pass. */
  readonly passRate: number;
  readonly parallel: number;
  /** The program of a test that extends types. Fails with sentences. */
  readonly extended: (test: TestType) => Result<Program, string>;
}

/** One test with one client, and the runs that have ended, by repetition. */
interface PlannedTest {
  readonly selected: SelectedTest;
  /** Undefined: the function's own. */
  readonly client: string | undefined;
  readonly runs: (TestRun | undefined)[];
}

/**
 * Runs every test with every client as often as the plan says. `onResult` receives the results in the order of the plan, each
 * as soon as it and all before it are known. After a cancellation, the calls that have not ended count as not run.
 */
export async function runTests(plan: TestPlan, onResult: (result: TestResult) => void): Promise<readonly TestResult[]> {
  const { cancellation, parallel, repeat } = plan;
  const clients = plan.clients.length === 0 ? [undefined] : plan.clients;
  const planned = plan.tests.flatMap((selected) =>
    clients.map((client): PlannedTest => ({ selected, client, runs: [] })),
  );
  const runners = new Runners(plan);
  const queue = planned.flatMap((entry) =>
    Array.from({ length: repeat }, (_, repetition) => async () => {
      const run = await runners.of(entry.selected.test).run(entry.selected, entry.client, repetition);
      if (run !== undefined) entry.runs[repetition] = run;
    }),
  );
  const results: TestResult[] = [];
  const report = (entry: PlannedTest): void => {
    const result = resultOf(entry, plan);
    results.push(result);
    onResult(result);
  };
  const reportComplete = (): void => {
    for (const entry of planned.slice(results.length)) {
      if (!isComplete(entry, repeat)) return;
      report(entry);
    }
  };
  try {
    await inParallel(queue, parallel, { cancellation, onEnd: reportComplete });
    for (const entry of planned.slice(results.length)) report(entry);
    return results;
  } finally {
    await runners.close();
  }
}

function isComplete({ runs }: PlannedTest, repeat: number): boolean {
  return runs.filter((run) => run !== undefined).length === repeat;
}

function resultOf(entry: PlannedTest, { passRate, program, repeat }: TestPlan): TestResult {
  const { selected, client } = entry;
  const runs = entry.runs.filter((run) => run !== undefined);
  const passed = passedRuns({ runs }) >= Math.ceil(repeat * passRate - 1e-9);
  const status = runs.length < repeat ? 'not run' : passed ? 'passed' : 'failed';
  const own = program.functions.find(({ name }) => name === selected.functionName)?.client ?? '';
  return { ...selected, client: client ?? own, status, runs };
}

/** One runner for the definitions, and one for each test that extends types. */
class Runners {
  readonly #plan: TestPlan;
  /** By test; that of the definitions has none. */
  readonly #runners = new Map<TestType | undefined, TestRunner>();

  constructor(plan: TestPlan) {
    this.#plan = plan;
  }

  of(test: TestType): TestRunner {
    const key = test.buildsTypes ? test : undefined;
    let runner = this.#runners.get(key);
    if (runner === undefined) {
      runner = new TestRunner(key === undefined ? ok(this.#plan.program) : this.#plan.extended(key), this.#plan);
      this.#runners.set(key, runner);
    }
    return runner;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.close()));
  }
}

interface QueueSettings {
  readonly cancellation: Cancellation;
  readonly onEnd: () => void;
}

/** Runs tasks, at most `limit` at once, in order of their start. After a cancellation, no other task starts. */
export async function inParallel(
  tasks: readonly (() => Promise<void>)[],
  limit: number,
  { cancellation, onEnd }: QueueSettings,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      const task = cancellation.cancelled ? undefined : tasks[next];
      next += 1;
      if (task === undefined) return;
      await task();
      onEnd();
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, tasks.length) }, work));
}

interface LoadedProgram {
  readonly definitions: DefinitionIndex;
  readonly caller: TestCaller;
}

/** A call that can start: the test has arguments for the function. */
interface ReadyTest {
  readonly fn: FunctionType;
  readonly args: JsonObject;
}

class TestRunner {
  readonly #parts: CallerParts;
  readonly #loaded: Result<LoadedProgram, string>;

  /** `program`: the definitions, or the reason why there are none. */
  constructor(program: Result<Program, string>, parts: CallerParts) {
    this.#parts = parts;
    this.#loaded = program.ok
      ? ok({ definitions: indexDefinitions(program.value), caller: new TestCaller(program.value, parts) })
      : program;
  }

  /** Calls the function once and evaluates the conditions. Undefined if the tests are cancelled meanwhile. */
  async run(selected: SelectedTest, client: string | undefined, repetition: number): Promise<TestRun | undefined> {
    const startedAt = performance.now();
    const run = await this.#run(selected, client, repetition);
    return run && { ...masked(run, this.#parts.settings.redact), durationMs: performance.now() - startedAt };
  }

  async close(): Promise<void> {
    if (this.#loaded.ok) await this.#loaded.value.caller.close();
  }

  async #run(selected: SelectedTest, client: string | undefined, repetition: number): Promise<TestedRun | undefined> {
    if (!this.#loaded.ok) return refused(invalid(this.#loaded.failure));
    const { definitions, caller } = this.#loaded.value;
    const ready = this.#prepare(definitions, selected);
    if (!ready.ok) return refused(ready.failure);
    const run = await caller.call({ ...ready.value, client, repetition });
    if (run?.value === undefined) return run;
    const { constraints } = selected.test;
    return withConditions(run, constraints, { ...ready.value, definitions }, this.#parts.settings);
  }

  #prepare(definitions: DefinitionIndex, { test, functionName }: SelectedTest): Result<ReadyTest, RunFailure> {
    if (functionName === '') return err(invalid('The test names no function. Add `functions [Name]`'));
    const fn = definitions.functions.get(functionName);
    if (fn === undefined) return err(failureOf(functionNotFound(definitions, functionName)));
    if (test.unreadable !== undefined) {
      return err(invalid(`svc cannot read ${test.unreadable} of this test. Run "svc check" for the reason`));
    }
    const { env, onFile } = this.#parts.settings;
    const sources = { definitions, env, ...(onFile !== undefined && { onFile }) };
    const args = testArguments(test, fn, sources);
    return args.ok ? ok({ fn, args: args.value }) : err(invalid(sentence(args.failure)));
  }
}

function invalid(message: string): RunFailure {
  return { code: 'invalid_test', message: `${message}.` };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
