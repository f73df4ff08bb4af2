import type * as Chat from 'openai/resources/chat/completions/completions';
import type * as Response from 'openai/resources/responses/responses';
import type {
  ChatCompletionCreateParams,
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionMessage,
} from 'openai/resources/chat/completions';
import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { createRequire } from 'node:module';
import type { OpenAI } from 'openai';
import { invariant } from '../../../base/invariant.ts';
import {
  type JsonObject,
  type JsonValue,
  countAt,
  isJsonObject,
  listAt,
  objectAt,
  stringAt,
} from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Message, MediaPart, MediaSource, MessagePart } from '../../../schema/message.ts';
import type { StructuredOutput } from '../../../schema/structured-output.ts';
import type { AZURE_OPENAI, OPENAI } from '../../../schema/providers/openai.ts';
import type { ClientOptions } from '../client-options.ts';
import type { CallResult, WireProtocol } from '../http-model-client.ts';
import {
  type ReplyFormat,
  isOnlyOne,
  knownDetails,
  knownTokens,
  malformed,
  reportedError,
  type PossibleDetails,
  type TokenDetails,
  type WireObject,
} from '../wire/reply-format.ts';
import {
  requestHeaders,
  requestPath,
  type ClientSetup,
  type Connection,
  type HttpProvider,
  withStructure,
} from './provider.ts';
import { formatName, inlineData, wireTurns, withMetadata } from './message-parts.ts';
import { JsonEventStream, type ReasoningDelta } from '../wire/json-event-stream.ts';

/** OpenAI's own service. */
export const openAi: HttpProvider = {
  load: loadChat,
  connect(client: ClientSetup<typeof OPENAI.options>) {
    const { options, values } = client;
    // A `stream_options` of the client is in the body of every request.
    const isOwn = options.body.has('stream_options');
    const connection = chatConnection(client, {
      streamMembers: isOwn ? {} : { stream_options: values.stream_options },
    });
    return isFirstReasoningModel(options.model) ? { ...connection, ...FIRST_REASONING_LIMITS } : connection;
  },
};

/** `o1` and its variants accept no system messages and do not stream; the later reasoning models do both. */
function isFirstReasoningModel(model: string | undefined): boolean {
  return model === 'o1' || model?.startsWith('o1-') === true;
}

const FIRST_REASONING_LIMITS = { roles: ['user', 'assistant'], defaultRole: 'user', streams: false } as const;

/** Other services that follow OpenAI's chat completions closely: Ollama and OpenRouter. */
export const openAiCompatible: HttpProvider = { load: loadChat, connect: (client) => chatConnection(client, {}) };

/** Any server that follows them more or less closely. */
export const openAiGeneric: HttpProvider = {
  load: loadChat,
  connect: (client) => chatConnection(client, { plainText: true, endsWithBody: true }),
};

export const azureOpenAi: HttpProvider = {
  load: loadChat,
  connect(client: ClientSetup<typeof AZURE_OPENAI.options>) {
    const { options, values } = client;
    const { api_version: apiVersion, max_tokens: maxTokens } = values;
    const queryParams = new Map(options.queryParams);
    if (apiVersion !== undefined) queryParams.set('api-version', apiVersion);
    const own: ClientOptions = { ...options, queryParams, body: withMaxTokens(options.body, maxTokens) };
    return {
      protocol: (apiKey) => new OpenAiChatProtocol({ ...client, options: own }, { headers: { 'api-key': apiKey } }),
    };
  },
};

/** `max_tokens null` removes the member. */
function withMaxTokens(body: ReadonlyMap<string, JsonValue>, fallback: JsonValue): ReadonlyMap<string, JsonValue> {
  const members = new Map(body);
  if (members.get('max_tokens') === null) members.delete('max_tokens');
  else if (!members.has('max_tokens') && !members.has('max_completion_tokens')) members.set('max_tokens', fallback);
  return members;
}

interface ChatDialect {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** A message of text parts is sent as one string, not as a list of parts. */
  readonly plainText?: boolean;
  /** Members that only streams have, after `stream`. */
  readonly streamMembers?: JsonObject;
  /** Of the many servers that follow the API, some end a stream by ending its body. */
  readonly endsWithBody?: boolean;
}

/** The connection of a client whose key, if it has one, is sent as a bearer token. */
function chatConnection(client: ClientSetup, dialect: ChatDialect): Connection {
  return {
    protocol: (apiKey) => {
      const headers = { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` };
      return new OpenAiChatProtocol(client, { headers, ...dialect });
    },
  };
}

function loadChat(): void {
  openAiPackage.loadChat();
}

/** Chat completions: https://platform.openai.com/docs/api-reference/chat/create */
class OpenAiChatProtocol implements WireProtocol {
  readonly format: ReplyFormat;
  readonly endsWithBody: boolean;
  readonly #url: string;
  readonly #options: ClientOptions;
  readonly #dialect: ChatDialect;
  readonly #headers: readonly string[];
  readonly #members: JsonObject;
  #path = '';

  constructor({ url, options, format = openAiChatFormat }: ClientSetup, dialect: ChatDialect) {
    this.#url = url;
    this.#options = options;
    this.#dialect = dialect;
    this.endsWithBody = dialect.endsWithBody === true;
    this.format = format;
    this.#headers = requestHeaders(options, dialect.headers ?? {});
    this.#members = Object.fromEntries(options.body);
  }

  call(messages: readonly Message[], streamed: boolean, output?: StructuredOutput): CallResult {
    const { plainText = false, streamMembers = {} } = this.#dialect;
    const wire = openAiChatMessages(messages, this.#options, plainText);
    if (!wire.ok) return err(wire.failure);
    // V8 defines a member after a spread in half a microsecond, which is a hundredth of a small call.
    const params: Record<string, unknown> = Object.assign({}, withStructure(this.#members, this.#options, output), {
      messages: wire.value,
    });
    if (streamed) Object.assign(params, { stream: true }, streamMembers);
    // Options are the user's: the provider judges them.
    const built = openAiPackage.chatCompletion(params as unknown as ChatCompletionCreateParams);
    invariant(built !== undefined, 'the openai package posted nothing');
    if (this.#path === '') this.#path = requestPath(this.#url, built.path, this.#options);
    return ok({ path: this.#path, headers: this.#headers, body: JSON.stringify(built.body) });
  }
}

export const openAiResponses: HttpProvider = {
  load: () => openAiPackage.loadResponses(),
  connect: (client) => ({ protocol: (apiKey) => responsesProtocol(client, apiKey) }),
};

function responsesProtocol(client: ClientSetup, apiKey: string | undefined): WireProtocol {
  const { url, options, format = openAiResponsesFormat } = client;
  const headers = requestHeaders(options, { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` });
  const members = Object.fromEntries(options.body);
  let path: string | undefined;
  return {
    format,
    call(messages, streamed, output) {
      const input = openAiResponsesInput(messages, options);
      if (!input.ok) return err(input.failure);
      const all = withStructure(members, options, output);
      const params = Object.assign({}, all, { input: input.value }, streamed ? { stream: true } : {});
      const built = openAiPackage.response(params as unknown as ResponseCreateParams);
      invariant(built !== undefined, 'the openai package posted nothing');
      path ??= requestPath(url, built.path, options);
      return ok({ path, headers, body: JSON.stringify(built.body) });
    },
  };
}

/**
 * Messages as OpenAI documents them for chat completions; the failure states which part the API does not take. With
 * `plainText`, a message of text parts becomes one string: many servers that follow the API accept only that. Metadata in the prompt
 * keeps the parts separate, even if the client does not allow it.
 */
function openAiChatMessages(
  messages: readonly Message[],
  options: ClientOptions,
  plainText: boolean,
): Result<readonly ChatCompletionMessageParam[], string> {
  const turns = wireTurns<ChatCompletionContentPart>(messages, (part) => {
    return withMetadata(part.kind === 'text' ? textPart(part.text) : mediaPart(part), part, options);
  });
  if (!turns.ok) return turns;
  const wire = turns.value.map(({ role, parts }, index) => {
    const text = plainText ? plainTextOf(messages[index]?.parts) : undefined;
    return { role, content: text ?? parts };
  });
  // The role is whatever the client allows; providers have more of them than the package's types name.
  return ok(wire as readonly ChatCompletionMessageParam[]);
}

/** Joins texts with spaces. Returns undefined if a part is not a text, or has metadata. */
function plainTextOf(parts: readonly MessagePart[] = []): string | undefined {
  const texts = parts.map((part) => (part.kind === 'text' && part.metadata === undefined ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join(' ');
}

function textPart(text: string): Result<ChatCompletionContentPart, string> {
  return ok({ type: 'text', text });
}

function mediaPart(part: MediaPart): Result<ChatCompletionContentPart, string> {
  switch (part.media) {
    case 'image':
      return imagePart(part);
    case 'audio':
      return audioPart(part);
    case 'pdf':
      return pdfPart(part);
    case 'video':
      return err('cannot take video: chat completions have no such part. Send frames of it as images');
  }
}

function imagePart({ source }: MediaPart): Result<ChatCompletionContentPart, string> {
  if (source.kind === 'url') return ok({ type: 'image_url', image_url: { url: source.url } });
  const url = dataUrl(source);
  return url.ok ? ok({ type: 'image_url', image_url: { url: url.value } }) : url;
}

function audioPart({ source }: MediaPart): Result<ChatCompletionContentPart, string> {
  const audio = inlineAudio(source);
  if (!audio.ok) return audio;
  const format = audio.value.format as 'wav' | 'mp3';
  return ok({ type: 'input_audio', input_audio: { data: audio.value.data, format } });
}

function pdfPart({ source }: MediaPart): Result<ChatCompletionContentPart, string> {
  if (source.kind === 'base64') return ok({ type: 'file', file: { filename: PDF_NAME, file_data: pdfData(source) } });
  const file = { type: 'input_file', file_url: source.url, filename: PDF_NAME };
  return ok({ type: 'file', file });
}

/** Messages as the responses API takes them: text of the assistant is output, all other text is input. */
function openAiResponsesInput(
  messages: readonly Message[],
  options: ClientOptions,
): Result<readonly JsonValue[], string> {
  const turns = wireTurns<JsonObject>(messages, (part, role) => {
    const type = role === 'assistant' ? 'output_text' : 'input_text';
    return withMetadata(part.kind === 'text' ? ok({ type, text: part.text }) : mediaItem(part), part, options);
  });
  return turns.ok ? ok(turns.value.map(({ role, parts }) => ({ role, content: parts }))) : turns;
}

function mediaItem(part: MediaPart): Result<JsonObject, string> {
  switch (part.media) {
    case 'image':
      return imageItem(part);
    case 'audio':
      return audioItem(part);
    case 'pdf':
      return pdfItem(part);
    case 'video':
      return err('cannot take video: the responses API has no such input. Send frames of it as images');
  }
}

function imageItem({ source }: MediaPart): Result<JsonObject, string> {
  if (source.kind === 'url') return ok({ type: 'input_image', detail: 'auto', image_url: source.url });
  const url = dataUrl(source);
  return url.ok ? ok({ type: 'input_image', detail: 'auto', image_url: url.value }) : url;
}

function audioItem({ source }: MediaPart): Result<JsonObject, string> {
  const audio = inlineAudio(source);
  return audio.ok ? ok({ type: 'input_audio', input_audio: { ...audio.value } }) : audio;
}

function pdfItem({ source }: MediaPart): Result<JsonObject, string> {
  if (source.kind === 'url') return ok({ type: 'input_file', file_url: source.url, filename: PDF_NAME });
  return ok({ type: 'input_file', file_data: pdfData(source), filename: PDF_NAME });
}

type Base64Source = MediaSource & { readonly kind: 'base64' };

function dataUrl(source: Base64Source): Result<string, string> {
  const inline = inlineData(source);
  return inline.ok ? ok(`data:${inline.value.mediaType};base64,${inline.value.data}`) : inline;
}

function pdfData({ mediaType, data }: Base64Source): string {
  return `data:${mediaType ?? 'application/pdf'};base64,${data}`;
}

/** The name of files that have none: OpenAI requires one. */
const PDF_NAME = 'document.pdf';

/** Both APIs take audio only inline, with its format (`wav`, `mp3`) by name. */
function inlineAudio(source: MediaSource): Result<{ readonly data: string; readonly format: string }, string> {
  const inline = inlineData(source);
  if (!inline.ok) return inline;
  return ok({ data: inline.value.data, format: formatName(inline.value.mediaType, AUDIO_FORMATS) });
}

const AUDIO_FORMATS = { mpeg: 'mp3', wave: 'wav', 'x-wav': 'wav', 'vnd.wave': 'wav' };

/** The request that a resource of the package would have sent. */
interface BuiltRequest {
  /** Below the base URL: `/chat/completions`. */
  readonly path: string;
  readonly body: unknown;
}

const load = createRequire(import.meta.url);

/**
 * The resources of the openai package without its request step: they build the path and body of a request, and svc's own
 * HTTP code sends it. The package's own step (Headers, AbortController, fetch, Response) costs ten times as much as the
 * rest of a call, and loading its entry, with every other API of OpenAI, four times as much as two resources.
 */
class OpenAiPackage {
  readonly #client = { post: (path: string, options: unknown) => this.#post(path, options) };
  #chat: Chat.Completions | undefined;
  #responses: Response.Responses | undefined;
  #built: BuiltRequest | undefined;

  chatCompletion(params: Chat.ChatCompletionCreateParams): BuiltRequest | undefined {
    void this.loadChat().create(params);
    return this.#take();
  }

  response(params: Response.ResponseCreateParams): BuiltRequest | undefined {
    void this.loadResponses().create(params);
    return this.#take();
  }

  loadChat(): Chat.Completions {
    if (this.#chat !== undefined) return this.#chat;
    const { Completions } = load('openai/resources/chat/completions/completions') as typeof Chat;
    this.#chat = new Completions(this.#openAi());
    return this.#chat;
  }

  loadResponses(): Response.Responses {
    if (this.#responses !== undefined) return this.#responses;
    const { Responses } = load('openai/resources/responses/responses') as typeof Response;
    this.#responses = new Responses(this.#openAi());
    return this.#responses;
  }

  /** Resources use only `post` and the other methods of its kind. */
  #openAi(): OpenAI {
    return this.#client as unknown as OpenAI;
  }

  #post(path: string, options: unknown): Unsent {
    this.#built = { path, body: bodyOf(options) };
    return UNSENT;
  }

  #take(): BuiltRequest | undefined {
    const built = this.#built;
    this.#built = undefined;
    return built;
  }
}

interface Unsent {
  _thenUnwrap(): Unsent;
}

/** Returned in place of a promise that no code awaits. */
const UNSENT: Unsent = { _thenUnwrap: () => UNSENT };

function bodyOf(options: unknown): unknown {
  return typeof options === 'object' && options !== null && 'body' in options ? options.body : undefined;
}

/** All clients share it: it contains no key, and no state between two requests. */
const openAiPackage = new OpenAiPackage();

/** Member names, checked against the types of the openai package; the values are checked when they are read. */
const CHOICES = 'choices' satisfies keyof ChatCompletion & keyof ChatCompletionChunk;
const USAGE = 'usage' satisfies keyof ChatCompletion & keyof ChatCompletionChunk;
const FINISH_REASON = 'finish_reason' satisfies keyof ChatCompletionChunk.Choice;
const DELTA = 'delta' satisfies keyof ChatCompletionChunk.Choice;
const REFUSAL = 'refusal' satisfies keyof ChatCompletionChunk.Choice.Delta & keyof ChatCompletionMessage;
const MESSAGE = 'message' satisfies keyof ChatCompletion.Choice;

/** Chat completions (https://platform.openai.com/docs/api-reference/chat) of OpenAI and of the services that follow it. */
export const openAiChatFormat: ReplyFormat = {
  readReply(reply) {
    if (isJsonObject(reply['error'])) return err(reportedError(reply['error']));
    const choices = listAt(reply, CHOICES);
    if (choices === undefined) return err(malformed('answered without "choices"'));
    if (choices.length !== 1) return err(malformed(`answered ${choices.length} choices instead of one`));
    // OpenRouter reports a model that failed midway in its choice.
    const failed = objectAt(choices[0], 'error');
    if (failed !== undefined) return err(reportedError(failed));
    const message = objectAt(choices[0], MESSAGE);
    if (message === undefined) return err(malformed('answered a choice without "message"'));
    const details = chatDetails(reply, choices[0], message);
    return ok({ text: contentText(message['content']), ...knownDetails(details) });
  },
  reasoningIn: (reply) => [reasoningOfMessage(objectAt(listAt(reply, CHOICES)?.[0], MESSAGE)) ?? ''],
  openStream: (wantsReasoning) => new ChatStream(wantsReasoning),
};

/** Content is a string, null (a refusal or a tool call: an empty reply), or with some servers a list of parts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => stringAt(part, 'text') ?? '').join('');
}

/**
 * The reasoning in a message, or in a delta of one. DeepSeek and most services that follow it write `reasoning_content`.
 * OpenRouter, Ollama and recent versions of vLLM write `reasoning`. Some write both, with the same text or with one of them empty.
 * Mistral writes parts of the content: https://docs.mistral.ai/capabilities/reasoning
 */
function reasoningOfMessage(message: WireObject | undefined): string | undefined {
  const known = ['reasoning_content', 'reasoning'].map((key) => stringAt(message, key));
  return known.find((text) => text !== undefined && text !== '') ?? thinkingOf(message);
}

function thinkingOf(message: WireObject | undefined): string | undefined {
  return listAt(message, 'content')
    ?.flatMap((part) => listAt(part, 'thinking') ?? [])
    .map((part) => stringAt(part, 'text') ?? '')
    .join('');
}

/** A refusal replaces the content. In other messages it is null, or empty with some servers. */
function refusalIn(message: unknown): string | undefined {
  const refusal = stringAt(message, REFUSAL);
  return refusal === '' ? undefined : refusal;
}

/** `message`: the message of the choice, or a delta of it. */
function chatDetails(reply: unknown, choice: unknown, message: WireObject | undefined): PossibleDetails {
  const usage = objectAt(reply, USAGE);
  return {
    finishReason: stringAt(choice, FINISH_REASON),
    refusal: refusalIn(message),
    responseModel: stringAt(reply, 'model'),
    inputTokens: countAt(usage, 'prompt_tokens'),
    outputTokens: countAt(usage, 'completion_tokens'),
    tokenDetails: usage === undefined ? undefined : chatTokens(usage),
  };
}

/** OpenRouter adds `cache_write_tokens`; DeepSeek reports its cache as `prompt_cache_hit_tokens`. */
function chatTokens(usage: WireObject): TokenDetails | undefined {
  const prompt = objectAt(usage, 'prompt_tokens_details');
  const completion = objectAt(usage, 'completion_tokens_details');
  const cacheHits = countAt(usage, 'prompt_cache_hit_tokens');
  if (prompt === undefined && completion === undefined && cacheHits === undefined) return undefined;
  return knownTokens({
    cachedInputTokens: countAt(prompt, 'cached_tokens') ?? cacheHits,
    cacheWrittenInputTokens: countAt(prompt, 'cache_write_tokens'),
    reasoningTokens: countAt(completion, 'reasoning_tokens'),
    audioInputTokens: countAt(prompt, 'audio_tokens'),
    audioOutputTokens: countAt(completion, 'audio_tokens'),
  });
}

class ChatStream extends JsonEventStream {
  protected override take(chunk: WireObject): string {
    if (chunk['error'] !== undefined && chunk['error'] !== null) {
      this.fault = reportedError(chunk['error']);
      return '';
    }
    const choices = listAt(chunk, CHOICES) ?? [];
    if (!isOnlyOne(choices)) {
      this.fault = malformed('answered several choices instead of one');
      return '';
    }
    const delta = objectAt(choices[0], DELTA);
    this.learnDetails(chatDetails(chunk, choices[0], delta));
    return contentText(delta?.['content']);
  }

  protected override reasoningOf(chunk: WireObject): ReasoningDelta {
    return { text: reasoningOfMessage(objectAt(listAt(chunk, CHOICES)?.[0], DELTA)) };
  }

  /** The chunk contains no finish reason, no usage, and one choice. */
  protected override plainText(chunk: WireObject): string | undefined {
    const choices = listAt(chunk, CHOICES);
    if (choices?.length !== 1 || !isOnlyOne(choices)) return undefined;
    if (stringAt(choices[0], FINISH_REASON) !== undefined) return undefined;
    if (objectAt(chunk, USAGE) !== undefined || objectAt(chunk, 'error') !== undefined) return undefined;
    const delta = objectAt(choices[0], DELTA);
    return refusalIn(delta) === undefined ? stringAt(delta, 'content') : undefined;
  }
}

/** OpenAI's responses: https://platform.openai.com/docs/api-reference/responses and /responses-streaming */
export const openAiResponsesFormat: ReplyFormat = {
  readReply(reply) {
    if (isJsonObject(reply['error'])) return err(reportedError(reply['error']));
    if (listAt(reply, 'output') === undefined) return err(malformed('answered without "output"'));
    const details = responseDetails(reply, refusalText(reply));
    return ok({ text: outputText(reply), ...knownDetails(details) });
  },
  reasoningIn: reasoningOfOutput,
  openStream: (wantsReasoning) => new ResponseStream(wantsReasoning),
};

/** The text parts of all messages; reasoning and tool calls are not part of the answer. */
function outputText(response: unknown): string {
  return partsOfMessages(response)
    .map((part) => (stringAt(part, 'type') === 'output_text' ? (stringAt(part, 'text') ?? '') : ''))
    .join('');
}

function refusalText(response: unknown): string | undefined {
  const refusals = partsOfMessages(response).filter((part) => stringAt(part, 'type') === 'refusal');
  return refusals.length === 0 ? undefined : refusals.map((part) => stringAt(part, 'refusal') ?? '').join('');
}

function partsOfMessages(response: unknown): readonly unknown[] {
  const messages = (listAt(response, 'output') ?? []).filter((item) => stringAt(item, 'type') === 'message');
  return messages.flatMap((message) => listAt(message, 'content') ?? []);
}

/** The texts of all reasoning items. Open models have them in `content`, OpenAI's models in `summary`. */
function reasoningOfOutput(response: unknown): readonly string[] {
  const items = (listAt(response, 'output') ?? []).filter((item) => stringAt(item, 'type') === 'reasoning');
  const parts = items.flatMap((item) => [...(listAt(item, 'content') ?? []), ...(listAt(item, 'summary') ?? [])]);
  return parts.map((part) => stringAt(part, 'text') ?? '');
}

/** An incomplete response states its reason apart from its status. */
function responseDetails(response: unknown, refusal?: string): PossibleDetails {
  const usage = objectAt(response, 'usage');
  return {
    finishReason: stringAt(objectAt(response, 'incomplete_details'), 'reason') ?? stringAt(response, 'status'),
    refusal,
    responseModel: stringAt(response, 'model'),
    inputTokens: countAt(usage, 'input_tokens'),
    outputTokens: countAt(usage, 'output_tokens'),
    tokenDetails: knownTokens({
      cachedInputTokens: countAt(objectAt(usage, 'input_tokens_details'), 'cached_tokens'),
      reasoningTokens: countAt(objectAt(usage, 'output_tokens_details'), 'reasoning_tokens'),
    }),
  };
}

class ResponseStream extends JsonEventStream {
  protected override take(event: WireObject): string {
    switch (event['type']) {
      case 'response.output_text.delta':
        return stringAt(event, 'delta') ?? '';
      case 'response.refusal.delta':
        this.learnDetails({ refusal: stringAt(event, 'delta') });
        return '';
      case 'response.completed':
      case 'response.incomplete':
        this.learnDetails(responseDetails(event['response']));
        this.done = true;
        return '';
      case 'response.failed':
        this.fault = reportedError(objectAt(event['response'], 'error') ?? 'the response failed');
        return '';
      case 'error':
        this.fault = reportedError(objectAt(event, 'error') ?? event);
        return '';
      default:
        return '';
    }
  }

  protected override reasoningOf(event: WireObject): ReasoningDelta | undefined {
    const { type } = event;
    if (type !== 'response.reasoning_summary_text.delta' && type !== 'response.reasoning_text.delta') return undefined;
    const index = countAt(event, 'summary_index') ?? countAt(event, 'content_index');
    return { text: stringAt(event, 'delta'), part: `${countAt(event, 'output_index')} ${type} ${index}` };
  }

  protected override plainText(event: WireObject): string | undefined {
    return event['type'] === 'response.output_text.delta' ? stringAt(event, 'delta') : undefined;
  }
}

/** OpenAI's transcriptions: https://platform.openai.com/docs/api-reference/audio/createTranscription */
export const transcriptionFormat: ReplyFormat = {
  readReply(reply) {
    const error = objectAt(reply, 'error');
    if (error !== undefined) return err(reportedError(error));
    const text = stringAt(reply, 'text');
    return text === undefined ? err(malformed('answered without "text"')) : ok({ text });
  },
  reasoningIn: () => [],
  openStream: () => new TranscriptStream(false),
};

class TranscriptStream extends JsonEventStream {
  protected override take(event: WireObject): string {
    if (event['type'] === 'transcript.text.done') this.done = true;
    if (event['type'] === 'error') this.fault = reportedError(objectAt(event, 'error') ?? event);
    return event['type'] === 'transcript.text.delta' ? (stringAt(event, 'delta') ?? '') : '';
  }

  /** Transcriptions have none. */
  protected override reasoningOf(): undefined {}

  protected override plainText(event: WireObject): string | undefined {
    return event['type'] === 'transcript.text.delta' ? stringAt(event, 'delta') : undefined;
  }
}
