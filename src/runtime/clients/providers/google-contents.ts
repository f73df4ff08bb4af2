import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { ok } from '../../../base/result.ts';
import type { MediaPart, Message, MessagePart } from '../../prompt/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { apartSystem } from './apart-system.ts';
import { inlineData } from './media-source.ts';
import { wireMetadata, wireRole } from './wire-role.ts';

export interface GoogleContents {
  readonly system_instruction?: JsonObject;
  readonly contents: readonly JsonValue[];
}

/**
 * Messages as Gemini documents them: leading system messages are the instruction, the assistant is called `model`.
 * A prompt that is nothing but system is sent as the user's, since there has to be content.
 */
export function googleContents(messages: readonly Message[], options: ClientOptions): Result<GoogleContents, string> {
  const { system: leading, conversation } = apartSystem(messages);
  const system = wireParts(leading, options);
  if (!system.ok) return system;
  const contents: JsonValue[] = [];
  for (const message of conversation) {
    const parts = wireParts(message.parts, options);
    if (!parts.ok) return parts;
    contents.push({ role: googleRole(message.role, options), parts: parts.value });
  }
  const instruction = leading.length === 0 ? {} : { system_instruction: { parts: system.value } };
  return ok({ ...instruction, contents });
}

function googleRole(role: string, options: ClientOptions): string {
  const wire = wireRole(role, options);
  return wire === 'assistant' ? 'model' : wire;
}

function wireParts(parts: readonly MessagePart[], options: ClientOptions): Result<readonly JsonValue[], string> {
  const wire: JsonValue[] = [];
  for (const part of parts) {
    const made = part.kind === 'text' ? ok<JsonObject>({ text: part.text }) : mediaPart(part);
    if (!made.ok) return made;
    wire.push({ ...made.value, ...wireMetadata(part, options) });
  }
  return ok(wire);
}

function mediaPart({ source, media }: MediaPart): Result<JsonObject, string> {
  if (source.kind === 'url') {
    const type = source.mediaType === undefined ? {} : { mime_type: source.mediaType };
    return ok({ file_data: { file_uri: source.url, ...type } });
  }
  const inline = inlineData(source, media === 'pdf' ? 'application/pdf' : undefined);
  if (!inline.ok) return inline;
  return ok({ inline_data: { mime_type: inline.value.mediaType, data: inline.value.data } });
}
