import type { Cancellation } from '../../base/cancellation.ts';
import { type Result, err, ok } from '../../base/result.ts';
import {
  indexDefinitions,
  type Program,
  type TestType,
  type DefinitionIndex,
  type FunctionType,
} from '../../schema/program.ts';
import type { SelectedTest } from './select-tests.ts';
import { passedRuns, type TestResult, type TestRun } from './test-results.ts';
import type { JsonObject } from '../../base/json.ts';
import { functionNotFound } from '../../runtime/call/prepare-call.ts';
import type {
  CallContext,
  CallReport,
  FunctionRuntime,
  PreparedCall,
  ReplyOutcome,
} from '../../runtime/call/runtime.ts';
import { evaluateTest, withoutChecks } from '../../runtime/call/test-conditions.ts';
import type { Message } from '../../schema/message.ts';
import { createLocalRuntime, type LocalSettings, failureOf, type RunFailure } from '../local-runtime.ts';
import type { RecordedReply, RecordingKey, Recordings } from './recordings.ts';
import { testArguments } from './test-arguments.ts';

interface TestPlan extends RunnerParts {
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

interface RunnerSettings extends LocalSettings {
  /** A test passes even if a `@@check` does not hold. */
  readonly allowFailedChecks: boolean;
  /** Receives the path of each file that an argument names. */
  readonly onFile?: (path: string) => void;
}

interface RunnerParts {
  readonly settings: RunnerSettings;
  /** Where replies are kept, or come from instead of a model. */
  readonly recordings?: { readonly mode: 'record' | 'replay'; readonly files: Recordings };
  readonly cancellation: Cancellation;
}

/** A call that can start: its arguments fit the function. */
interface ReadyTest {
  readonly fn: FunctionType;
  readonly args: JsonObject;
  readonly prepared: PreparedCall;
}

/** The result of a call or of a replay. */
interface Answer {
  readonly result: ReplyOutcome;
  readonly report: Partial<Omit<CallReport, 'attempts' | 'flags' | 'losses'>>;
}

/** Runs tests against one program. */
class TestRunner {
  readonly #parts: RunnerParts;
  readonly #problem: string | undefined;
  readonly #runtime: FunctionRuntime | undefined;
  readonly #definitions: DefinitionIndex | undefined;

  /** `program`: the definitions, or the reason why there are none. */
  constructor(program: Result<Program, string>, parts: RunnerParts) {
    this.#parts = parts;
    if (!program.ok) {
      this.#problem = program.failure;
      return;
    }
    this.#definitions = indexDefinitions(program.value);
    this.#runtime = createLocalRuntime(program.value, parts.settings, { exposePrompts: true });
  }

  /** Calls the function once and evaluates the conditions. Undefined if the tests are cancelled meanwhile. */
  async run(selected: SelectedTest, client: string | undefined, repetition: number): Promise<TestRun | undefined> {
    const startedAt = performance.now();
    const run = await this.#run(selected, client, repetition);
    return run && { ...masked(run, this.#parts.settings.redact), durationMs: performance.now() - startedAt };
  }

  async close(): Promise<void> {
    await this.#runtime?.close();
  }

  async #run(
    selected: SelectedTest,
    client: string | undefined,
    repetition: number,
  ): Promise<Omit<TestRun, 'durationMs'> | undefined> {
    const runtime = this.#runtime;
    const definitions = this.#definitions;
    if (runtime === undefined || definitions === undefined) return refused(invalid(this.#problem ?? ''));
    const ready = this.#prepare(runtime, definitions, selected, client);
    if (!ready.ok) return refused(ready.failure);
    const { fn, args, prepared } = ready.value;
    const prompt = runtime.render(prepared);
    if (!prompt.ok) return refused(failureOf(prompt.failure));
    const key = { functionName: fn.name, client: client ?? fn.client, prompt: prompt.value };
    const answer = await this.#answer(runtime, prepared, key, repetition);
    if (!answer.ok) return { ...refused(answer.failure), prompt: prompt.value };
    const { result, report } = answer.value;
    if (!result.ok && result.failure.code === 'cancelled') return undefined;
    const facts = factsOf(report, prompt.value);
    if (!result.ok) {
      const ofReply = result.failure.code === 'validation_failure';
      return { ...facts, ...refused(failureOf(result.failure)), status: ofReply ? 'failed' : 'error' };
    }
    const { value } = result.value;
    const latencyMs = facts.latencyMs ?? 0;
    const conditions = evaluateTest(selected.test.constraints, { value, args, latencyMs }, fn, definitions);
    const failedChecks = withoutChecks(value).checks.filter(({ succeeded }) => !succeeded);
    const { allowFailedChecks } = this.#parts.settings;
    const broken = conditions.filter(
      ({ status, constraint }) => status === 'failed' && !(allowFailedChecks && constraint.level === 'check'),
    );
    return { ...facts, status: broken.length === 0 ? 'passed' : 'failed', value, conditions, failedChecks };
  }

  #prepare(
    runtime: FunctionRuntime,
    definitions: DefinitionIndex,
    { test, functionName }: SelectedTest,
    client: string | undefined,
  ): Result<ReadyTest, RunFailure> {
    if (functionName === '') return err(invalid('The test names no function. Add `functions [Name]`'));
    const fn = definitions.functions.get(functionName);
    if (fn === undefined) return err(failureOf(functionNotFound(definitions, functionName)));
    if (test.unreadable !== undefined) {
      return err(invalid(`svc cannot read ${test.unreadable} of this test. Run "svc check" for the reason`));
    }
    const { env, onFile } = this.#parts.settings;
    const sources = { definitions, env, ...(onFile !== undefined && { onFile }) };
    const args = testArguments(test, fn, sources);
    if (!args.ok) return err(invalid(sentence(args.failure)));
    const options = client === undefined ? {} : { svc_options: { client } };
    const prepared = runtime.prepare(functionName, { ...args.value, ...options }, { local: true });
    return prepared.ok ? ok({ fn, args: args.value, prepared: prepared.value }) : err(failureOf(prepared.failure));
  }

  /** Calls the model, or takes its recorded reply. */
  async #answer(
    runtime: FunctionRuntime,
    prepared: PreparedCall,
    key: RecordingKey,
    repetition: number,
  ): Promise<Result<Answer, RunFailure>> {
    const { recordings } = this.#parts;
    if (recordings?.mode === 'replay') {
      const recorded = recordings.files.read(key, repetition);
      if (!recorded.ok) return err({ code: 'not_recorded', message: `${recorded.failure}.` });
      return ok(await this.#replay(runtime, key, recorded.value));
    }
    const { result, report } = await runtime.call(prepared, this.#context());
    if (recordings !== undefined && (result.ok || result.failure.code === 'validation_failure')) {
      const reply = replyOf(report);
      if (reply !== undefined) recordings.files.write(key, repetition, reply);
    }
    return ok({ result, report });
  }

  async #replay(runtime: FunctionRuntime, key: RecordingKey, reply: RecordedReply): Promise<Answer> {
    const { text, latencyMs, model, ...usage } = reply;
    const prepared = runtime.prepareReply(key.functionName, { text });
    const result = prepared.ok ? await runtime.parseReply(prepared.value, this.#context()) : prepared;
    const report = {
      client: key.client,
      modelMs: latencyMs,
      usage,
      rawReply: text,
      ...(model !== undefined && { model }),
    };
    return { result, report };
  }

  #context(): CallContext {
    const { cancellation, settings } = this.#parts;
    return { requestId: 'test', cancellation, deadlineMs: settings.timeoutMs };
  }
}

/** Masks credentials in the parts of a run that can quote a model or the environment. */
function masked<Run extends Omit<TestRun, 'durationMs'>>(run: Run, redact: (text: string) => string): Run {
  const { value, failure, prompt, reply } = run;
  const quoted = JSON.stringify({ value, failure, prompt, reply });
  const safe = redact(quoted);
  return safe === quoted
    ? run
    : { ...run, ...(JSON.parse(safe) as Pick<Run, 'value' | 'failure' | 'prompt' | 'reply'>) };
}

function refused(failure: RunFailure): Pick<TestRun, 'status' | 'failure' | 'conditions' | 'failedChecks'> {
  return { status: 'error', failure, conditions: [], failedChecks: [] };
}

function invalid(message: string): RunFailure {
  return { code: 'invalid_test', message: `${message}.` };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a report states about the model, for the reader of a test. */
function factsOf(
  { client, model, modelMs, usage = {}, cost, prompt: sent, rawReply }: Answer['report'],
  prompt: readonly Message[],
): Pick<TestRun, 'prompt' | 'reply' | 'client' | 'model' | 'latencyMs' | 'inputTokens' | 'outputTokens' | 'cost'> {
  return {
    prompt: sent ?? prompt,
    ...usage,
    ...(modelMs !== undefined && modelMs > 0 && { latencyMs: Math.round(modelMs) }),
    ...(rawReply !== undefined && { reply: rawReply }),
    ...(client !== undefined && { client }),
    ...(model !== undefined && { model }),
    ...(cost !== undefined && { cost }),
  };
}

function replyOf({ rawReply, modelMs, model, usage }: CallReport): RecordedReply | undefined {
  if (rawReply === undefined) return undefined;
  return { text: rawReply, latencyMs: Math.round(modelMs), ...(model !== undefined && { model }), ...usage };
}
