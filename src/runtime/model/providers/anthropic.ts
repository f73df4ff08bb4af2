import { type JsonObject, type JsonValue, countAt, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ANTHROPIC } from '../../../schema/providers/anthropic.ts';
import { ANTHROPIC_REPLIES } from '../../../schema/providers/replies.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ReadyProtocol } from '../http-model-client.ts';
import {
  inlineData,
  jsonProtocol,
  requestHeaders,
  requestPath,
  twoPaths,
  wireConversation,
  withMetadata,
  type ClientSetup,
  type HttpProvider,
} from './provider.ts';
import {
  malformed,
  type EventReading,
  type ReadDetails,
  type ReplyFormat,
  type WireObject,
} from '../wire/reply-format.ts';

const API_VERSION = '2023-06-01';

export const anthropic: HttpProvider = {
  protocol({ url, options, values, format }: ClientSetup<typeof ANTHROPIC.options>, apiKey) {
    const path = requestPath(url, '/v1/messages', options);
    const headers = requestHeaders(options, { 'anthropic-version': API_VERSION, 'x-api-key': apiKey });
    return anthropicProtocol({
      paths: [path, path],
      options,
      format,
      headers,
      members: {},
      maxTokens: values.max_tokens,
    });
  },
};

/** The messages API at these paths: shared by Anthropic and Vertex AI, which adds members of its own to the body. */
export function anthropicProtocol({
  paths,
  options,
  format = anthropicFormat,
  headers,
  members,
  maxTokens,
}: {
  /** For calls and for streams. */
  readonly paths: readonly [string, string];
  readonly options: ClientOptions;
  readonly format: ReplyFormat | undefined;
  readonly headers: readonly string[];
  readonly members: JsonObject;
  /** The limit of clients that give none. */
  readonly maxTokens: JsonValue;
}): ReadyProtocol {
  const limit = options.body.has('max_tokens') ? {} : { max_tokens: maxTokens };
  return jsonProtocol({
    structured: options.structured,
    members: { ...members, ...Object.fromEntries(options.body), ...limit },
    write: (messages) => anthropicMessages(messages, options),
    streamMembers: { stream: true },
    headers,
    address: twoPaths(...paths),
    format,
    toolFormat: anthropicFormat,
  });
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
  facts: ANTHROPIC_REPLIES,
  dividesUsage: true,
  usageHolder: (event) => objectAt(event, 'message') ?? event,
  readReply(reply) {
    const content = listAt(reply, 'content');
    if (content === undefined) return err(malformed('answered without "content"'));
    const tool = content.findIndex(isTool);
    return ok({
      ...messageDetails(reply, stringAt(reply, 'stop_reason')),
      tool: toolOf(content[tool]),
      text: content.map(textOfBlock).join(''),
      toolInput: tool < 0 ? undefined : ['content', tool, 'input'],
    });
  },
  reasoningIn: (reply) => (listAt(reply, 'content') ?? []).map(thinkingOfBlock),
  readEvent(event) {
    switch (event['type']) {
      case 'content_block_start': {
        const block = event['content_block'];
        const part = countAt(event, 'index');
        const started = { part, text: textOfBlock(block), tool: toolOf(block), toolInput: inputOf(block) };
        return { ...started, reasoning: thinkingOfBlock(block), reasoningPart: part };
      }
      case 'content_block_delta': {
        const delta = objectAt(event, 'delta');
        return {
          text: stringAt(delta, 'type') === 'text_delta' ? stringAt(delta, 'text') : undefined,
          part: countAt(event, 'index'),
          toolInput: stringAt(delta, 'partial_json'),
          reasoning: stringAt(delta, 'thinking'),
          reasoningPart: countAt(event, 'index'),
        };
      }
      case 'message_start':
        return startOf(objectAt(event, 'message'));
      // The counts are cumulative. The end repeats some of those of the start.
      case 'message_delta':
        return messageDetails(event, stringAt(event['delta'], 'stop_reason'));
      case 'message_stop':
        return { done: true };
      default:
        // `ping`, and future events: the documentation asks clients to ignore unknown ones.
        return {};
    }
  },
};

/** A block of redacted thinking has no text. */
function thinkingOfBlock(block: unknown): string {
  return stringAt(block, 'type') === 'thinking' ? (stringAt(block, 'thinking') ?? '') : '';
}

/** Thinking and tool blocks are not part of the answer. */
function textOfBlock(block: unknown): string {
  return stringAt(block, 'type') === 'text' ? (stringAt(block, 'text') ?? '') : '';
}

function isTool(block: unknown): boolean {
  return stringAt(block, 'type') === 'tool_use';
}

function toolOf(block: unknown): string | undefined {
  return isTool(block) ? (stringAt(block, 'name') ?? '') : undefined;
}

/** The input of a tool that a stream sends at once; as a rule, it is empty, and deltas follow. */
function inputOf(block: unknown): string | undefined {
  const input = isTool(block) ? objectAt(block, 'input') : undefined;
  return input === undefined || Object.keys(input).length === 0 ? undefined : JSON.stringify(input);
}

/** A message that a program wrote has its content in the first event. */
function startOf(message: WireObject | undefined): EventReading {
  const content = listAt(message, 'content') ?? [];
  if (content.length === 0) return messageDetails(message, undefined);
  const part = content.findIndex(isTool);
  const tool = content[part];
  return {
    ...messageDetails(message, stringAt(message, 'stop_reason')),
    text: content.map(textOfBlock).join(''),
    tool: toolOf(tool),
    toolInput: inputOf(tool),
    part,
  };
}

/** A model that refuses can stop in the middle. Its text until then does not give the reason. */
function messageDetails(holder: WireObject | undefined, finishReason: string | undefined): ReadDetails {
  return {
    finishReason,
    refusal: finishReason === 'refusal' ? '' : undefined,
    responseModel: stringAt(holder, 'model'),
  };
}
