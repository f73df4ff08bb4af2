import type { Cancellation } from '../../base/cancellation.ts';
import type { JsonObject } from '../../base/json.ts';
import { type Result, err, ok } from '../../base/result.ts';
import type {
  CallContext,
  CallReport,
  FunctionRuntime,
  PreparedCall,
  ReplyOutcome,
} from '../../runtime/call/runtime.ts';
import { evaluateTest, withoutChecks } from '../../runtime/call/test-conditions.ts';
import type { Constraint } from '../../schema/constraint.ts';
import type { Message } from '../../schema/message.ts';
import type { DefinitionIndex, FunctionType, Program } from '../../schema/program.ts';
import { createLocalRuntime, type LocalSettings, failureOf, type RunFailure } from '../local-runtime.ts';
import type { RecordedReply, RecordingKey, Recordings } from './recordings.ts';
import type { TestRun } from './test-results.ts';

interface CallerSettings extends LocalSettings {
  /** A test passes even if a `@@check` does not hold. */
  readonly allowFailedChecks: boolean;
  /** Receives the path of each file that an argument names. */
  readonly onFile?: (path: string) => void;
}

export interface CallerParts {
  readonly settings: CallerSettings;
  /** Where replies are kept, or come from instead of a model. */
  readonly recordings?: { readonly mode: 'record' | 'replay'; readonly files: Recordings };
  readonly cancellation: Cancellation;
}

/** One call of a function. */
export interface TestCall {
  readonly fn: FunctionType;
  readonly args: JsonObject;
  /** Undefined: the function's own. */
  readonly client: string | undefined;
  /** Distinguishes the replies to equal calls in recordings; from 0. */
  readonly repetition: number;
}

export type TestedRun = Omit<TestRun, 'durationMs'>;

interface Answer {
  readonly result: ReplyOutcome;
  readonly report: Partial<Omit<CallReport, 'attempts' | 'flags' | 'losses'>>;
}

/** Calls the functions of a program for tests: asks the models, or takes recorded replies. */
export class TestCaller {
  readonly settings: CallerSettings;
  readonly #parts: CallerParts;
  readonly #runtime: FunctionRuntime;

  constructor(program: Program, parts: CallerParts) {
    this.settings = parts.settings;
    this.#parts = parts;
    this.#runtime = createLocalRuntime(program, parts.settings, { exposePrompts: true });
  }

  /** The reason why the function does not take these arguments; undefined if it does. */
  refusal({ fn, args }: Pick<TestCall, 'fn' | 'args'>): RunFailure | undefined {
    const prepared = this.#runtime.prepare(fn.name, args, { local: true });
    return prepared.ok ? undefined : failureOf(prepared.failure);
  }

  /**
   * Calls a function once. The run passes if it has a value. Undefined if the tests are cancelled meanwhile. Credentials are not
   * masked yet.
   */
  async call({ fn, args, client, repetition }: TestCall): Promise<TestedRun | undefined> {
    const options = client === undefined ? {} : { svc_options: { client } };
    const prepared = this.#runtime.prepare(fn.name, { ...args, ...options }, { local: true });
    if (!prepared.ok) return refused(failureOf(prepared.failure));
    const prompt = this.#runtime.render(prepared.value);
    if (!prompt.ok) return refused(failureOf(prompt.failure));
    const key = { functionName: fn.name, client: client ?? fn.client, prompt: prompt.value };
    const answer = await this.#answer(prepared.value, key, repetition);
    if (!answer.ok) return { ...refused(answer.failure), prompt: prompt.value };
    const { result, report } = answer.value;
    if (!result.ok && result.failure.code === 'cancelled') return undefined;
    const facts = factsOf(report, prompt.value);
    if (!result.ok) {
      const ofReply = result.failure.code === 'validation_failure';
      return { ...facts, ...refused(failureOf(result.failure)), status: ofReply ? 'failed' : 'error' };
    }
    const { value } = result.value;
    const failedChecks = withoutChecks(value).checks.filter(({ succeeded }) => !succeeded);
    return { ...facts, status: 'passed', value, conditions: [], failedChecks };
  }

  close(): Promise<void> {
    return this.#runtime.close();
  }

  /** Calls the model, or takes its recorded reply. */
  async #answer(prepared: PreparedCall, key: RecordingKey, repetition: number): Promise<Result<Answer, RunFailure>> {
    const { recordings } = this.#parts;
    if (recordings?.mode === 'replay') {
      const recorded = recordings.files.read(key, repetition);
      if (!recorded.ok) return err({ code: 'not_recorded', message: `${recorded.failure}.` });
      return ok(await this.#replay(key, recorded.value));
    }
    const { result, report } = await this.#runtime.call(prepared, this.#context());
    if (recordings !== undefined && (result.ok || result.failure.code === 'validation_failure')) {
      const reply = replyOf(report);
      if (reply !== undefined) recordings.files.write(key, repetition, reply);
    }
    return ok({ result, report });
  }

  async #replay(key: RecordingKey, reply: RecordedReply): Promise<Answer> {
    const { text, latencyMs, model, ...usage } = reply;
    const prepared = this.#runtime.prepareReply(key.functionName, { text });
    const result = prepared.ok ? await this.#runtime.parseReply(prepared.value, this.#context()) : prepared;
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
    return { requestId: 'test', cancellation: this.#parts.cancellation, deadlineMs: this.settings.timeoutMs };
  }
}

/** The function and the arguments that conditions can read. */
interface ConditionSources extends Pick<TestCall, 'fn' | 'args'> {
  readonly definitions: DefinitionIndex;
}

/** A run with a value, after its conditions were evaluated: it fails if one of them does not hold. */
export function withConditions(
  run: TestedRun,
  constraints: readonly Constraint[],
  { fn, args, definitions }: ConditionSources,
  { allowFailedChecks }: Pick<CallerSettings, 'allowFailedChecks'>,
): TestedRun {
  const { value = null, latencyMs = 0 } = run;
  const conditions = evaluateTest(constraints, { value, args, latencyMs }, fn, definitions);
  const broken = conditions.filter(
    ({ status, constraint }) => status === 'failed' && !(allowFailedChecks && constraint.level === 'check'),
  );
  return { ...run, status: broken.length === 0 ? 'passed' : 'failed', conditions };
}

/** Masks credentials in the parts of a run that can quote a model or the environment. */
export function masked<Run extends TestedRun & { readonly reasons?: readonly string[] }>(
  run: Run,
  redact: (text: string) => string,
): Run {
  const { value, failure, prompt, reply, reasons } = run;
  const quoted = JSON.stringify({ value, failure, prompt, reply, reasons });
  const safe = redact(quoted);
  return safe === quoted
    ? run
    : { ...run, ...(JSON.parse(safe) as Pick<Run, 'value' | 'failure' | 'prompt' | 'reply' | 'reasons'>) };
}

export function refused(failure: RunFailure): Pick<TestRun, 'status' | 'failure' | 'conditions' | 'failedChecks'> {
  return { status: 'error', failure, conditions: [], failedChecks: [] };
}

/** What a report states about the model, for the reader of a test. */
function factsOf(
  { client, model, modelMs = 0, usage = {}, cost, prompt: sent, rawReply }: Answer['report'],
  prompt: readonly Message[],
): Pick<TestRun, 'prompt' | 'reply' | 'client' | 'model' | 'latencyMs' | 'inputTokens' | 'outputTokens' | 'cost'> {
  return {
    prompt: sent ?? prompt,
    ...usage,
    ...((modelMs > 0 || rawReply !== undefined) && { latencyMs: Math.round(modelMs) }),
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
