import { countAt, isJsonObject, listAt, objectAt, parseJson, stringAt } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { excessOfJson, rawValueAt } from '../../../base/json-text.ts';
import type { EventListener, FrameReader } from '../http/sse-reader.ts';
import type { UpstreamFailure } from '../http/origin-pool.ts';
import type { Ending, ReplyFacts } from '../../../schema/providers/replies.ts';
import { countsIn, usageIn, type Counts } from './token-counts.ts';

/** A provider's reply, in one shape for all providers. */
export interface ModelReply {
  /** The whole text, without the reasoning. */
  readonly text: string;
  /** The reasoning of the model, if the caller asks for it and the provider sends it. */
  readonly reasoning?: string;
  readonly finishReason?: string;
  /** What the finish reason means; absent for a reply without one. */
  readonly ending?: Ending;
  /** The text with which the model refused to answer, if the provider marks it; empty if there is none. */
  readonly refusal?: string;
  /** The provider's word for the reason why it withholds the reply to this prompt. */
  readonly blocked?: string;
  /** The name of the first tool that the model calls. */
  readonly tool?: string;
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

/** What a reply or an event states besides the text: members that are not there are undefined. */
export interface ReadDetails {
  readonly finishReason?: string | undefined;
  readonly refusal?: string | undefined;
  readonly blocked?: string | undefined;
  readonly tool?: string | undefined;
  readonly responseModel?: string | undefined;
}

/** A whole reply as its provider writes it. */
export interface WholeReading extends ReadDetails {
  readonly text: string;
  /** The path of the input of the first tool call, if there is one. */
  readonly toolInput?: ReadonlyArray<string | number> | undefined;
}

/** An event of a streamed reply as its provider writes it; `{}` for one without meaning. */
export interface EventReading extends ReadDetails {
  readonly text?: string | undefined;
  readonly reasoning?: string | undefined;
  /** The part of the reasoning that the delta belongs to, if the provider divides the reasoning. */
  readonly reasoningPart?: string | number | undefined;
  /** The part of the reply that the text or the input of a tool belongs to, if the provider numbers the parts. */
  readonly part?: number | undefined;
  /** This part is a comment of the model on its work, not a part of the answer. */
  readonly asidePart?: number | undefined;
  /** The input of the tool that the part calls; a part with a `tool` begins with it. */
  readonly toolInput?: string | undefined;
  /** The provider announced the end. */
  readonly done?: boolean;
  readonly fault?: UpstreamFailure | undefined;
}

/** The reply format of a family of providers. Has no state, and leaves errors (a member `error`) to its caller. */
export interface ReplyFormat {
  readonly facts: ReplyFacts;
  readReply(reply: WireObject): Result<WholeReading, UpstreamFailure>;
  /** The parts of the reasoning in a whole reply. */
  reasoningIn(reply: WireObject): readonly string[];
  /** `known`: the details of the events before this one. */
  readEvent(event: WireObject, known: ReadDetails): EventReading;
  /** Several events state parts of the usage; otherwise, the last one states all of it. */
  readonly dividesUsage?: boolean;
  /** The object that holds the usage, in an event that holds it elsewhere than a reply. */
  usageHolder?(event: WireObject): WireObject | undefined;
  /** Cuts a stream into events, where that is not by server-sent events. */
  frames?(listener: EventListener): FrameReader;
}

/** What the caller of a model expects of the reply. */
export interface Expected {
  readonly wantsReasoning?: boolean;
  /** The model has to call a tool, and the input of the first call is the reply: the text only if it calls none. */
  readonly asTool?: boolean;
}

/** Separates the parts of the reasoning: blocks, items and summaries. */
export const BETWEEN_PARTS = '\n\n';

/** Reads the body of a whole reply, which is a JSON object in every format. */
export function readWhole(
  format: ReplyFormat,
  body: string,
  { wantsReasoning = false, asTool = false }: Expected = {},
): Result<ModelReply, UpstreamFailure> {
  const parsed = parseJson(body);
  if (!isJsonObject(parsed)) return err(malformed('answered something that is not a JSON object'));
  if (isJsonObject(parsed['error'])) return err(reportedError(parsed['error']));
  const read = format.readReply(parsed);
  if (!read.ok) return read;
  const { toolInput, text: written } = read.value;
  const text = asTool && toolInput !== undefined ? inputText(body, toolInput) : written;
  const known = addDetails({}, read.value);
  addUsage(known, format, parsed);
  const reply = modelReply(text, known, format, asTool);
  if (reply.ending === 'failed') return err(failedEnd(reply.finishReason));
  const parts = wantsReasoning ? format.reasoningIn(parsed).filter((part) => part !== '') : [];
  if (parts.length > 0) reply.reasoning = parts.join(BETWEEN_PARTS);
  return ok(reply);
}

/** The failure of a reply that ended because of an error of the provider. */
export function failedEnd(finishReason = ''): UpstreamFailure {
  return { kind: 'reported', message: `the reply ended with "${finishReason}"`, retryable: true };
}

/** The input of a tool as the model wrote it. */
function inputText(body: string, path: ReadonlyArray<string | number>): string {
  const input = rawValueAt(body, path);
  return input?.startsWith('{') === true ? input : '{}';
}

/** What is known of a reply so far. */
export interface KnownDetails {
  finishReason?: string;
  refusal?: string;
  blocked?: string;
  tool?: string;
  responseModel?: string;
  usage?: WireObject;
}

/**
 * Adds to `known` what was read, and returns it. A refusal arrives in parts. Assigns member by member: a spread for each one
 * would cost each call about 2 % more.
 */
export function addDetails(known: KnownDetails, read: ReadDetails): KnownDetails {
  const { finishReason, responseModel, refusal, blocked, tool } = read;
  // Some services send an empty finish reason before the end.
  if (finishReason !== undefined && finishReason !== '') known.finishReason = finishReason;
  if (refusal !== undefined) known.refusal = (known.refusal ?? '') + refusal;
  if (blocked !== undefined) known.blocked = blocked;
  if (tool !== undefined) known.tool ??= tool;
  if (responseModel !== undefined) known.responseModel = responseModel;
  return known;
}

/** Adds the usage in a reply or an event, if there is any. */
export function addUsage(known: KnownDetails, format: ReplyFormat, event: WireObject): boolean {
  const holder = format.usageHolder === undefined ? event : format.usageHolder(event);
  if (holder === undefined) return false;
  const usage = usageIn(holder, format.facts);
  if (usage === undefined) return false;
  if (format.dividesUsage !== true || known.usage === undefined) known.usage = usage;
  else {
    const stated = Object.entries(usage).filter(([, value]) => value !== null);
    known.usage = { ...known.usage, ...Object.fromEntries(stated) };
  }
  return true;
}

/**
 * The reply for the caller. A tool call is the normal end of a reply that has to be one, but the lists of accepted finish
 * reasons contain its normal end under another name.
 */
export function modelReply(text: string, known: KnownDetails, { facts }: ReplyFormat, asTool: boolean): KnownReply {
  const reply: KnownReply = { text };
  addDetails(reply, known);
  if (asTool && reply.finishReason === 'tool_use') reply.finishReason = 'end_turn';
  const ending = endingOf(reply.finishReason, facts);
  if (ending !== undefined) reply.ending = ending;
  if (known.usage !== undefined) addCounts(reply, countsIn(known.usage, facts));
  return reply;
}

export function endingOf(finishReason: string | undefined, { finishReasons }: ReplyFacts): Ending | undefined {
  return finishReason === undefined ? undefined : (finishReasons[finishReason.toLowerCase()] ?? 'whole');
}

type KnownReply = { -readonly [Key in keyof ModelReply]: ModelReply[Key] };

function addCounts(reply: KnownReply, counts: Counts): void {
  if (counts.inputTokens !== undefined) reply.inputTokens = Math.min(counts.inputTokens, MOST_TOKENS);
  if (counts.outputTokens !== undefined) reply.outputTokens = Math.min(counts.outputTokens, MOST_TOKENS);
  if (TOKEN_DETAILS.every((kind) => counts[kind] === undefined)) return;
  reply.tokenDetails = {};
  addTokens(reply.tokenDetails, counts);
}

/** Counts above this are wrong, so they count as this: the largest context window that a provider states has a tenth of it. */
export const MOST_TOKENS = 100_000_000;

const TOKEN_DETAILS: ReadonlyArray<keyof TokenDetails> = [
  'cachedInputTokens',
  'cacheWrittenInputTokens',
  'reasoningTokens',
  'audioInputTokens',
  'audioOutputTokens',
];

type TokenSums = { -readonly [Key in keyof TokenDetails]: TokenDetails[Key] };

/** Adds the counts that are known. */
export function addTokens(sum: TokenSums, added: TokenDetails): void {
  for (const kind of TOKEN_DETAILS) {
    const count = added[kind];
    if (count !== undefined) sum[kind] = (sum[kind] ?? 0) + Math.min(count, MOST_TOKENS);
  }
}

/** A reply that does not have the form that the provider documents. */
export function malformed(message: string): UpstreamFailure {
  return { kind: 'unusable', message };
}

/** The one answer of a whole reply: the only entry of its list `key`. */
export function onlyAnswer(reply: WireObject, key: string): Result<unknown, UpstreamFailure> {
  const answers = listAt(reply, key);
  if (answers === undefined) return err(malformed(`answered without "${key}"`));
  // Nothing is wrong with the request: another one can be answered.
  if (answers.length === 0) return err({ kind: 'reported', message: `no ${key} in the reply`, retryable: true });
  return answers.length === 1 ? ok(answers[0]) : err(malformed(`answered ${answers.length} ${key} instead of one`));
}

/** The failure of a streamed event with a part of a second answer. Several answers (`n: 2`) take turns, each with its `index`. */
export function severalAnswers(answers: readonly unknown[], key: string): UpstreamFailure | undefined {
  if (answers.length <= 1 && (countAt(answers[0], 'index') ?? 0) === 0) return undefined;
  return malformed(`answered several ${key} instead of one`);
}

/** Words in an error's type or code that mean that the same request will fail again. */
const FINAL =
  /invalid|validation|authentication|permission|access_?denied|not_?found|billing|insufficient_quota|content_filter|UNAUTH/iu;

/** The failure for an `error` object inside a reply of status 200. */
export function reportedError(error: unknown): UpstreamFailure {
  const type = stringAt(error, 'type') ?? stringAt(error, 'status') ?? '';
  const code = stringAt(error, 'code') ?? countAt(error, 'code') ?? '';
  const message = typeof error === 'string' ? error : (messageOf(error) ?? textOf(error));
  const name = type === '' ? String(code) : type;
  const retryable = !FINAL.test(`${type} ${code}`) && !isFinalStatus(code);
  return { kind: 'reported', message: name === '' ? message : `${name}: ${message}`, retryable };
}

/** The body of a response with an error status, as far as svc uses it. */
interface StatedError {
  /** Its `error.message` or `message`, or the whole text. */
  readonly text: string;
  /** The wait that Google states in the body, in milliseconds. */
  readonly retryAfterMs?: number;
}

export function readErrorBody(body: string): StatedError {
  const parsed = parseJson(body);
  // Google sends a list of one in reply to a request for a stream.
  const holder: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(holder)) return { text: body.trim() };
  const { error } = holder;
  if (typeof error === 'string') return { text: error };
  const text = messageOf(error) ?? messageOf(holder) ?? stringAt(holder, 'Message') ?? body.trim();
  const seconds = (listAt(error, 'details') ?? [])
    .map((detail) => /^(\d+(?:\.\d+)?)s$/u.exec(stringAt(detail, 'retryDelay') ?? '')?.[1])
    .find((each) => each !== undefined);
  return seconds === undefined ? { text } : { text, retryAfterMs: Math.ceil(Number(seconds) * 1000) };
}

/** The message of an error. OpenRouter adds the name of the provider behind it, and its words. */
function messageOf(error: unknown): string | undefined {
  const message = stringAt(error, 'message');
  const metadata = objectAt(error, 'metadata');
  const raw = stringAt(metadata, 'raw');
  if (message === undefined || raw === undefined || message.includes(raw)) return message;
  const provider = stringAt(metadata, 'provider_name');
  return `${message} (${provider === undefined ? '' : `${provider}: `}${raw})`;
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
