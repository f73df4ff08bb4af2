import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaSource } from '../../../schema/message.ts';

export interface InlineMedia {
  /** Base64. */
  readonly data: string;
  readonly mediaType: string;
}

/** Content that has to travel inside of the request. URLs must have been downloaded before (see `inline-media.ts`). */
export function inlineData(source: MediaSource, fallbackType?: string): Result<InlineMedia, string> {
  if (source.kind === 'url') return err('takes this media only inline, and its URL was not downloaded');
  const mediaType = source.mediaType ?? fallbackType;
  if (mediaType === undefined)
    return err('needs the "media_type" of base64 content, such as "image/png" or "audio/wav"');
  return ok({ data: source.data, mediaType });
}

/** Base64 content as a `data:` URL. */
export function dataUrl(source: MediaSource & { readonly kind: 'base64' }): Result<string, string> {
  const inline = inlineData(source);
  return inline.ok ? ok(`data:${inline.value.mediaType};base64,${inline.value.data}`) : inline;
}

/** The name that files without one of their own get: OpenAI asks for one. */
export const PDF_NAME = 'document.pdf';

/** Audio as OpenAI takes it: only inline, with its format (`wav`, `mp3`) by name. */
export function openAiAudio(source: MediaSource): Result<{ readonly data: string; readonly format: string }, string> {
  const inline = inlineData(source);
  if (!inline.ok) return inline;
  return ok({ data: inline.value.data, format: formatName(inline.value.mediaType, OPENAI_AUDIO) });
}

const OPENAI_AUDIO = { mpeg: 'mp3', wave: 'wav', 'x-wav': 'wav', 'vnd.wave': 'wav' };

/** A media type by the name that a provider has for it: that of `named`, or its subtype (`image/png` is `png`). */
export function formatName(mediaType: string, named: Readonly<Record<string, string>>): string {
  const subtype = mediaType.slice(mediaType.indexOf('/') + 1);
  return Object.hasOwn(named, subtype) ? (named[subtype] ?? subtype) : subtype;
}
