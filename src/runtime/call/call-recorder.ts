import { addTokens } from '../model/wire/reply-format.ts';
import type { ModelReply } from '../model/wire/reply-format.ts';
import type { ModelClient } from '../model/model-client.ts';
import type { ParsedReply } from '../reply/reply-parser.ts';
import type { Message } from '../../schema/message.ts';
import type { TokenPrices } from '../../schema/providers/common-options.ts';
import type { Attempt, Failure } from '../../schema/failure.ts';
import type { CallReport, TokenUsage } from './runtime.ts';

/** Records what happens during one call, for its report. Times are on the monotonic clock. */
export class CallRecorder {
  readonly #startedAt = performance.now();
  readonly #attempts: Attempt[] = [];
  #client: ModelClient | undefined;
  #reply: ModelReply | undefined;
  #prompt: readonly Message[] | undefined;
  /** The reply of the attempt under way, and its cost in US dollars. */
  #unlisted: ModelReply | undefined;
  #unlistedCost: number | undefined;
  readonly #usage: Draft<TokenUsage> = {};
  /** US dollars; undefined before the first reply, and once a part of it is unknown. */
  #cost: number | undefined;
  #replies = 0;
  #modelMs = 0;
  #renderMs = 0;
  #parseMs = 0;
  /** When the attempt under way asked its model, and when that one answered. */
  #askedAt: number | undefined;
  #answeredAt: number | undefined;
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
    this.#askedAt = askedAt;
    this.#answeredAt = performance.now();
    this.#modelMs += this.#answeredAt - askedAt;
    if (reply === undefined) return;
    this.#unlisted = reply;
    const { inputTokens, outputTokens, tokenDetails } = reply;
    if (inputTokens !== undefined) this.#usage.inputTokens = (this.#usage.inputTokens ?? 0) + inputTokens;
    if (outputTokens !== undefined) this.#usage.outputTokens = (this.#usage.outputTokens ?? 0) + outputTokens;
    if (tokenDetails !== undefined) addTokens(this.#usage, tokenDetails);
    this.#addCost(costOf(reply, this.#client?.prices));
  }

  succeeded(attempt: EndedAttempt): void {
    this.#list({ client: attempt.client, outcome: 'ok', durationMs: this.#ended(attempt.startedAt) }, attempt);
  }

  failed(attempt: EndedAttempt, failure: Failure): void {
    const status = failure.code === 'client_error' ? failure.upstreamStatus : undefined;
    const entry = {
      client: attempt.client,
      outcome: failure.code,
      ...(status === undefined ? {} : { upstreamStatus: status }),
      message: failure.message,
      durationMs: this.#ended(attempt.startedAt),
    };
    this.#list(entry, attempt);
  }

  get attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  /** Assigns member by member: a spread for each optional member would cost more than the rest of the recorder. */
  report({ flags, losses }: Pick<ParsedReply, 'flags' | 'losses'>): CallReport {
    const report: Draft<CallReport> = {
      attempts: this.#attempts,
      usage: this.#usage,
      modelMs: this.#modelMs,
      renderMs: this.#renderMs,
      parseMs: this.#parseMs,
      flags,
      losses,
    };
    const client = this.#client;
    if (client !== undefined) report.client = client.name;
    if (client?.model !== undefined) report.model = client.model;
    if (this.#cost !== undefined) report.cost = Math.round(this.#cost * 1e9) / 1e9;
    if (this.#reply?.finishReason !== undefined) report.finishReason = this.#reply.finishReason;
    if (this.#firstTextMs !== undefined) report.firstTextMs = this.#firstTextMs;
    if (this.#prompt !== undefined) report.prompt = this.#prompt;
    if (this.#reply !== undefined) report.rawReply = this.#reply.text;
    if (this.#reply?.reasoning !== undefined) report.reasoning = this.#reply.reasoning;
    return report;
  }

  /** Divides the time of an attempt into its parts, and returns its sum. */
  #ended(startedAt: number): number {
    const now = performance.now();
    const askedAt = this.#askedAt ?? now;
    this.#renderMs += askedAt - startedAt;
    this.#parseMs += now - (this.#answeredAt ?? now);
    this.#askedAt = undefined;
    this.#answeredAt = undefined;
    return Math.round((now - startedAt) * 1000) / 1000;
  }

  #list(entry: Draft<Attempt>, { isReask }: EndedAttempt): void {
    const reply = this.#unlisted;
    const cost = this.#unlistedCost;
    this.#unlisted = undefined;
    this.#unlistedCost = undefined;
    if (isReask) entry.reask = true;
    if (reply?.inputTokens !== undefined) entry.inputTokens = reply.inputTokens;
    if (reply?.outputTokens !== undefined) entry.outputTokens = reply.outputTokens;
    if (cost !== undefined) entry.cost = cost;
    this.#attempts.push(entry);
  }

  #addCost(cost: number | undefined): void {
    this.#unlistedCost = cost;
    const before = this.#replies === 0 ? 0 : this.#cost;
    this.#cost = cost === undefined || before === undefined ? undefined : before + cost;
    this.#replies += 1;
  }
}

/** An attempt at the named client, of which the outcome is known. */
interface EndedAttempt {
  readonly client: string;
  /** It asked for the correction of a reply. */
  readonly isReask: boolean;
  readonly startedAt: number;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** US dollars. A definition can state prices so high that a reply has no finite cost. */
function costOf(
  { inputTokens, outputTokens, tokenDetails }: ModelReply,
  prices: TokenPrices | undefined,
): number | undefined {
  if (prices === undefined || inputTokens === undefined || outputTokens === undefined) return undefined;
  const { input, output, cached_input: cachedInput = input } = prices;
  const cached = Math.min(tokenDetails?.cachedInputTokens ?? 0, inputTokens);
  const cost = ((inputTokens - cached) * input + cached * cachedInput + outputTokens * output) / 1e6;
  return cost < HIGHEST_COST ? cost : undefined;
}

/** `toFixed` writes higher numbers with an exponent. */
const HIGHEST_COST = 1e15;
