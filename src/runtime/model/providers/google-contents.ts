import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { ok } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { inlineData } from './media-source.ts';
import { wireConversation, withMetadata } from './wire-turns.ts';

export interface GoogleContents {
  readonly system_instruction?: JsonObject;
  readonly contents: readonly JsonValue[];
}

/** Messages as Gemini documents them: leading system messages are the instruction, the assistant is called `model`. */
export function googleContents(messages: readonly Message[], options: ClientOptions): Result<GoogleContents, string> {
  const wire = wireConversation<JsonObject>(messages, options, (part) => {
    const written = part.kind === 'text' ? ok({ text: part.text }) : mediaPart(part);
    return withMetadata(written, part, options);
  });
  if (!wire.ok) return wire;
  const { system, turns } = wire.value;
  const contents = turns.map(({ role, parts }) => ({ role: role === 'assistant' ? 'model' : role, parts }));
  return ok({ ...(system === undefined ? {} : { system_instruction: { parts: system } }), contents });
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
