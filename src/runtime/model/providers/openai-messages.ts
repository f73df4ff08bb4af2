import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaPart, MediaSource, Message, MessagePart } from '../../../schema/message.ts';
import type { ClientOptions } from '../client-options.ts';
import { formatName, inlineData, wireTurns, withMetadata } from './message-parts.ts';

/**
 * Messages as OpenAI documents them for chat completions; the failure states which part the API does not take. With
 * `plainText`, a message of text parts becomes one string: many servers that follow the API accept only that. Metadata in the prompt
 * keeps the parts separate, even if the client does not allow it.
 */
export function openAiChatMessages(
  messages: readonly Message[],
  options: ClientOptions,
  plainText: boolean,
): Result<readonly ChatCompletionMessageParam[], string> {
  const turns = wireTurns<ChatCompletionContentPart>(messages, (part) => {
    return withMetadata(part.kind === 'text' ? textPart(part.text) : mediaPart(part), part, options);
  });
  if (!turns.ok) return turns;
  const wire = turns.value.map(({ role, parts }, index) => {
    const text = plainText ? plainTextOf(messages[index]?.parts) : undefined;
    return { role, content: text ?? parts };
  });
  // The role is whatever the client allows; providers have more of them than the package's types name.
  return ok(wire as readonly ChatCompletionMessageParam[]);
}

/** Joins texts with spaces. Returns undefined if a part is not a text, or has metadata. */
function plainTextOf(parts: readonly MessagePart[] = []): string | undefined {
  const texts = parts.map((part) => (part.kind === 'text' && part.metadata === undefined ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join(' ');
}

function textPart(text: string): Result<ChatCompletionContentPart, string> {
  return ok({ type: 'text', text });
}

function mediaPart(part: MediaPart): Result<ChatCompletionContentPart, string> {
  switch (part.media) {
    case 'image':
      return imagePart(part);
    case 'audio':
      return audioPart(part);
    case 'pdf':
      return pdfPart(part);
    case 'video':
      return err('cannot take video: chat completions have no such part. Send frames of it as images');
  }
}

function imagePart({ source }: MediaPart): Result<ChatCompletionContentPart, string> {
  if (source.kind === 'url') return ok({ type: 'image_url', image_url: { url: source.url } });
  const url = dataUrl(source);
  return url.ok ? ok({ type: 'image_url', image_url: { url: url.value } }) : url;
}

function audioPart({ source }: MediaPart): Result<ChatCompletionContentPart, string> {
  const audio = inlineAudio(source);
  if (!audio.ok) return audio;
  const format = audio.value.format as 'wav' | 'mp3';
  return ok({ type: 'input_audio', input_audio: { data: audio.value.data, format } });
}

function pdfPart({ source }: MediaPart): Result<ChatCompletionContentPart, string> {
  if (source.kind === 'base64') return ok({ type: 'file', file: { filename: PDF_NAME, file_data: pdfData(source) } });
  const file = { type: 'input_file', file_url: source.url, filename: PDF_NAME };
  return ok({ type: 'file', file });
}

/** Messages as the responses API takes them: text of the assistant is output, all other text is input. */
export function openAiResponsesInput(
  messages: readonly Message[],
  options: ClientOptions,
): Result<readonly JsonValue[], string> {
  const turns = wireTurns<JsonObject>(messages, (part, role) => {
    const type = role === 'assistant' ? 'output_text' : 'input_text';
    return withMetadata(part.kind === 'text' ? ok({ type, text: part.text }) : mediaItem(part), part, options);
  });
  return turns.ok ? ok(turns.value.map(({ role, parts }) => ({ role, content: parts }))) : turns;
}

function mediaItem(part: MediaPart): Result<JsonObject, string> {
  switch (part.media) {
    case 'image':
      return imageItem(part);
    case 'audio':
      return audioItem(part);
    case 'pdf':
      return pdfItem(part);
    case 'video':
      return err('cannot take video: the responses API has no such input. Send frames of it as images');
  }
}

function imageItem({ source }: MediaPart): Result<JsonObject, string> {
  if (source.kind === 'url') return ok({ type: 'input_image', detail: 'auto', image_url: source.url });
  const url = dataUrl(source);
  return url.ok ? ok({ type: 'input_image', detail: 'auto', image_url: url.value }) : url;
}

function audioItem({ source }: MediaPart): Result<JsonObject, string> {
  const audio = inlineAudio(source);
  return audio.ok ? ok({ type: 'input_audio', input_audio: { ...audio.value } }) : audio;
}

function pdfItem({ source }: MediaPart): Result<JsonObject, string> {
  if (source.kind === 'url') return ok({ type: 'input_file', file_url: source.url, filename: PDF_NAME });
  return ok({ type: 'input_file', file_data: pdfData(source), filename: PDF_NAME });
}

type Base64Source = MediaSource & { readonly kind: 'base64' };

function dataUrl(source: Base64Source): Result<string, string> {
  const inline = inlineData(source);
  return inline.ok ? ok(`data:${inline.value.mediaType};base64,${inline.value.data}`) : inline;
}

function pdfData({ mediaType, data }: Base64Source): string {
  return `data:${mediaType ?? 'application/pdf'};base64,${data}`;
}

/** The name of files that have none: OpenAI requires one. */
const PDF_NAME = 'document.pdf';

/** Both APIs take audio only inline, with its format (`wav`, `mp3`) by name. */
function inlineAudio(source: MediaSource): Result<{ readonly data: string; readonly format: string }, string> {
  const inline = inlineData(source);
  if (!inline.ok) return inline;
  return ok({ data: inline.value.data, format: formatName(inline.value.mediaType, AUDIO_FORMATS) });
}

const AUDIO_FORMATS = { mpeg: 'mp3', wave: 'wav', 'x-wav': 'wav', 'vnd.wave': 'wav' };
