import { createRequire } from 'node:module';
import type { OpenAI } from 'openai';
import type * as Chat from 'openai/resources/chat/completions/completions';
import type * as Responses from 'openai/resources/responses/responses';
import { invariant } from '../../../base/invariant.ts';
import { countAt, listAt, objectAt, stringAt, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Message, MediaPart, MediaSource, MessagePart } from '../../../schema/message.ts';
import {
  KNOWS_STREAM_USAGE,
  type AZURE_OPENAI,
  type OPENAI,
  type OPENAI_GENERIC,
} from '../../../schema/providers/openai.ts';
import { CHAT_REPLIES, RESPONSES_REPLIES } from '../../../schema/providers/replies.ts';
import type { ClientOptions } from '../client-options.ts';
import type { UpstreamFailure } from '../http/origin-pool.ts';
import type { WireProtocol } from '../http-model-client.ts';
import {
  malformed,
  onlyAnswer,
  reportedError,
  severalAnswers,
  type ReadDetails,
  type ReplyFormat,
  type WireObject,
} from '../wire/reply-format.ts';
import {
  formatName,
  inlineData,
  jsonProtocol,
  requestHeaders,
  requestPath,
  wireTurns,
  withMetadata,
  type ClientSetup,
  type HttpProvider,
} from './provider.ts';

/** OpenAI's own service. */
export const openAi: HttpProvider = {
  load: () => CHAT.load(),
  limits: ({ options }) => (isFirstReasoningModel(options.model) ? FIRST_REASONING_LIMITS : {}),
  protocol(client: ClientSetup<typeof OPENAI.options>, apiKey) {
    // A `stream_options` of the client is in the body of every request.
    const isOwn = client.options.body.has('stream_options');
    const streamMembers = isOwn ? {} : { stream_options: client.values.stream_options };
    return openAiProtocol(CHAT, client, { headers: bearer(apiKey), streamMembers });
  },
};

/** `o1` and its variants accept no system messages and do not stream; the later reasoning models do both. */
function isFirstReasoningModel(model: string | undefined): boolean {
  return model === 'o1' || model?.startsWith('o1-') === true;
}

const FIRST_REASONING_LIMITS = { roles: ['user', 'assistant'], defaultRole: 'user', streams: false } as const;

/** Other services that follow OpenAI's chat completions closely: Ollama and OpenRouter. */
export const openAiCompatible: HttpProvider = {
  load: () => CHAT.load(),
  protocol: (client, apiKey) => openAiProtocol(CHAT, client, { headers: bearer(apiKey) }),
};

/** Any server that follows them more or less closely. */
export const openAiGeneric: HttpProvider = {
  load: () => CHAT.load(),
  protocol(client: ClientSetup<typeof OPENAI_GENERIC.options>, apiKey) {
    const { stream_usage: wanted } = client.values;
    const asks = wanted === 'auto' ? KNOWS_STREAM_USAGE.test(`${client.url}/`) : wanted === 'on';
    const isOwn = client.options.body.has('stream_options');
    const streamMembers = asks && !isOwn ? { stream_options: { include_usage: true } } : {};
    return openAiProtocol(CHAT, client, { headers: bearer(apiKey), plainText: true, streamMembers });
  },
};

export const azureOpenAi: HttpProvider = {
  load: () => CHAT.load(),
  protocol(client: ClientSetup<typeof AZURE_OPENAI.options>, apiKey) {
    const { api_version: apiVersion, max_tokens: maxTokens } = client.values;
    const queryParams = new Map(client.options.queryParams);
    if (apiVersion !== undefined) queryParams.set('api-version', apiVersion);
    const options = { ...client.options, queryParams, body: withMaxTokens(client.options.body, maxTokens) };
    return openAiProtocol(CHAT, { ...client, options }, { headers: { 'api-key': apiKey } });
  },
};

/** `max_tokens null` removes the member. */
function withMaxTokens(body: ReadonlyMap<string, JsonValue>, fallback: JsonValue): ReadonlyMap<string, JsonValue> {
  const members = new Map(body);
  if (members.get('max_tokens') === null) members.delete('max_tokens');
  else if (!members.has('max_tokens') && !members.has('max_completion_tokens')) members.set('max_tokens', fallback);
  return members;
}

export const openAiResponses: HttpProvider = {
  load: () => RESPONSES.load(),
  protocol: (client, apiKey) => openAiProtocol(RESPONSES, client, { headers: bearer(apiKey) }),
};

interface Dialect {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Chat: a message of text parts is sent as one string, not as a list of parts. */
  readonly plainText?: boolean;
  /** Members that only streams have, after `stream`. */
  readonly streamMembers?: JsonObject;
}

function bearer(apiKey: string | undefined): Dialect['headers'] {
  return { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` };
}

/** One of OpenAI's APIs. */
interface OpenAiApi extends OpenAiResource {
  readonly format: ReplyFormat;
  readonly write: (
    messages: readonly Message[],
    options: ClientOptions,
    plainText: boolean,
  ) => Result<JsonObject, string>;
}

function openAiProtocol(api: OpenAiApi, { url, options, format }: ClientSetup, dialect: Dialect): WireProtocol {
  const { headers, plainText = false, streamMembers } = dialect;
  let path = '';
  return jsonProtocol({
    structured: options.structured,
    members: Object.fromEntries(options.body),
    write: (messages) => api.write(messages, options, plainText),
    streamMembers: { stream: true, ...streamMembers },
    headers: requestHeaders(options, headers),
    address(params) {
      const built = api.build(params);
      if (path === '') path = requestPath(url, built.path, options);
      return { path, body: built.body };
    },
    format: format ?? api.format,
  });
}

/**
 * Messages as OpenAI documents them for chat completions; the failure states which part the API does not take. With
 * `plainText`, a message of text parts becomes one string: many servers that follow the API accept only that. Metadata in the prompt
 * keeps the parts separate, even if the client does not allow it.
 */
const writeChat: OpenAiApi['write'] = (messages, options, plainText) => {
  const turns = wireTurns<JsonObject>(messages, (part) =>
    withMetadata(part.kind === 'text' ? ok({ type: 'text', text: part.text }) : chatMedia(part), part, options),
  );
  if (!turns.ok) return turns;
  const content = turns.value.map(({ role, parts }, index) => {
    const text = plainText ? plainTextOf(messages[index]?.parts) : undefined;
    return { role, content: text ?? parts };
  });
  return ok({ messages: content });
};

/** Joins texts with spaces. Returns undefined if a part is not a text, or has metadata. */
function plainTextOf(parts: readonly MessagePart[] = []): string | undefined {
  const texts = parts.map((part) => (part.kind === 'text' && part.metadata === undefined ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join(' ');
}

function chatMedia({ media, source }: MediaPart): Result<JsonObject, string> {
  switch (media) {
    case 'image': {
      const url = imageUrl(source);
      return url.ok ? ok({ type: 'image_url', image_url: { url: url.value } }) : url;
    }
    case 'audio':
      return audioPart(source);
    case 'pdf': {
      const file = pdfFile(source);
      return ok({
        type: 'file',
        file: { ...(source.kind === 'url' ? { type: 'input_file' } : { filename: PDF_NAME }), ...file },
      });
    }
    case 'video':
      return err('cannot take video: chat completions have no such part. Send frames of it as images');
  }
}

/** Messages as the responses API takes them: text of the assistant is output, all other text is input. */
const writeResponses: OpenAiApi['write'] = (messages, options) => {
  const turns = wireTurns<JsonObject>(messages, (part, role) => {
    const type = role === 'assistant' ? 'output_text' : 'input_text';
    return withMetadata(part.kind === 'text' ? ok({ type, text: part.text }) : responsesMedia(part), part, options);
  });
  return turns.ok ? ok({ input: turns.value.map(({ role, parts }) => ({ role, content: parts })) }) : turns;
};

function responsesMedia({ media, source }: MediaPart): Result<JsonObject, string> {
  switch (media) {
    case 'image': {
      const url = imageUrl(source);
      return url.ok ? ok({ type: 'input_image', detail: 'auto', image_url: url.value }) : url;
    }
    case 'audio':
      return audioPart(source);
    case 'pdf':
      return ok({ type: 'input_file', ...pdfFile(source) });
    case 'video':
      return err('cannot take video: the responses API has no such input. Send frames of it as images');
  }
}

function imageUrl(source: MediaSource): Result<string, string> {
  if (source.kind === 'url') return ok(source.url);
  const inline = inlineData(source);
  return inline.ok ? ok(`data:${inline.value.mediaType};base64,${inline.value.data}`) : inline;
}

/** Both APIs take audio only inline, with its format (`wav`, `mp3`) by name. */
function audioPart(source: MediaSource): Result<JsonObject, string> {
  const inline = inlineData(source);
  if (!inline.ok) return inline;
  const format = formatName(inline.value.mediaType, AUDIO_FORMATS);
  return ok({ type: 'input_audio', input_audio: { data: inline.value.data, format } });
}

const AUDIO_FORMATS = { mpeg: 'mp3', wave: 'wav', 'x-wav': 'wav', 'vnd.wave': 'wav' };

/** The name of files that have none: OpenAI requires one. */
const PDF_NAME = 'document.pdf';

function pdfFile(source: MediaSource): JsonObject {
  if (source.kind === 'url') return { file_url: source.url, filename: PDF_NAME };
  const type = source.mediaType ?? 'application/pdf';
  return { file_data: `data:${type};base64,${source.data}`, filename: PDF_NAME };
}

/** A resource of the openai package, without its request step. */
interface OpenAiResource {
  load(): void;
  /** Path (below the base URL: `/chat/completions`) and body of the request that the package would send. */
  build(params: JsonObject): { readonly path: string; readonly body: unknown };
}

const load = createRequire(import.meta.url);

/**
 * Resources of the openai package build the path and body of a request, and svc's own HTTP code sends it. The package's own
 * step (Headers, AbortController, fetch, Response) costs ten times as much as the rest of a call, and loading its entry, with
 * every other API of OpenAI, four times as much as two resources. All clients share a resource: it contains no key, and no
 * state between two requests.
 */
function openAiResource(create: (client: OpenAI) => { create(params: never): unknown }): OpenAiResource {
  let built: ReturnType<OpenAiResource['build']> | undefined;
  // Resources use only `post` and the other methods of its kind.
  const client = {
    post(path: string, { body }: { readonly body: unknown }): Unsent {
      built = { path, body };
      return UNSENT;
    },
  } as unknown as OpenAI;
  let resource: ReturnType<typeof create> | undefined;
  return {
    load: () => (resource ??= create(client)),
    build(params) {
      resource ??= create(client);
      // Options are the user's: the provider judges them.
      void resource.create(params as never);
      invariant(built !== undefined, 'the openai package posted nothing');
      const taken = built;
      built = undefined;
      return taken;
    },
  };
}

interface Unsent {
  _thenUnwrap(): Unsent;
}

/** Returned in place of a promise that no code awaits. */
const UNSENT: Unsent = { _thenUnwrap: () => UNSENT };

/** Chat completions (https://platform.openai.com/docs/api-reference/chat) of OpenAI and of the services that follow it. */
export const openAiChatFormat: ReplyFormat = {
  facts: CHAT_REPLIES,
  readReply(reply) {
    const failure = bareError(reply);
    if (failure !== undefined) return err(failure);
    const choice = onlyAnswer(reply, 'choices');
    if (!choice.ok) return choice;
    // OpenRouter reports a model that failed midway in its choice.
    const failed = objectAt(choice.value, 'error');
    if (failed !== undefined) return err(reportedError(failed));
    const message = objectAt(choice.value, 'message');
    if (message === undefined) return err(malformed('answered a choice without "message"'));
    return ok({ text: contentText(message['content']), ...chatDetails(reply, choice.value, message) });
  },
  reasoningIn: (reply) => [reasoningOfMessage(objectAt(listAt(reply, 'choices')?.[0], 'message')) ?? ''],
  readEvent(chunk) {
    const choices = listAt(chunk, 'choices') ?? [];
    const fault = bareError(chunk) ?? severalAnswers(choices, 'choices');
    if (fault !== undefined) return { fault };
    const delta = objectAt(choices[0], 'delta');
    return {
      ...chatDetails(chunk, choices[0], delta),
      text: contentText(delta?.['content']),
      reasoning: reasoningOfMessage(delta),
    };
  },
};

/** Some services state an error without `error`: `{"code", "message"}`, or `{"error_type", "error_message"}`. */
function bareError(reply: WireObject): UpstreamFailure | undefined {
  if (Array.isArray(reply['choices'])) return undefined;
  const message = stringAt(reply, 'message') ?? stringAt(reply, 'error_message');
  if (message === undefined) return undefined;
  return reportedError({ type: stringAt(reply, 'error_type'), code: reply['code'], message });
}

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

/** `message`: the message of the choice, or a delta of it. A refusal replaces its content; some servers send an empty one. */
function chatDetails(reply: WireObject, choice: unknown, message: WireObject | undefined): ReadDetails {
  const refusal = stringAt(message, 'refusal');
  const called = listAt(message, 'tool_calls')?.[0];
  return {
    finishReason: stringAt(choice, 'finish_reason'),
    refusal: refusal === '' ? undefined : refusal,
    tool: called === undefined ? undefined : (stringAt(objectAt(called, 'function'), 'name') ?? ''),
    responseModel: stringAt(reply, 'model'),
  };
}

/** OpenAI's responses: https://platform.openai.com/docs/api-reference/responses and /responses-streaming */
export const openAiResponsesFormat: ReplyFormat = {
  facts: RESPONSES_REPLIES,
  usageHolder: (event) => objectAt(event, 'response') ?? event,
  readReply(reply) {
    if (listAt(reply, 'output') === undefined) return err(malformed('answered without "output"'));
    return ok({ text: textOfParts(reply, 'output_text', 'text') ?? '', ...responseDetails(reply) });
  },
  /** The texts of all reasoning items, and comments. Open models have them in `content`, OpenAI's models in `summary`. */
  reasoningIn(reply) {
    const items = (listAt(reply, 'output') ?? []).filter(
      (item) => stringAt(item, 'type') === 'reasoning' || isComment(item),
    );
    const parts = items.flatMap((item) => [...(listAt(item, 'content') ?? []), ...(listAt(item, 'summary') ?? [])]);
    return parts.map((part) => stringAt(part, 'text') ?? '');
  },
  readEvent(event) {
    switch (event['type']) {
      case 'response.output_item.added': {
        const part = countAt(event, 'output_index');
        return { asidePart: isComment(event['item']) ? part : undefined };
      }
      case 'response.output_text.delta':
        return { text: stringAt(event, 'delta'), part: countAt(event, 'output_index') };
      case 'response.refusal.delta':
        return { refusal: stringAt(event, 'delta') };
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta': {
        const index = countAt(event, 'summary_index') ?? countAt(event, 'content_index');
        const reasoningPart = `${countAt(event, 'output_index')} ${event['type']} ${index}`;
        return { reasoning: stringAt(event, 'delta'), reasoningPart };
      }
      case 'response.completed':
      case 'response.incomplete':
        // The parts of a refusal came before it.
        return { ...responseDetails(objectAt(event, 'response')), refusal: undefined, done: true };
      case 'response.failed':
        return { fault: reportedError(objectAt(event['response'], 'error') ?? 'the response failed') };
      case 'error':
        return { fault: reportedError(event) };
      default:
        return {};
    }
  },
};

function itemsOf(response: unknown, type: string): readonly unknown[] {
  return (listAt(response, 'output') ?? []).filter((item) => stringAt(item, 'type') === type);
}

/** A comment of the model on its work, before the answer. */
function isComment(item: unknown): boolean {
  return stringAt(item, 'phase') === 'commentary';
}

/** The parts of this type in all messages, joined; undefined if there are none. Reasoning and tool calls are not part of the answer. */
function textOfParts(response: unknown, type: string, member: string): string | undefined {
  const messages = itemsOf(response, 'message').filter((message) => !isComment(message));
  const parts = messages.flatMap((message) => listAt(message, 'content') ?? []);
  const found = parts.filter((part) => stringAt(part, 'type') === type);
  return found.length === 0 ? undefined : found.map((part) => stringAt(part, member) ?? '').join('');
}

/** An incomplete response states its reason apart from its status. */
function responseDetails(response: unknown): ReadDetails {
  const called = [...itemsOf(response, 'function_call'), ...itemsOf(response, 'custom_tool_call')][0];
  return {
    finishReason: stringAt(objectAt(response, 'incomplete_details'), 'reason') ?? stringAt(response, 'status'),
    refusal: textOfParts(response, 'refusal', 'refusal'),
    tool: called === undefined ? undefined : (stringAt(called, 'name') ?? ''),
    responseModel: stringAt(response, 'model'),
  };
}

/** OpenAI's transcriptions: https://platform.openai.com/docs/api-reference/audio/createTranscription */
export const transcriptionFormat: ReplyFormat = {
  facts: RESPONSES_REPLIES,
  readReply(reply) {
    const text = stringAt(reply, 'text');
    return text === undefined ? err(malformed('answered without "text"')) : ok({ text });
  },
  reasoningIn: () => [],
  readEvent(event) {
    switch (event['type']) {
      case 'transcript.text.delta':
        return { text: stringAt(event, 'delta') };
      case 'transcript.text.done':
        return { done: true };
      case 'error':
        return { fault: reportedError(event) };
      default:
        return {};
    }
  },
};

const CHAT: OpenAiApi = {
  ...openAiResource((client) => {
    const { Completions } = load('openai/resources/chat/completions/completions') as typeof Chat;
    return new Completions(client);
  }),
  format: openAiChatFormat,
  write: writeChat,
};

const RESPONSES: OpenAiApi = {
  ...openAiResource((client) => {
    const { Responses: Resource } = load('openai/resources/responses/responses') as typeof Responses;
    return new Resource(client);
  }),
  format: openAiResponsesFormat,
  write: writeResponses,
};
