import type { ModelReply } from '../model/wire/reply-format.ts';
import type { ModelClient } from '../model/model-client.ts';
import type { ParsedReply } from '../reply/reply-parser.ts';
import type { Message } from '../../schema/message.ts';
import type { TokenPrices } from '../../schema/providers/common-options.ts';
import type { Attempt, Failure } from '../../schema/errors.ts';
import type { CallReport, TokenUsage } from './runtime.ts';

/** Records what happens during one call, for its report. Times are on the monotonic clock. */
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

  /** Assigns member by member: a spread for each optional member would cost more than the rest of the recorder. */
  report({ flags, losses }: Pick<ParsedReply, 'flags' | 'losses'>): CallReport {
    const report: Draft<CallReport> = {
      attempts: this.#attempts,
      usage: usageOf(this.#reply),
      modelMs: this.#modelMs,
      flags,
      losses,
    };
    const client = this.#client;
    if (client !== undefined) report.client = client.name;
    if (client?.model !== undefined) report.model = client.model;
    const cost = costOf(report.usage, client?.prices);
    if (cost !== undefined) report.cost = cost;
    if (this.#reply?.finishReason !== undefined) report.finishReason = this.#reply.finishReason;
    if (this.#firstTextMs !== undefined) report.firstTextMs = this.#firstTextMs;
    if (this.#prompt !== undefined) report.prompt = this.#prompt;
    if (this.#reply !== undefined) report.rawReply = this.#reply.text;
    return report;
  }
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

function usageOf(reply: ModelReply | undefined): TokenUsage {
  const usage: Draft<TokenUsage> = {};
  if (reply?.inputTokens !== undefined) usage.inputTokens = reply.inputTokens;
  if (reply?.outputTokens !== undefined) usage.outputTokens = reply.outputTokens;
  return usage;
}

/** US dollars, rounded to a billionth. */
function costOf({ inputTokens, outputTokens }: TokenUsage, prices: TokenPrices | undefined): number | undefined {
  if (prices === undefined || inputTokens === undefined || outputTokens === undefined) return undefined;
  return Math.round((inputTokens * prices.input + outputTokens * prices.output) * 1000) / 1e9;
}

function since(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 1000) / 1000;
}
