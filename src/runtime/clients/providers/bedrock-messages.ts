import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message, MessagePart } from '../../prompt/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { apartSystem } from './apart-system.ts';
import { inlineData } from './media-source.ts';
import { wireMetadata, wireRole } from './wire-role.ts';

export interface BedrockMessages {
  readonly messages: readonly JsonValue[];
  readonly system?: readonly JsonValue[];
}

/** Messages as Converse takes them; leading system messages go apart, and a prompt of nothing else is the user's. */
export function bedrockMessages(messages: readonly Message[], options: ClientOptions): Result<BedrockMessages, string> {
  const { system: leading, conversation } = apartSystem(messages);
  const system = blocks(leading, options);
  if (!system.ok) return system;
  const wire: JsonValue[] = [];
  for (const message of conversation) {
    const content = blocks(message.parts, options);
    if (!content.ok) return content;
    wire.push({ role: wireRole(message.role, options), content: content.value });
  }
  return ok({ messages: wire, ...(leading.length === 0 ? {} : { system: system.value }) });
}

/** Metadata `cache_control` becomes a block of its own behind the part: Converse has no other place for it. */
function blocks(parts: readonly MessagePart[], options: ClientOptions): Result<readonly JsonValue[], string> {
  const wire: JsonValue[] = [];
  for (const part of parts) {
    const block = part.kind === 'text' ? ok<JsonObject>({ text: part.text }) : mediaBlock(part);
    if (!block.ok) return block;
    wire.push(block.value);
    const metadata = wireMetadata(part, options);
    if (metadata !== undefined && Object.hasOwn(metadata, 'cache_control'))
      wire.push({ cachePoint: { type: 'default' } });
  }
  return ok(wire);
}

function mediaBlock({ media, source }: MediaPart): Result<JsonObject, string> {
  if (media === 'audio') return err('cannot take audio: Converse has no such block');
  if (media === 'video' && source.kind === 'url' && source.url.startsWith('s3://')) {
    return ok({
      video: { format: format(source.mediaType ?? 'video/mp4'), source: { s3Location: { uri: source.url } } },
    });
  }
  const inline = inlineData(source, media === 'pdf' ? 'application/pdf' : undefined);
  if (!inline.ok) return inline;
  const bytes = { format: format(inline.value.mediaType), source: { bytes: inline.value.data } };
  return ok(media === 'pdf' ? { document: { ...bytes, name: 'document' } } : { [media]: bytes });
}

/** `image/png` is `png` here. */
function format(mediaType: string): string {
  return mediaType.slice(mediaType.indexOf('/') + 1);
}
