import { countAt, isJsonObject, parseJson, stringAt } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { excessOfJson } from '../../../base/json-text.ts';
import type { EventListener, FrameReader } from '../http/sse-reader.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';

/** A provider's reply, in one shape for all providers. */
export interface ModelReply {
  /** The whole text, without the reasoning. */
  readonly text: string;
  /** The reasoning of the model, if the caller asks for it and the provider sends it. */
  readonly reasoning?: string;
  readonly finishReason?: string;
  /** The text with which the model refused to answer, if the provider marks it; empty if there is none. */
  readonly refusal?: string;
  /** The model that answered, as the provider names it. */
  readonly responseModel?: string;
  /** All tokens of the prompt, including those that the provider read from its cache or wrote to it. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Absent if the provider reports none of them. */
  readonly tokenDetails?: TokenDetails;
}

/** Parts of the two totals. Each is absent if the provider does not report it. */
export interface TokenDetails {
  /** Tokens of the prompt that the provider read from its cache. */
  readonly cachedInputTokens?: number;
  /** Tokens of the prompt that the provider wrote to its cache. */
  readonly cacheWrittenInputTokens?: number;
  readonly reasoningTokens?: number;
  readonly audioInputTokens?: number;
  readonly audioOutputTokens?: number;
}

/** A JSON object in a reply, or in an event of one. */
export type WireObject = Readonly<Record<string, unknown>>;

/** The reply format of a family of providers. Has no state. */
export interface ReplyFormat {
  /** Reads a whole reply, without its reasoning. `body`: its text. The failure states the problem, for the caller. */
  readReply(reply: WireObject, body: string): Result<ModelReply, UpstreamFailure>;
  /** The parts of the reasoning in a whole reply. */
  reasoningIn(reply: WireObject): readonly string[];
  openStream(wantsReasoning: boolean): StreamedReply;
  /** Cuts a stream into events, where that is not by server-sent events. */
  frames?(listener: EventListener): FrameReader;
}

/** Reads the events of one streamed reply. */
export interface StreamedReply {
  /** The data of one event is `text.slice(start, end)`. */
  event(text: string, start: number, end: number): void;
  /**
   * Takes as many events as it can from those whose data begins at `start` and that follow each other with `gap` between
   * the data of each two; returns where the data of the first remaining event begins.
   */
  run(text: string, start: number, gap: string): number;
  /** The text since the last call; empty when there was none. */
  takeText(): string;
  /** The reasoning since the last call; empty if there is none, or if the caller does not ask for it. */
  takeReasoning(): string;
  /** Set when the provider reported a failure, or when an event cannot be read. */
  readonly fault: UpstreamFailure | undefined;
  /** The provider announced the end. */
  readonly done: boolean;
  /** A finish reason or an end mark arrived: a stream that ends without one was cut off. */
  readonly complete: boolean;
  /** Everything known besides the text. */
  readonly details: ReplyDetails;
}

export type ReplyDetails = Omit<ModelReply, 'text' | 'reasoning'>;

/** Separates the parts of the reasoning: blocks, items and summaries. */
export const BETWEEN_PARTS = '\n\n';

/** Reads the body of a whole reply, which is a JSON object in every format. */
export function readWhole(
  format: ReplyFormat,
  body: string,
  wantsReasoning: boolean,
): Result<ModelReply, UpstreamFailure> {
  const parsed = parseJson(body);
  if (!isJsonObject(parsed)) return err(malformed('answered something that is not a JSON object'));
  const reply = format.readReply(parsed, body);
  if (!reply.ok || !wantsReasoning) return reply;
  const reasoning = format
    .reasoningIn(parsed)
    .filter((part) => part !== '')
    .join(BETWEEN_PARTS);
  return reasoning === '' ? reply : ok({ ...reply.value, reasoning });
}

/** The finish reasons of replies that a provider cut off or withheld, in lower case: a limit of tokens, a filter, a refusal. */
const CUT_OFF: ReadonlySet<string> = new Set([
  // OpenAI's formats; `max_tokens` is also that of Anthropic, Bedrock and Gemini.
  'length',
  'max_tokens',
  'max_output_tokens',
  'content_filter',
  'incomplete',
  // Anthropic and Bedrock.
  'model_context_window_exceeded',
  'refusal',
  'content_filtered',
  'guardrail_intervened',
  // Gemini.
  'safety',
  'recitation',
  'blocklist',
  'prohibited_content',
  'spii',
]);

/** True unless the provider states that the model did not say all that it wanted to. */
export function isComplete({ finishReason }: ModelReply): boolean {
  return finishReason === undefined || !CUT_OFF.has(finishReason.toLowerCase());
}

/** Details of which any can be unknown. */
export type PossibleDetails = { readonly [Key in keyof ReplyDetails]?: ReplyDetails[Key] | undefined };

/**
 * The tokens of a prompt where the provider counts those that it read from its cache, or wrote to it, apart from the others:
 * Anthropic and Bedrock.
 */
export function promptTokens(
  others: number | undefined,
  read: number | undefined,
  written: number | undefined,
): PossibleDetails {
  return {
    inputTokens: others === undefined ? undefined : others + (read ?? 0) + (written ?? 0),
    tokenDetails: knownTokens({ cachedInputTokens: read, cacheWrittenInputTokens: written }),
  };
}

/** The details that are known. Assigns member by member: a spread for each one would cost each call about 2 % more. */
export function knownDetails(possible: PossibleDetails): ReplyDetails {
  const { finishReason, responseModel, refusal, inputTokens, outputTokens, tokenDetails } = possible;
  const details: { -readonly [Key in keyof ReplyDetails]: ReplyDetails[Key] } = {};
  if (finishReason !== undefined) details.finishReason = finishReason;
  if (refusal !== undefined) details.refusal = refusal;
  if (responseModel !== undefined) details.responseModel = responseModel;
  if (inputTokens !== undefined) details.inputTokens = inputTokens;
  if (outputTokens !== undefined) details.outputTokens = outputTokens;
  if (tokenDetails !== undefined) details.tokenDetails = tokenDetails;
  return details;
}

const TOKEN_DETAILS: ReadonlyArray<keyof TokenDetails> = [
  'cachedInputTokens',
  'cacheWrittenInputTokens',
  'reasoningTokens',
  'audioInputTokens',
  'audioOutputTokens',
];

/** Counts of which any can be unknown. */
type PossibleTokens = { readonly [Key in keyof TokenDetails]?: number | undefined };

type TokenCounts = { -readonly [Key in keyof TokenDetails]: number };

/** The counts that are known; undefined if none is, which takes no loop. */
export function knownTokens(possible: PossibleTokens): TokenDetails | undefined {
  const { cachedInputTokens, cacheWrittenInputTokens, reasoningTokens, audioInputTokens, audioOutputTokens } = possible;
  const any = cachedInputTokens ?? cacheWrittenInputTokens ?? reasoningTokens ?? audioInputTokens ?? audioOutputTokens;
  if (any === undefined) return undefined;
  const known: TokenCounts = {};
  addTokens(known, possible);
  return known;
}

/** Adds the counts that are known. */
export function addTokens(sum: TokenCounts, added: PossibleTokens): void {
  for (const kind of TOKEN_DETAILS) {
    const count = added[kind];
    if (count !== undefined) sum[kind] = (sum[kind] ?? 0) + count;
  }
}

/** A reply that does not have the form that the provider documents. */
export function malformed(message: string): UpstreamFailure {
  return { kind: 'unusable', message };
}

/** Of a streamed event: it contains no part of a second answer. Several answers (`n: 2`) take turns, each with its `index`. */
export function isOnlyOne(answers: readonly unknown[]): boolean {
  return answers.length <= 1 && (countAt(answers[0], 'index') ?? 0) === 0;
}

/** Words in an error's type or code that mean that the same request will fail again. */
const FINAL =
  /invalid|validation|authentication|permission|access_?denied|not_?found|billing|insufficient_quota|content_filter|UNAUTH/iu;

/** The failure for an `error` object inside a reply of status 200. */
export function reportedError(error: unknown): UpstreamFailure {
  const type = stringAt(error, 'type') ?? stringAt(error, 'status') ?? '';
  const code = stringAt(error, 'code') ?? countAt(error, 'code') ?? '';
  const message = typeof error === 'string' ? error : (stringAt(error, 'message') ?? textOf(error));
  const name = type === '' ? String(code) : type;
  const retryable = !FINAL.test(`${type} ${code}`) && !isFinalStatus(code);
  return { kind: 'reported', message: name === '' ? message : `${name}: ${message}`, retryable };
}

/** The message of a provider's error body: its `error.message` or `message`, or the whole text. */
export function errorBodyText(body: string, parsed: unknown): string {
  // Google sends a list of one in reply to a request for a stream.
  const holder: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(holder)) return body.trim();
  const error = holder['error'];
  if (typeof error === 'string') return error;
  return stringAt(error, 'message') ?? stringAt(holder, 'message') ?? stringAt(holder, 'Message') ?? body.trim();
}

function textOf(error: unknown): string {
  if (!isJsonObject(error)) return NO_MESSAGE;
  try {
    return JSON.stringify(error).slice(0, 500);
  } catch {
    // JSON.parse reads any depth, JSON.stringify writes some thousand levels.
    return NO_MESSAGE;
  }
}

const NO_MESSAGE = 'no message';

function isFinalStatus(code: string | number): boolean {
  return typeof code === 'number' && code >= 400 && code < 500 && ![408, 409, 425, 429].includes(code);
}

/**
 * The most members of objects and entries of lists in one body or event: JSON.parse would need 24 s for a reply of 64 MiB that
 * consists of empty objects. With this number, it needs less than half a second. Replies have a few dozen; log probabilities
 * with 20 alternatives add 150 for each token.
 */
const MAX_VALUES = 500_000;

/** JSON.parse needs a few milliseconds for a shorter text, whatever it contains. */
const SHORTEST_LARGE = 64 * 1024;

/** Returns the failure of JSON text (UTF-8) that would take too long to parse; undefined for any other. */
export function tooLargeToParse(
  json: Uint8Array | string,
  subject: 'a reply' | 'an event',
): UpstreamFailure | undefined {
  if (json.length <= SHORTEST_LARGE) return undefined;
  const excess = excessOfJson(typeof json === 'string' ? Buffer.from(json) : json, MAX_VALUES);
  return excess === undefined ? undefined : malformed(`sent ${subject} that ${excess}`);
}
