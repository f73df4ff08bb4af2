import { hash } from 'node:crypto';
import type { JsonObject } from '../../base/json.ts';
import type { Message, MessagePart } from '../../schema/message.ts';

/** A prompt as JSON data for people: the content of media is replaced by its digest and size. */
export function readablePrompt(prompt: readonly Message[]): readonly JsonObject[] {
  return prompt.map(({ role, parts }) => ({ role, parts: parts.map(readablePart) }));
}

function readablePart(part: MessagePart): JsonObject {
  const metadata = part.metadata === undefined ? {} : { metadata: part.metadata };
  if (part.kind === 'text') return { text: part.text, ...metadata };
  const { media, source } = part;
  const type = source.mediaType === undefined ? {} : { media_type: source.mediaType };
  if (source.kind === 'url') return { [media]: { url: source.url, ...type }, ...metadata };
  const content = Buffer.from(source.data, 'base64');
  return { [media]: { sha256: hash('sha256', content), bytes: content.length, ...type }, ...metadata };
}
