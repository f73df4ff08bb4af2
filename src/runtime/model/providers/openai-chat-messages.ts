import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { dataUrl, openAiAudio, PDF_NAME } from './media-source.ts';
import { wireTurns, withMetadata } from './wire-turns.ts';
import type { WireTurn } from './wire-turns.ts';

/** Messages for chat completions; the failure says which part the API does not take. */
export type WireMessages = Result<readonly ChatCompletionMessageParam[], string>;

/**
 * Messages as OpenAI documents them. With `plainText`, a message of one text part without metadata is a plain text:
 * many servers that follow the API know only that form.
 */
export function openAiChatMessages(
  messages: readonly Message[],
  options: ClientOptions,
  plainText: boolean,
): WireMessages {
  const turns = wireTurns<ChatCompletionContentPart>(messages, options, (part) => {
    return withMetadata(part.kind === 'text' ? textPart(part.text) : mediaPart(part), part, options);
  });
  if (!turns.ok) return turns;
  const wire = turns.value.map((turn) => ({ role: turn.role, content: contentOf(turn, plainText) }));
  // The role is whatever the client allows; providers have more of them than the package's types name.
  return ok(wire as readonly ChatCompletionMessageParam[]);
}

/** A part with metadata has more members than its type and its text. */
function contentOf(
  { parts }: WireTurn<ChatCompletionContentPart>,
  plainText: boolean,
): string | readonly ChatCompletionContentPart[] {
  const [only] = parts;
  if (!plainText || parts.length !== 1 || only?.type !== 'text') return parts;
  return Object.keys(only).length === 2 ? only.text : parts;
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
  const audio = openAiAudio(source);
  if (!audio.ok) return audio;
  const format = audio.value.format as 'wav' | 'mp3';
  return ok({ type: 'input_audio', input_audio: { data: audio.value.data, format } });
}

function pdfPart({ source }: MediaPart): Result<ChatCompletionContentPart, string> {
  if (source.kind === 'base64') {
    return ok({
      type: 'file',
      file: { filename: PDF_NAME, file_data: `data:${source.mediaType ?? 'application/pdf'};base64,${source.data}` },
    });
  }
  const file = { type: 'input_file', file_url: source.url, filename: PDF_NAME };
  return ok({ type: 'file', file });
}
