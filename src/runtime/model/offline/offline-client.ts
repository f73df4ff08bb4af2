import type { JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { PromptClient } from '../../../schema/message.ts';
import type { OFFLINE } from '../../../schema/providers/offline.ts';
import type { OptionValues } from '../../../schema/providers/option-shapes.ts';
import type { ModelReply } from '../wire/reply-format.ts';
import type { ModelClient, ModelAttempt, ModelListener, ModelRequest } from '../model-client.ts';
import { attemptFailure, type AttemptFailure } from '../attempt-failure.ts';
import { sampleValue, seedOf } from './sample-value.ts';

/** The replies of the offline provider: possible answers of a model to a call with these arguments. */
export interface OfflineAnswers {
  /** `definitions`: those of the call, which can differ from the program's. */
  answer(functionName: string, args: Readonly<Record<string, unknown>>, definitions?: DefinitionIndex): string;
}

type OfflineOptions = OptionValues<typeof OFFLINE.options>;

const ROLES = ['system', 'user', 'assistant'];

/** Answers from the definitions of one program. */
export function createOfflineAnswers(program: DefinitionIndex): OfflineAnswers {
  return {
    answer(functionName, args, definitions = program) {
      const returns = definitions.functions.get(functionName)?.returns ?? { kind: 'string' };
      const value = sampleValue(returns, definitions, seedOf(`${functionName} ${JSON.stringify(args)}`));
      return typeof value === 'string' && returns.kind === 'string' ? value : JSON.stringify(value);
    },
  };
}

/**
 * A client that needs no network and no key: it answers with a value of the function's return type, made from the
 * arguments, or with `reply`. Its replies take the same way as all others: deltas, parser, retries.
 */
export function createOfflineClient(name: string, options: OfflineOptions, answers: OfflineAnswers): ModelClient {
  return {
    name,
    provider: 'offline',
    model: 'offline',
    prompt: offlinePrompt(name),
    finishReasons: { kind: 'any' },
    ask: (request, listener) => new OfflineAttempt({ name, options, answers, request, listener }),
  };
}

/** Returns the first canned answer for a call; undefined if there is none. */
function cannedReply({ replies = [] }: OfflineOptions, { functionName, args }: ModelRequest): JsonValue | undefined {
  if (replies.length === 0) return undefined;
  const text = JSON.stringify(args);
  const isFor = (name = functionName, contains = ''): boolean => name === functionName && text.includes(contains);
  return replies.find((each) => isFor(each.function, each.contains))?.reply;
}

/** The client as prompts see it. */
export function offlinePrompt(name: string): PromptClient {
  return { name, provider: 'offline', defaultRole: 'system', allowedRoles: ROLES, remapRoles: {}, options: {} };
}

interface OfflineAttemptParts {
  readonly name: string;
  readonly options: OfflineOptions;
  readonly answers: OfflineAnswers;
  readonly request: ModelRequest;
  readonly listener: ModelListener;
}

class OfflineAttempt implements ModelAttempt {
  readonly #parts: OfflineAttemptParts;
  readonly #reply: string;
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #paused = false;
  #waiting: (() => void) | undefined;

  constructor(parts: OfflineAttemptParts) {
    this.#parts = parts;
    const { options, answers, request } = parts;
    const { latency_ms: latencyMs, chunk_delay_ms: chunkDelayMs } = options;
    const reply = cannedReply(options, request) ?? options.reply ?? null;
    if (reply === null) this.#reply = answers.answer(request.functionName, request.args, request.definitions);
    else this.#reply = typeof reply === 'string' ? reply : JSON.stringify(reply);
    if (latencyMs > 0 || chunkDelayMs > 0) this.#watchDeadline();
    this.#after(latencyMs, () => this.#begin());
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    clearImmediate(this.#immediate);
    this.#waiting = undefined;
    this.#sent = this.#reply.length + 1;
  }

  /** Its deltas cost nothing to read. */
  coalesceReads(): void {}

  pause(): void {
    this.#paused = true;
  }

  release(): void {}

  resume(): void {
    this.#paused = false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#after(0, waiting);
  }

  #begin(): void {
    const { options, request, name } = this.#parts;
    if (options.fail_status !== undefined) {
      const fault = { kind: 'status', status: options.fail_status, body: 'asked to fail by "fail_status"' } as const;
      this.#end(err(attemptFailure(name, fault)));
    } else if (request.streamed) this.#sendDeltas();
    else this.#end(ok({ text: this.#reply, finishReason: 'stop' }));
  }

  #sendDeltas(): void {
    const { options, listener } = this.#parts;
    if (this.#paused) {
      this.#waiting = () => this.#sendDeltas();
      return;
    }
    if (this.#sent >= this.#reply.length) {
      this.#end(ok({ text: this.#reply, finishReason: 'stop' }));
      return;
    }
    // A size of 0 would never end.
    const size = Math.max(1, options.chunk_size);
    listener.text(this.#reply.slice(this.#sent, this.#sent + size));
    this.#sent += size;
    this.#after(options.chunk_delay_ms, () => this.#sendDeltas());
  }

  #watchDeadline(): void {
    const startedAt = performance.now();
    const left = Math.max(1, this.#parts.request.deadlineAt - startedAt);
    if (left > 2 ** 31 - 1) return;
    this.#deadline = setTimeout(() => {
      const afterMs = Math.round(performance.now() - startedAt);
      this.#end(err(attemptFailure(this.#parts.name, { kind: 'timeout', timer: 'total', afterMs })));
    }, left);
  }

  #end(result: Result<ModelReply, AttemptFailure>): void {
    this.cancel();
    this.#parts.listener.ended(result);
  }

  #after(ms: number, next: () => void): void {
    if (ms > 0) this.#timer = setTimeout(next, ms);
    else this.#immediate = setImmediate(next);
  }
}
