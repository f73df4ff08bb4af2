import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { dataUrl, openAiAudio, PDF_NAME } from './media-source.ts';
import { wireTurns, withMetadata } from './wire-turns.ts';

/** Messages as the responses API takes them; what the assistant said is output, everything else input. */
export function openAiResponsesInput(
  messages: readonly Message[],
  options: ClientOptions,
): Result<readonly JsonValue[], string> {
  const turns = wireTurns<JsonObject>(messages, options, (part, role) => {
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
  const audio = openAiAudio(source);
  return audio.ok ? ok({ type: 'input_audio', input_audio: { ...audio.value } }) : audio;
}

function pdfItem({ source }: MediaPart): Result<JsonObject, string> {
  if (source.kind === 'url') return ok({ type: 'input_file', file_url: source.url, filename: PDF_NAME });
  const data = `data:${source.mediaType ?? 'application/pdf'};base64,${source.data}`;
  return ok({ type: 'input_file', file_data: data, filename: PDF_NAME });
}
