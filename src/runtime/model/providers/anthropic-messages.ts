import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { inlineData } from './media-source.ts';
import { wireConversation, withMetadata } from './wire-turns.ts';

export interface AnthropicMessages {
  readonly system?: readonly JsonValue[];
  readonly messages: readonly JsonValue[];
}

/** Messages as Anthropic documents them: what stands before the first other message as `system` goes to the top. */
export function anthropicMessages(
  messages: readonly Message[],
  options: ClientOptions,
): Result<AnthropicMessages, string> {
  const wire = wireConversation<JsonObject>(messages, options, (part) => {
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
