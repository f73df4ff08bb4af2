import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ANTHROPIC } from '../../../schema/providers/anthropic.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ReadyProtocol } from '../http-model-client.ts';
import { anthropicFormat, anthropicToolFormat } from '../wire/anthropic-format.ts';
import { inlineData, wireConversation, withMetadata } from './message-parts.ts';
import { replyFormat, requestHeaders, requestPath, type ClientSetup, type HttpProvider } from './provider.ts';
import { withStructure } from './structured-members.ts';

const API_VERSION = '2023-06-01';

export const anthropic: HttpProvider = {
  connect: ({ url, options, values }: ClientSetup<typeof ANTHROPIC.options>) => ({
    protocol: (apiKey) => {
      const path = requestPath(url, '/v1/messages', options);
      const headers = requestHeaders(options, { 'anthropic-version': API_VERSION, 'x-api-key': apiKey });
      const paths = { whole: path, streamed: path };
      return anthropicProtocol({ paths, options, headers, members: {}, maxTokens: values.max_tokens });
    },
  }),
};

/** The messages API at these paths: shared by Anthropic and Vertex AI, which adds members of its own to the body. */
export function anthropicProtocol(parts: {
  readonly paths: { readonly whole: string; readonly streamed: string };
  readonly options: ClientOptions;
  readonly headers: readonly string[];
  readonly members: JsonObject;
  /** The limit of clients that give none. */
  readonly maxTokens: JsonValue;
}): ReadyProtocol {
  const { paths, options, headers } = parts;
  const limit = options.body.has('max_tokens') ? {} : { max_tokens: parts.maxTokens };
  const members = { ...parts.members, ...Object.fromEntries(options.body), ...limit };
  return {
    format: replyFormat(options, anthropicFormat),
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
