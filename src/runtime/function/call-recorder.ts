import type { ModelReply } from '../clients/formats/reply-format.ts';
import type { ModelClient } from '../clients/model-client.ts';
import type { ParseFlag } from '../parsing/reply-parser.ts';
import type { Message } from '../prompt/message.ts';
import type { Attempt, Failure } from './failure.ts';
import type { CallReport, TokenUsage } from './runtime.ts';

/** Writes down what happens during one call, for its report. Times are on the monotonic clock. */
export class CallRecorder {
  readonly #startedAt = performance.now();
  readonly #attempts: Attempt[] = [];
  #client: ModelClient | undefined;
  #reply: ModelReply | undefined;
  #prompt: readonly Message[] | undefined;
  #modelMs = 0;
  #firstTextMs: number | undefined;

  asked(client: ModelClient, prompt: readonly Message[]): void {
    this.#client = client;
    this.#prompt = prompt;
    this.#reply = undefined;
  }

  firstText(): void {
    this.#firstTextMs ??= performance.now() - this.#startedAt;
  }

  answered(reply: ModelReply | undefined, askedAt: number): void {
    this.#reply = reply;
    this.#modelMs += performance.now() - askedAt;
  }

  succeeded(client: string, startedAt: number): void {
    this.#attempts.push({ client, outcome: 'ok', durationMs: since(startedAt) });
  }

  failed(client: string, failure: Failure, startedAt: number): void {
    const status = failure.code === 'client_error' ? failure.upstreamStatus : undefined;
    this.#attempts.push({
      client,
      outcome: failure.code,
      ...(status === undefined ? {} : { upstreamStatus: status }),
      message: failure.message,
      durationMs: since(startedAt),
    });
  }

  get attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  report(flags: readonly ParseFlag[]): CallReport {
    const client = this.#client;
    const reply = this.#reply;
    return {
      ...(client === undefined ? {} : { client: client.name }),
      ...(client?.model === undefined ? {} : { model: client.model }),
      attempts: this.#attempts,
      usage: usageOf(reply),
      ...(reply?.finishReason === undefined ? {} : { finishReason: reply.finishReason }),
      modelMs: this.#modelMs,
      ...(this.#firstTextMs === undefined ? {} : { firstTextMs: this.#firstTextMs }),
      flags,
      ...(this.#prompt === undefined ? {} : { prompt: this.#prompt }),
      ...(reply === undefined ? {} : { rawReply: reply.text }),
    };
  }
}

function usageOf(reply: ModelReply | undefined): TokenUsage {
  return {
    ...(reply?.inputTokens === undefined ? {} : { inputTokens: reply.inputTokens }),
    ...(reply?.outputTokens === undefined ? {} : { outputTokens: reply.outputTokens }),
  };
}

function since(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 1000) / 1000;
}
