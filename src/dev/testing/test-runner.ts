import type { Cancellation } from '../../base/cancellation.ts';
import type { JsonObject } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { functionNotFound } from '../../runtime/call/prepare-call.ts';
import type {
  CallContext,
  CallReport,
  FunctionRuntime,
  PreparedCall,
  ReplyOutcome,
} from '../../runtime/call/runtime.ts';
import { evaluateTest, withoutChecks } from '../../runtime/call/test-conditions.ts';
import { indexDefinitions, type DefinitionIndex, type FunctionType, type Program } from '../../schema/program.ts';
import type { Message } from '../../schema/message.ts';
import { createLocalRuntime, type LocalSettings, failureOf, type RunFailure } from '../local-runtime.ts';
import type { RecordedReply, RecordingKey, Recordings } from './recordings.ts';
import type { SelectedTest } from './select-tests.ts';
import { testArguments } from './test-arguments.ts';
import type { TestRun } from './test-results.ts';

export interface RunnerSettings extends LocalSettings {
  /** A test passes even if a `@@check` does not hold. */
  readonly allowFailedChecks: boolean;
  /** Receives the path of each file that an argument names. */
  readonly onFile?: (path: string) => void;
}

export interface RunnerParts {
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
export class TestRunner {
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
