import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message, MessagePart } from '../../../schema/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { formatName, inlineData } from './media-source.ts';
import { wireMetadata } from './wire-role.ts';
import { wireConversation } from './wire-turns.ts';

export interface BedrockMessages {
  readonly messages: readonly JsonValue[];
  readonly system?: readonly JsonValue[];
}

/** Messages as Converse takes them; leading system messages go apart. */
export function bedrockMessages(messages: readonly Message[], options: ClientOptions): Result<BedrockMessages, string> {
  const wire = wireConversation<JsonObject>(messages, options, (part) => blocks(part, options));
  if (!wire.ok) return wire;
  const { system, turns } = wire.value;
  const conversation = turns.map(({ role, parts }) => ({ role, content: parts }));
  return ok({ messages: conversation, ...(system === undefined ? {} : { system }) });
}

/** Metadata `cache_control` becomes a block of its own behind the part: Converse has no other place for it. */
function blocks(part: MessagePart, options: ClientOptions): Result<readonly JsonObject[], string> {
  const block = part.kind === 'text' ? ok({ text: part.text }) : mediaBlock(part);
  if (!block.ok) return block;
  const cached = Object.hasOwn(wireMetadata(part, options) ?? {}, 'cache_control');
  return ok(cached ? [block.value, { cachePoint: { type: 'default' } }] : [block.value]);
}

function mediaBlock({ media, source }: MediaPart): Result<JsonObject, string> {
  if (media === 'audio') return err('cannot take audio: Converse has no such block');
  // Videos are too large for most requests, so that Bedrock fetches them from S3 itself, with the keys of the call.
  if (media === 'video' && source.kind === 'url' && source.url.startsWith('s3://')) {
    const format = formatName(source.mediaType ?? 'video/mp4', FORMATS);
    return ok({ video: { format, source: { s3Location: { uri: source.url } } } });
  }
  const inline = inlineData(source, media === 'pdf' ? 'application/pdf' : undefined);
  if (!inline.ok) return inline;
  const bytes = { format: formatName(inline.value.mediaType, FORMATS), source: { bytes: inline.value.data } };
  return ok(media === 'pdf' ? { document: { ...bytes, name: 'document' } } : { [media]: bytes });
}

/** Formats whose names are not the subtypes of their media types. */
const FORMATS = {
  jpg: 'jpeg',
  quicktime: 'mov',
  'x-matroska': 'mkv',
  'x-flv': 'flv',
  'x-ms-wmv': 'wmv',
  '3gpp': 'three_gp',
};
