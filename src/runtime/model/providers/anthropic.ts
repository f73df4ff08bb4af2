import { type JsonObject, type JsonValue, countAt, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ANTHROPIC } from '../../../schema/providers/anthropic.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ReadyProtocol } from '../http-model-client.ts';
import { inlineData, wireConversation, withMetadata } from './message-parts.ts';
import { requestHeaders, requestPath, type ClientSetup, type HttpProvider, withStructure } from './provider.ts';
import { JsonEventStream, type ReasoningDelta } from '../wire/json-event-stream.ts';
import {
  knownDetails,
  malformed,
  promptTokens,
  reportedError,
  type PossibleDetails,
  type ReplyDetails,
  type ReplyFormat,
  type WireObject,
} from '../wire/reply-format.ts';
import { answeredByTool, ToolReply, toolText } from '../wire/tool-reply.ts';

const API_VERSION = '2023-06-01';

export const anthropic: HttpProvider = {
  connect: ({ url, options, values, format = anthropicFormat }: ClientSetup<typeof ANTHROPIC.options>) => ({
    protocol: (apiKey) => {
      const path = requestPath(url, '/v1/messages', options);
      const headers = requestHeaders(options, { 'anthropic-version': API_VERSION, 'x-api-key': apiKey });
      const paths = { whole: path, streamed: path };
      return anthropicProtocol({ paths, options, format, headers, members: {}, maxTokens: values.max_tokens });
    },
  }),
};

/** The messages API at these paths: shared by Anthropic and Vertex AI, which adds members of its own to the body. */
export function anthropicProtocol(parts: {
  readonly paths: { readonly whole: string; readonly streamed: string };
  readonly options: ClientOptions;
  readonly format: ReplyFormat;
  readonly headers: readonly string[];
  readonly members: JsonObject;
  /** The limit of clients that give none. */
  readonly maxTokens: JsonValue;
}): ReadyProtocol {
  const { paths, options, format, headers } = parts;
  const limit = options.body.has('max_tokens') ? {} : { max_tokens: parts.maxTokens };
  const members = { ...parts.members, ...Object.fromEntries(options.body), ...limit };
  return {
    format,
    structuredFormat: anthropicToolFormat,
    call(messages, streamed, output) {
      const wire = anthropicMessages(messages, options);
      if (!wire.ok) return err(wire.failure);
      const all = withStructure(members, options, output);
      const body = JSON.stringify({ ...all, ...wire.value, ...(streamed ? { stream: true } : {}) });
      return ok({ path: streamed ? paths.streamed : paths.whole, headers, body });
    },
  };
}

/** Messages as Anthropic documents them: `system` messages before the first other one go to the top. */
function anthropicMessages(messages: readonly Message[], options: ClientOptions): Result<JsonObject, string> {
  const wire = wireConversation<JsonObject>(messages, (part) => {
    const block = part.kind === 'text' ? ok({ type: 'text', text: part.text }) : mediaBlock(part);
    return withMetadata(block, part, options);
  });
  if (!wire.ok) return wire;
  const { system, turns } = wire.value;
  const conversation = turns.map(({ role, parts }) => ({ role, content: parts }));
  return ok({ ...(system === undefined ? {} : { system }), messages: conversation });
}

function mediaBlock(part: MediaPart): Result<JsonObject, string> {
  if (part.media === 'video') return err('cannot take video. Send frames of it as images');
  const type = part.media === 'pdf' ? 'document' : part.media;
  if (part.source.kind === 'url') return ok({ type, source: { type: 'url', url: part.source.url } });
  const inline = inlineData(part.source, part.media === 'pdf' ? 'application/pdf' : undefined);
  if (!inline.ok) return inline;
  return ok({ type, source: { type: 'base64', media_type: inline.value.mediaType, data: inline.value.data } });
}

/** Anthropic's messages: https://docs.anthropic.com/en/api/messages and /messages-streaming */
export const anthropicFormat: ReplyFormat = {
  readReply: (reply) => readMessage(reply, (content) => content.map(textOfBlock).join('')),
  reasoningIn,
  openStream: (wantsReasoning) => new MessageStream(wantsReasoning),
};

/** The messages of a model that has to call a tool: the input of the tool is the answer. */
export const anthropicToolFormat: ReplyFormat = {
  readReply(reply, body) {
    const message = readMessage(reply, (content) => textOfTool(content, body));
    return message.ok ? ok(answeredByTool(message.value)) : message;
  },
  reasoningIn,
  openStream: (wantsReasoning) => new ToolStream(wantsReasoning),
};

function readMessage(
  reply: WireObject,
  textIn: (content: readonly unknown[]) => string,
): ReturnType<ReplyFormat['readReply']> {
  if (reply['type'] === 'error') return err(reportedError(reply['error']));
  const content = listAt(reply, 'content');
  if (content === undefined) return err(malformed('answered without "content"'));
  const responseModel = stringAt(reply, 'model');
  const details = knownDetails({ ...usageOf(objectAt(reply, 'usage')), ...endOf(reply), responseModel });
  return ok({ text: textIn(content), ...details });
}

function reasoningIn(reply: WireObject): readonly string[] {
  return (listAt(reply, 'content') ?? []).map(thinkingOfBlock);
}

/** A block of redacted thinking has no text. */
function thinkingOfBlock(block: unknown): string {
  return stringAt(block, 'type') === 'thinking' ? (stringAt(block, 'thinking') ?? '') : '';
}

/** Thinking and tool blocks are not part of the answer. */
function textOfBlock(block: unknown): string {
  return stringAt(block, 'type') === 'text' ? (stringAt(block, 'text') ?? '') : '';
}

/** The input of the tool; the text if the model called none. */
function textOfTool(content: readonly unknown[], body: string): string {
  const index = content.findIndex(isTool);
  return index < 0 ? content.map(textOfBlock).join('') : toolText(body, ['content', index, 'input']);
}

function isTool(block: unknown): boolean {
  return stringAt(block, 'type') === 'tool_use';
}

/** A model that refuses can stop in the middle. Its text until then does not give the reason. */
function endOf(holder: unknown): PossibleDetails {
  const finishReason = stringAt(holder, 'stop_reason');
  return finishReason === 'refusal' ? { finishReason, refusal: '' } : { finishReason };
}

function usageOf(usage: WireObject | undefined): PossibleDetails {
  const others = countAt(usage, 'input_tokens');
  const prompt = promptTokens(
    others,
    countAt(usage, 'cache_read_input_tokens'),
    countAt(usage, 'cache_creation_input_tokens'),
  );
  return { ...prompt, outputTokens: countAt(usage, 'output_tokens') };
}

class MessageStream extends JsonEventStream {
  /** The counts are cumulative. The end repeats some of those of the start. */
  #usage: WireObject = {};

  protected override take(event: WireObject): string {
    switch (event['type']) {
      case 'content_block_delta':
        return textOfDelta(event) ?? '';
      case 'content_block_start':
        return textOfBlock(event['content_block']);
      case 'message_start':
        this.#learnUsage(objectAt(event['message'], 'usage'));
        this.learnDetails({ responseModel: stringAt(event['message'], 'model') });
        return '';
      case 'message_delta':
        this.#learnUsage(objectAt(event, 'usage'));
        this.learnDetails(endOf(event['delta']));
        return '';
      case 'message_stop':
        this.done = true;
        return '';
      case 'error':
        this.fault = reportedError(event['error']);
        return '';
      default:
        // `ping`, and future events: the documentation asks clients to ignore unknown ones.
        return '';
    }
  }

  protected override reasoningOf(event: WireObject): ReasoningDelta | undefined {
    const part = countAt(event, 'index');
    switch (event['type']) {
      case 'content_block_delta':
        return { text: stringAt(objectAt(event, 'delta'), 'thinking'), part };
      case 'content_block_start':
        return { text: thinkingOfBlock(event['content_block']), part };
      default:
        return undefined;
    }
  }

  #learnUsage(usage: WireObject | undefined): void {
    if (usage === undefined) return;
    const counts = Object.entries(usage).filter(([, count]) => count !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) };
    this.learnDetails(usageOf(this.#usage));
  }

  protected override plainText(event: WireObject): string | undefined {
    return event['type'] === 'content_block_delta' ? textOfDelta(event) : undefined;
  }
}

function textOfDelta(event: WireObject): string | undefined {
  const delta = objectAt(event, 'delta');
  return stringAt(delta, 'type') === 'text_delta' ? stringAt(delta, 'text') : undefined;
}

class ToolStream extends MessageStream {
  readonly #reply = new ToolReply();

  protected override take(event: WireObject): string {
    if (event['type'] === 'content_block_start' && isTool(event['content_block'])) this.#reply.begin();
    const input = inputOfDelta(event);
    if (input !== undefined) return this.#reply.input(input);
    const text = this.#reply.text(super.take(event));
    // The event with the finish reason ends the reply: some gateways send no `message_stop`.
    return this.complete ? text + this.#reply.end() : text;
  }

  protected override plainText(event: WireObject): string | undefined {
    return inputOfDelta(event);
  }

  override get details(): ReplyDetails {
    return answeredByTool(super.details);
  }
}

function inputOfDelta(event: WireObject): string | undefined {
  if (event['type'] !== 'content_block_delta') return undefined;
  const delta = objectAt(event, 'delta');
  return stringAt(delta, 'type') === 'input_json_delta' ? stringAt(delta, 'partial_json') : undefined;
}
