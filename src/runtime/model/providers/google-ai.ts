import { pathSegment } from '../../../base/percent-encoding.ts';
import type { JsonObject } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ReadyProtocol } from '../http-model-client.ts';
import { googleFormat } from '../wire/google-format.ts';
import { inlineData, wireConversation, withMetadata } from './message-parts.ts';
import { replyFormat, requestHeaders, requestPath, type HttpProvider } from './provider.ts';
import { withStructure } from './structured-members.ts';

export const googleAi: HttpProvider = {
  connect: ({ url, options }) => ({
    protocol: (apiKey) => {
      const headers = requestHeaders(options, { 'x-goog-api-key': apiKey });
      return googleProtocol({ base: `${url}/models/${modelPath(options.model ?? '')}`, options, headers });
    },
  }),
};

/** A model's name as one or more segments of a path: `tunedModels/x` keeps its slash, and `..` does not lead upwards. */
export function modelPath(model: string): string {
  return model.split('/').map(pathSegment).join('/');
}

/** generateContent below a model's URL: shared by the Gemini API and Vertex AI. */
export function googleProtocol(parts: {
  readonly base: string;
  readonly options: ClientOptions;
  readonly headers: readonly string[];
}): ReadyProtocol {
  const { base, options, headers } = parts;
  const whole = requestPath(base, ':generateContent', options);
  const stream = requestPath(base, ':streamGenerateContent?alt=sse', options);
  const members = Object.fromEntries(options.body);
  return {
    format: replyFormat(options, googleFormat),
    call(messages, streamed, output) {
      const wire = googleContents(messages, options);
      if (!wire.ok) return err(wire.failure);
      const body = JSON.stringify({ ...withStructure(members, options, output), ...wire.value });
      return ok({ path: streamed ? stream : whole, headers, body });
    },
  };
}

/** Messages as Gemini documents them: leading system messages are the instruction, and the assistant is called `model`. */
function googleContents(messages: readonly Message[], options: ClientOptions): Result<JsonObject, string> {
  const wire = wireConversation<JsonObject>(messages, (part) => {
    const written = part.kind === 'text' ? ok({ text: part.text }) : mediaPart(part);
    return withMetadata(written, part, options);
  });
  if (!wire.ok) return wire;
  const { system, turns } = wire.value;
  const contents = turns.map(({ role, parts: own }) => ({ role: role === 'assistant' ? 'model' : role, parts: own }));
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
