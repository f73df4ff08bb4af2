import type { Result } from '../../base/result.ts';
import { err } from '../../base/result.ts';
import type { ModelReply } from '../model/wire/reply-format.ts';
import type { ModelClient, ModelExchange } from '../model/model-client.ts';
import { finalFailure, uncreatedClientFailure } from '../model/attempt-failure.ts';
import type { AttemptFailure } from '../model/attempt-failure.ts';
import type { SinglePlan } from '../model/strategies/client-plan.ts';
import { runPlan } from '../model/strategies/run-plan.ts';
import type { ParsedReply } from '../reply/reply-parser.ts';
import type { Message } from '../../schema/message.ts';
import type { PromptRenderer } from '../prompt/prompt-renderer.ts';
import { CallRecorder } from './call-recorder.ts';
import type { ClientDirectory } from './client-directory.ts';
import type { Failure } from '../../schema/errors.ts';
import type { ReadyCall } from './prepare-call.ts';
import type { ReplyReader } from './reply-reader.ts';
import type { CallContext, CallOutcome, RuntimeOptions } from './runtime.ts';
import type { RoundRobinTurns } from './round-robin-turns.ts';

export interface RunServices {
  readonly options: RuntimeOptions;
  readonly directory: ClientDirectory;
  readonly renderer: PromptRenderer;
  readonly turn: RoundRobinTurns;
}

interface RunParts {
  readonly services: RunServices;
  readonly call: ReadyCall;
  readonly context: CallContext;
  readonly reader: ReplyReader;
}

/** One call of one function, from prompt to value, over all its attempts. */
export class FunctionRun {
  readonly #parts: RunParts;
  readonly #recorder = new CallRecorder();
  #exchange: ModelExchange | undefined;
  #paused = false;
  #gatherMs = 0;
  #lastFault: AttemptFailure | undefined;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** Never rejects: what fails is in the outcome. */
  async run(): Promise<CallOutcome> {
    const { services, call, context } = this.#parts;
    const deadlineAt = performance.now() + context.deadlineMs;
    try {
      const result = await runPlan<ParsedReply>(call.plan, deadlineAt, {
        attempt: (source, until) => this.#attempt(source, until),
        cancellation: context.cancellation,
        turn: services.turn,
      });
      if (!result.ok) return this.#outcome(err(this.#told(result.failure.failure)));
      return { result, report: this.#recorder.report(result.value.flags) };
    } catch (error) {
      services.options.logger.error({ requestId: context.requestId, error }, 'a call failed inside of svc');
      return this.#outcome(err({ code: 'internal_error', message: 'The call failed inside of the server' }));
    }
  }

  gather(ms: number): void {
    this.#gatherMs = ms;
    this.#exchange?.gather(ms);
  }

  pause(): void {
    this.#paused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#exchange?.resume();
  }

  async #attempt(source: SinglePlan['source'], deadlineAt: number): Promise<Result<ParsedReply, AttemptFailure>> {
    const startedAt = performance.now();
    const result = await this.#ask(source, deadlineAt);
    const { name } = source.definition;
    if (result.ok) {
      this.#recorder.succeeded(name, startedAt);
      return result;
    }
    this.#recorder.failed(name, result.failure.failure, startedAt);
    this.#lastFault = result.failure;
    const { logger } = this.#parts.services.options;
    if (logger.enabled('debug')) {
      const { requestId } = this.#parts.context;
      logger.debug({ requestId, client: name, failure: result.failure.failure }, 'an attempt failed');
    }
    return result;
  }

  async #ask(source: SinglePlan['source'], deadlineAt: number): Promise<Result<ParsedReply, AttemptFailure>> {
    const { services, call, context, reader } = this.#parts;
    if (context.cancellation.cancelled) return err(finalFailure(cancelled(context.cancellation.reason)));
    const made = services.directory.client(source, call.requester);
    if (!made.ok) return err(finalFailure(uncreatedClientFailure(source.definition.name, made.failure)));
    const { client } = made.value;
    const messages = services.renderer.render(call.functionName, call.args, client.prompt);
    if (!messages.ok) return err(finalFailure(messages.failure));
    reader.begin(this.#lastFault?.failure.message);
    const askedAt = performance.now();
    this.#recorder.asked(client, messages.value);
    const reply = await this.#exchangeWith(client, messages.value, deadlineAt);
    this.#recorder.answered(reply.ok ? reply.value : undefined, askedAt);
    return reply.ok ? this.#read(client, reply.value, deadlineAt) : reply;
  }

  #exchangeWith(
    client: ModelClient,
    messages: readonly Message[],
    deadlineAt: number,
  ): Promise<Result<ModelReply, AttemptFailure>> {
    const { call, context, reader } = this.#parts;
    const request = {
      functionName: call.functionName,
      args: call.args,
      messages,
      streamed: reader.streamed,
      deadlineAt,
      privateUrls: call.requester.privateUrls,
    };
    return new Promise((resolve) => {
      let forget = ignore;
      const exchange = client.ask(request, {
        text: (piece) => {
          this.#recorder.firstText();
          reader.text(piece);
        },
        ended: (result) => {
          forget();
          this.#exchange = undefined;
          resolve(result);
        },
      });
      this.#exchange = exchange;
      if (this.#gatherMs > 0) exchange.gather(this.#gatherMs);
      if (this.#paused) exchange.pause();
      forget = context.cancellation.onCancel((reason) => {
        exchange.cancel();
        resolve(err(finalFailure(cancelled(reason))));
      });
    });
  }

  async #read(
    client: ModelClient,
    { text, finishReason }: ModelReply,
    deadlineAt: number,
  ): Promise<Result<ParsedReply, AttemptFailure>> {
    const rejected = finishReasonFailure(client, finishReason);
    if (rejected !== undefined) return err(finalFailure(rejected));
    const { call, context, reader } = this.#parts;
    const { functionName } = call;
    const parsed = await reader.finish({ functionName, text, cancellation: context.cancellation, deadlineAt });
    return parsed.ok ? parsed : err(finalFailure(parsed.failure));
  }

  /** The failure as the caller gets it: with every attempt in it. */
  #told(failure: Failure): Failure {
    const { attempts } = this.#recorder;
    const told = failure.code === 'client_error' || failure.code === 'timeout' ? { ...failure, attempts } : failure;
    if (attempts.length < 2) return told;
    const list = attempts.map((attempt) => `"${attempt.client}" ${attempt.upstreamStatus ?? attempt.outcome}`);
    return { ...told, message: `${told.message} (${attempts.length} attempts: ${list.join(', ')})` };
  }

  #outcome(result: Result<never, Failure>): CallOutcome {
    return { result, report: this.#recorder.report([]) };
  }
}

function cancelled(reason: string | undefined): Failure {
  return { code: 'cancelled', message: reason ?? 'nobody waits for the answer' };
}

function ignore(): void {}

/** The failure of a reply that ended for a reason which its client does not accept; undefined if it is accepted. */
function finishReasonFailure(client: ModelClient, reason: string | undefined): Failure | undefined {
  const rule = client.finishReasons;
  if (rule.kind === 'any' || reason === undefined) return undefined;
  const listed = rule.reasons.includes(reason.toLowerCase());
  if (listed === (rule.kind === 'allow')) return undefined;
  return {
    code: 'finish_reason_error',
    message: `The client "${client.name}" ended its reply for the reason "${reason}", which its definition does not accept`,
    client: client.name,
    finishReason: reason,
  };
}
