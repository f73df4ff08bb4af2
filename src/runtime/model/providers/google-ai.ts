import { pathSegment } from '../../../base/percent-encoding.ts';
import { type JsonObject, isJsonObject, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { ok, type Result } from '../../../base/result.ts';
import { GOOGLE_REPLIES } from '../../../schema/providers/replies.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
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
  type HttpProvider,
} from './provider.ts';
import {
  onlyAnswer,
  severalAnswers,
  type ReadDetails,
  type ReplyFormat,
  type WireObject,
} from '../wire/reply-format.ts';

export const googleAi: HttpProvider = {
  protocol: ({ url, options, format }, apiKey) =>
    googleProtocol({
      base: `${url}/models/${modelPath(options.model ?? '')}`,
      options,
      format,
      headers: requestHeaders(options, { 'x-goog-api-key': apiKey }),
    }),
};

/** A model's name as one or more segments of a path: `tunedModels/x` keeps its slash, and `..` does not lead upwards. */
export function modelPath(model: string): string {
  return model.split('/').map(pathSegment).join('/');
}

/** generateContent below a model's URL: shared by the Gemini API and Vertex AI. */
export function googleProtocol({
  base,
  options,
  format = googleFormat,
  headers,
}: {
  readonly base: string;
  readonly options: ClientOptions;
  readonly format: ReplyFormat | undefined;
  readonly headers: readonly string[];
}): ReadyProtocol {
  return jsonProtocol({
    structured: options.structured,
    members: Object.fromEntries(options.body),
    write: (messages) => googleContents(messages, options),
    headers,
    address: twoPaths(
      requestPath(base, ':generateContent', options),
      requestPath(base, ':streamGenerateContent?alt=sse', options),
    ),
    format,
  });
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

/** Gemini's generateContent: https://ai.google.dev/api/generate-content; Vertex AI replies in the same format. */
export const googleFormat: ReplyFormat = {
  facts: GOOGLE_REPLIES,
  readReply(reply) {
    const blocked = blockReason(reply);
    if (blocked !== undefined) return ok({ text: '', blocked, ...detailsOf(reply, undefined) });
    const candidate = onlyAnswer(reply, 'candidates');
    if (!candidate.ok) return candidate;
    return ok({ text: textOf(candidate.value, false), ...detailsOf(reply, candidate.value) });
  },
  reasoningIn: (reply) => [textOf(listAt(reply, 'candidates')?.[0], true)],
  readEvent(event) {
    const candidates = listAt(event, 'candidates') ?? [];
    const [candidate] = candidates;
    const fault = severalAnswers(candidates, 'candidates');
    if (fault !== undefined) return { fault };
    const blocked = blockReason(event);
    return {
      ...detailsOf(event, candidate),
      ...(blocked === undefined ? {} : { blocked, done: true }),
      text: textOf(candidate, false),
      reasoning: textOf(candidate, true),
    };
  },
};

function blockReason(reply: WireObject): string | undefined {
  return stringAt(reply['promptFeedback'], 'blockReason');
}

/** Parts marked as thoughts are not part of the answer. */
function textOf(candidate: unknown, thoughts: boolean): string {
  const parts = listAt(objectAt(candidate, 'content'), 'parts') ?? [];
  return parts
    .map((part) =>
      isJsonObject(part) && (part['thought'] === true) === thoughts ? (stringAt(part, 'text') ?? '') : '',
    )
    .join('');
}

function detailsOf(reply: WireObject, candidate: unknown): ReadDetails {
  const parts = listAt(objectAt(candidate, 'content'), 'parts') ?? [];
  const call = parts.map((part) => objectAt(part, 'functionCall')).find((each) => each !== undefined);
  return {
    finishReason: stringAt(candidate, 'finishReason'),
    tool: call && (stringAt(call, 'name') ?? ''),
    responseModel: stringAt(reply, 'modelVersion'),
  };
}
