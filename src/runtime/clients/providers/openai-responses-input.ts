import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../prompt/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { dataUrl, inlineData } from './media-source.ts';
import { wireMetadata, wireRole } from './wire-role.ts';

const PDF_NAME = 'document.pdf';

/** Messages as the responses API takes them; what the assistant said is output, everything else input. */
export function openAiResponsesInput(
  messages: readonly Message[],
  options: ClientOptions,
): Result<readonly JsonValue[], string> {
  const input: JsonValue[] = [];
  for (const message of messages) {
    const content: JsonValue[] = [];
    const type = message.role === 'assistant' ? 'output_text' : 'input_text';
    for (const part of message.parts) {
      const wire = part.kind === 'text' ? ok<JsonObject>({ type, text: part.text }) : mediaItem(part);
      if (!wire.ok) return wire;
      content.push({ ...wire.value, ...wireMetadata(part, options) });
    }
    input.push({ role: wireRole(message.role, options), content });
  }
  return ok(input);
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
  const inline = inlineData(source);
  if (!inline.ok) return inline;
  const format = inline.value.mediaType.replace(/^audio\//u, '');
  return ok({ type: 'input_audio', input_audio: { data: inline.value.data, format } });
}

function pdfItem({ source }: MediaPart): Result<JsonObject, string> {
  if (source.kind === 'url') return ok({ type: 'input_file', file_url: source.url, filename: PDF_NAME });
  const data = `data:${source.mediaType ?? 'application/pdf'};base64,${source.data}`;
  return ok({ type: 'input_file', file_data: data, filename: PDF_NAME });
}
