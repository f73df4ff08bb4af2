import type { JsonValue } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import type { Result } from '../../../base/result.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { ModelReply } from '../wire/reply-format.ts';
import type { ModelClient, ModelAttempt, ModelListener, ModelRequest } from '../model-client.ts';
import { attemptFailure } from '../attempt-failure.ts';
import type { AttemptFailure } from '../attempt-failure.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { sampleValue, seedOf } from './sample-value.ts';

/** Answers of the offline provider: what a model could have said to a function with these arguments. */
export interface OfflineAnswers {
  answer(functionName: string, args: Readonly<Record<string, unknown>>): string;
}

interface OfflineOptions {
  readonly reply?: string;
  readonly latencyMs: number;
  /** Characters in each piece of a stream. */
  readonly chunkSize: number;
  readonly chunkDelayMs: number;
  readonly failStatus?: number;
}

const DEFAULT_CHUNK_SIZE = 16;

const KNOWN = ['reply', 'latency_ms', 'chunk_size', 'chunk_delay_ms', 'fail_status', 'model'];

const ROLES = ['system', 'user', 'assistant'];

/** Answers from the definitions of one program. */
export function createOfflineAnswers(definitions: DefinitionIndex): OfflineAnswers {
  return {
    answer(functionName, args) {
      const returns = definitions.functions.get(functionName)?.returns ?? { kind: 'string' };
      const value = sampleValue(returns, definitions, seedOf(`${functionName} ${JSON.stringify(args)}`));
      return typeof value === 'string' && returns.kind === 'string' ? value : JSON.stringify(value);
    },
  };
}

/**
 * A client that needs no network and no key: it answers with a value of the function's return type, made from the
 * arguments, or with the text of `reply`. It goes the same way as every other reply: pieces, parser, retries.
 */
export function createOfflineClient(name: string, reader: OptionReader, answers: OfflineAnswers): ModelClient {
  const options = readOptions(reader);
  const model = 'offline';
  return {
    name,
    provider: 'offline',
    model,
    prompt: { name, provider: 'offline', defaultRole: 'system', allowedRoles: ROLES, remapRoles: {}, options: {} },
    finishReasons: { kind: 'any' },
    ask: (request, listener) => new OfflineAttempt({ name, options, answers, request, listener }),
  };
}

function readOptions(reader: OptionReader): OfflineOptions {
  const reply = readReply(reader);
  const count = (key: string, fallback: number): number => reader.count(key) ?? fallback;
  const failStatus = readFailStatus(reader);
  const options: OfflineOptions = {
    ...(reply === undefined ? {} : { reply }),
    latencyMs: count('latency_ms', 0),
    chunkSize: Math.max(1, count('chunk_size', DEFAULT_CHUNK_SIZE)),
    chunkDelayMs: count('chunk_delay_ms', 0),
    ...(failStatus === undefined ? {} : { failStatus }),
  };
  for (const key of reader.rest().keys()) {
    if (!KNOWN.includes(key)) reader.fault(key, `is unknown to the offline provider; it has ${KNOWN.join(', ')}`);
  }
  return options;
}

/** A text as it is; anything else as its JSON. */
function readReply(reader: OptionReader): string | undefined {
  const value: JsonValue | undefined = reader.take('reply');
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}

function readFailStatus(reader: OptionReader): number | undefined {
  const status = reader.count('fail_status');
  if (status !== undefined && (status < 400 || status > 599)) {
    reader.fault('fail_status', 'has to be the status of an error, 400 to 599');
  }
  return status;
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
  #told = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #paused = false;
  #waiting: (() => void) | undefined;

  constructor(parts: OfflineAttemptParts) {
    this.#parts = parts;
    const { options, answers, request } = parts;
    this.#reply = options.reply ?? answers.answer(request.functionName, request.args);
    if (options.latencyMs > 0 || options.chunkDelayMs > 0) this.#watchDeadline();
    this.#after(options.latencyMs, () => this.#begin());
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    clearImmediate(this.#immediate);
    this.#waiting = undefined;
    this.#told = this.#reply.length + 1;
  }

  /** Its deltas cost nothing to read. */
  coalesceReads(): void {}

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#after(0, waiting);
  }

  #begin(): void {
    const { options, request, name } = this.#parts;
    if (options.failStatus !== undefined) {
      const fault = { kind: 'status', status: options.failStatus, body: 'asked to fail by "fail_status"' } as const;
      this.#end(err(attemptFailure(name, fault, [])));
    } else if (request.streamed) this.#tellPieces();
    else this.#end(ok({ text: this.#reply, finishReason: 'stop' }));
  }

  #tellPieces(): void {
    const { options, listener } = this.#parts;
    if (this.#paused) {
      this.#waiting = () => this.#tellPieces();
      return;
    }
    if (this.#told >= this.#reply.length) {
      this.#end(ok({ text: this.#reply, finishReason: 'stop' }));
      return;
    }
    listener.text(this.#reply.slice(this.#told, this.#told + options.chunkSize));
    this.#told += options.chunkSize;
    this.#after(options.chunkDelayMs, () => this.#tellPieces());
  }

  #watchDeadline(): void {
    const startedAt = performance.now();
    const left = Math.max(1, this.#parts.request.deadlineAt - startedAt);
    if (left > 2 ** 31 - 1) return;
    this.#deadline = setTimeout(() => {
      const afterMs = Math.round(performance.now() - startedAt);
      this.#end(err(attemptFailure(this.#parts.name, { kind: 'timeout', timer: 'total', afterMs }, [])));
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
