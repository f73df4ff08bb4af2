import type { Cancellation } from '../../base/cancellation.ts';
import type { Result } from '../../base/result.ts';
import { indexDefinitions, type Program, type TestType } from '../../schema/program.ts';
import type { SelectedTest } from './select-tests.ts';
import { passedRuns, type TestResult, type TestRun } from './test-results.ts';
import { TestRunner, type RunnerParts } from './test-runner.ts';

export interface TestPlan extends RunnerParts {
  readonly program: Program;
  readonly tests: readonly SelectedTest[];
  /** The clients to call; empty for the own client of each function. */
  readonly clients: readonly string[];
  readonly repeat: number;
  /** The fraction of repetitions that have to pass. */
  readonly passRate: number;
  /** The number of calls at once. */
  readonly parallel: number;
  /** The program of a test that extends types. Fails with sentences. */
  readonly extended: (test: TestType) => Result<Program, string>;
}

/**
 * Runs every test with every client as often as the plan says. `onResult` receives the results in the order of the plan, each
 * as soon as it and all before it are known. After a cancellation, the calls that have not ended count as not run.
 */
export async function runTests(plan: TestPlan, onResult: (result: TestResult) => void): Promise<readonly TestResult[]> {
  const runners = new Runners(plan);
  const { functions } = indexDefinitions(plan.program);
  const clients = plan.clients.length === 0 ? [undefined] : plan.clients;
  const entries = plan.tests.flatMap((selected) => {
    const own = functions.get(selected.functionName)?.client ?? '';
    return clients.map((client) => new PlannedTest(selected, { client, own }, plan));
  });
  const queue = entries.flatMap((entry) =>
    Array.from({ length: plan.repeat }, (_, repetition) => async () => {
      const run = await runners.of(entry.selected.test).run(entry.selected, entry.client, repetition);
      if (run !== undefined) entry.runs[repetition] = run;
    }),
  );
  const reporter = new OrderedReporter(entries, plan.repeat, onResult);
  try {
    await inParallel(queue, plan.parallel, { cancellation: plan.cancellation, onEnd: () => reporter.report() });
    return reporter.finish();
  } finally {
    await runners.close();
  }
}

/** One line of the plan, with the runs that have ended. */
class PlannedTest {
  readonly selected: SelectedTest;
  /** Undefined: the function's own. */
  readonly client: string | undefined;
  readonly runs: (TestRun | undefined)[] = [];
  readonly #shownClient: string;
  readonly #plan: TestPlan;

  /** `own`: the function's own client. */
  constructor(
    selected: SelectedTest,
    { client, own }: { readonly client: string | undefined; readonly own: string },
    plan: TestPlan,
  ) {
    this.selected = selected;
    this.client = client;
    this.#shownClient = client ?? own;
    this.#plan = plan;
  }

  get result(): TestResult {
    const runs = this.runs.filter((run) => run !== undefined);
    const { repeat, passRate } = this.#plan;
    const passed = passedRuns({ runs }) >= Math.ceil(repeat * passRate - 1e-9);
    const status = runs.length < repeat ? 'not run' : passed ? 'passed' : 'failed';
    return { ...this.selected, client: this.#shownClient, status, runs };
  }
}

/** Reports results in the order of the plan. */
class OrderedReporter {
  readonly #entries: readonly PlannedTest[];
  readonly #repeat: number;
  readonly #onResult: (result: TestResult) => void;
  readonly #results: TestResult[] = [];

  constructor(entries: readonly PlannedTest[], repeat: number, onResult: (result: TestResult) => void) {
    this.#entries = entries;
    this.#repeat = repeat;
    this.#onResult = onResult;
  }

  /** Reports the results that are complete, up to the first one that is not. */
  report(): void {
    for (;;) {
      const next = this.#entries[this.#results.length];
      if (next === undefined || next.runs.filter((run) => run !== undefined).length < this.#repeat) return;
      this.#add(next);
    }
  }

  /** Reports the others, and returns all results. */
  finish(): readonly TestResult[] {
    for (const entry of this.#entries.slice(this.#results.length)) this.#add(entry);
    return this.#results;
  }

  #add(entry: PlannedTest): void {
    const { result } = entry;
    this.#results.push(result);
    this.#onResult(result);
  }
}

/** One runner for the definitions, and one for each test that extends types. */
class Runners {
  readonly #plan: TestPlan;
  readonly #main: TestRunner;
  readonly #extended = new Map<TestType, TestRunner>();

  constructor(plan: TestPlan) {
    this.#plan = plan;
    this.#main = new TestRunner({ ok: true, value: plan.program }, plan);
  }

  of(test: TestType): TestRunner {
    if (!test.buildsTypes) return this.#main;
    const runner = this.#extended.get(test) ?? new TestRunner(this.#plan.extended(test), this.#plan);
    this.#extended.set(test, runner);
    return runner;
  }

  async close(): Promise<void> {
    await Promise.all([this.#main, ...this.#extended.values()].map((runner) => runner.close()));
  }
}

interface QueueSettings {
  readonly cancellation: Cancellation;
  /** Called after each task. */
  readonly onEnd: () => void;
}

/** Runs tasks, at most `limit` at once, in order of their start. After a cancellation, no other task starts. */
async function inParallel(
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
