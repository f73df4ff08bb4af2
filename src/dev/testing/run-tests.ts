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

interface Answer {
  readonly result: ReplyOutcome;
  readonly report: Partial<Omit<CallReport, 'attempts' | 'flags' | 'losses'>>;
}

interface LoadedProgram {
  readonly definitions: DefinitionIndex;
  readonly runtime: FunctionRuntime;
}

class TestRunner {
  readonly #parts: RunnerParts;
  readonly #loaded: Result<LoadedProgram, string>;

  /** `program`: the definitions, or the reason why there are none. */
  constructor(program: Result<Program, string>, parts: RunnerParts) {
    this.#parts = parts;
    this.#loaded = program.ok
      ? ok({
          definitions: indexDefinitions(program.value),
          runtime: createLocalRuntime(program.value, parts.settings, { exposePrompts: true }),
        })
      : program;
  }

  /** Calls the function once and evaluates the conditions. Undefined if the tests are cancelled meanwhile. */
  async run(selected: SelectedTest, client: string | undefined, repetition: number): Promise<TestRun | undefined> {
    const startedAt = performance.now();
    const run = await this.#run(selected, client, repetition);
    return run && { ...masked(run, this.#parts.settings.redact), durationMs: performance.now() - startedAt };
  }

  async close(): Promise<void> {
    if (this.#loaded.ok) await this.#loaded.value.runtime.close();
  }

  async #run(
    selected: SelectedTest,
    client: string | undefined,
    repetition: number,
  ): Promise<Omit<TestRun, 'durationMs'> | undefined> {
    if (!this.#loaded.ok) return refused(invalid(this.#loaded.failure));
    const { definitions, runtime } = this.#loaded.value;
    const ready = this.#prepare(this.#loaded.value, selected, client);
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
    { definitions, runtime }: LoadedProgram,
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
