import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message, MessagePart } from '../../prompt/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { apartSystem } from './apart-system.ts';
import { inlineData } from './media-source.ts';
import { wireMetadata, wireRole } from './wire-role.ts';

export interface AnthropicMessages {
  readonly system?: readonly JsonValue[];
  readonly messages: readonly JsonValue[];
}

/**
 * Messages as Anthropic documents them: what stands before the first other message as `system` goes to the top. A
 * prompt that is nothing but that is sent as the user's, since there has to be a message.
 */
export function anthropicMessages(
  messages: readonly Message[],
  options: ClientOptions,
): Result<AnthropicMessages, string> {
  const { system: leading, conversation } = apartSystem(messages);
  const system = blocks(leading, options);
  if (!system.ok) return system;
  const wire: JsonValue[] = [];
  for (const message of conversation) {
    const content = blocks(message.parts, options);
    if (!content.ok) return content;
    wire.push({ role: wireRole(message.role, options), content: content.value });
  }
  return ok({ ...(leading.length === 0 ? {} : { system: system.value }), messages: wire });
}

function blocks(parts: readonly MessagePart[], options: ClientOptions): Result<readonly JsonValue[], string> {
  const wire: JsonValue[] = [];
  for (const part of parts) {
    const block = part.kind === 'text' ? ok<JsonObject>({ type: 'text', text: part.text }) : mediaBlock(part);
    if (!block.ok) return block;
    wire.push({ ...block.value, ...wireMetadata(part, options) });
  }
  return ok(wire);
}

function mediaBlock(part: MediaPart): Result<JsonObject, string> {
  if (part.media === 'video') return err('cannot take video. Send frames of it as images');
  const type = part.media === 'pdf' ? 'document' : part.media;
  if (part.source.kind === 'url') return ok({ type, source: { type: 'url', url: part.source.url } });
  const inline = inlineData(part.source, part.media === 'pdf' ? 'application/pdf' : undefined);
  if (!inline.ok) return inline;
  return ok({ type, source: { type: 'base64', media_type: inline.value.mediaType, data: inline.value.data } });
}
