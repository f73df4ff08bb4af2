import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message, MessagePart } from '../../prompt/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { dataUrl, inlineData } from './media-source.ts';
import { wireMetadata, wireRole } from './wire-role.ts';

/** Messages for chat completions; the failure says which part the API does not take. */
export type WireMessages = Result<readonly ChatCompletionMessageParam[], string>;

/** The name that files without one of their own get: the API asks for a name. */
const PDF_NAME = 'document.pdf';

/**
 * Messages as OpenAI documents them. With `plainText`, a message of one text part without metadata is a plain text:
 * many servers that follow the API know only that form.
 */
export function openAiChatMessages(
  messages: readonly Message[],
  options: ClientOptions,
  plainText: boolean,
): WireMessages {
  const wire: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    const content = contentOf(message, options, plainText);
    if (!content.ok) return content;
    // The role is whatever the client allows; providers have more of them than the package's types name.
    wire.push({ role: wireRole(message.role, options), content: content.value } as ChatCompletionMessageParam);
  }
  return ok(wire);
}

function contentOf(
  message: Message,
  options: ClientOptions,
  plainText: boolean,
): Result<string | readonly ChatCompletionContentPart[], string> {
  const [first] = message.parts;
  if (plainText && message.parts.length === 1 && first?.kind === 'text') {
    if (wireMetadata(first, options) === undefined) return ok(first.text);
  }
  const parts: ChatCompletionContentPart[] = [];
  for (const part of message.parts) {
    const wire = contentPart(part);
    if (!wire.ok) return wire;
    const metadata = wireMetadata(part, options);
    parts.push(metadata === undefined ? wire.value : { ...wire.value, ...metadata });
  }
  return ok(parts);
}

function contentPart(part: MessagePart): Result<ChatCompletionContentPart, string> {
  return part.kind === 'text' ? ok({ type: 'text', text: part.text }) : mediaPart(part);
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

/** The API takes audio only inline, with its format named by the subtype of the media type. */
function audioPart({ source }: MediaPart): Result<ChatCompletionContentPart, string> {
  const inline = inlineData(source);
  if (!inline.ok) return inline;
  const format = inline.value.mediaType.replace(/^audio\//u, '') as 'wav' | 'mp3';
  return ok({ type: 'input_audio', input_audio: { data: inline.value.data, format } });
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
