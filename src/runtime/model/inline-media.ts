import { mediaTypeOfName } from '../../base/media-types.ts';
import { percentDecoded } from '../../base/percent-encoding.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { MediaUrlHandling } from '../../schema/providers/provider-description.ts';
import type { MediaKind } from '../../schema/type.ts';
import type { Message, MessagePart } from '../../schema/message.ts';
import type { FetchedMedia, MediaBudget } from './http/fetch-media.ts';

export type MediaHandling = (kind: MediaKind) => MediaUrlHandling;

interface Downloading {
  readonly fetch: (url: string) => Promise<Result<FetchedMedia, string>>;
  readonly room: MediaBudget;
}

/** True if a message contains a media URL that svc does not send unchanged. Most prompts contain none. */
export function needsInlining(messages: readonly Message[], handling: MediaHandling): boolean {
  return messages.some((message) => message.parts.some((part) => changes(part, handling)));
}

/** The messages with such media downloaded, or with its type added, according to the client's `media_url_handler`. */
export async function inlineMedia(
  messages: readonly Message[],
  handling: MediaHandling,
  downloading: Downloading,
): Promise<Result<readonly Message[], string>> {
  const inlined: Message[] = [];
  for (const message of messages) {
    const parts: MessagePart[] = [];
    for (const part of message.parts) {
      const made = changes(part, handling) ? await inlinePart(part, handling, downloading) : ok(part);
      if (!made.ok) return made;
      parts.push(made.value);
    }
    inlined.push({ ...message, parts });
  }
  return ok(inlined);
}

function changes(part: MessagePart, handling: MediaHandling): boolean {
  if (part.kind === 'text' || part.source.kind !== 'url') return false;
  // A `data:` URL is content for every provider; only a provider that can reach S3 gets such a URL.
  if (isDataUrl(part.source.url)) return true;
  if (part.source.url.startsWith('s3://')) return false;
  switch (handling(part.media)) {
    case 'send_url':
      return false;
    case 'send_base64':
      return true;
    case 'send_url_add_mime_type':
      return part.source.mediaType === undefined;
    case 'send_base64_unless_google_url':
      return !isGoogleUrl(part.source.url);
  }
}

async function inlinePart(
  part: MessagePart,
  handling: MediaHandling,
  { fetch, room }: Downloading,
): Promise<Result<MessagePart, string>> {
  if (part.kind === 'text' || part.source.kind !== 'url') return ok(part);
  const { url, mediaType: declared } = part.source;
  if (isDataUrl(url)) return contentOf(part, url, declared);
  const named = declared ?? mediaTypeOfName(url);
  if (handling(part.media) === 'send_url_add_mime_type' && named !== undefined) {
    return ok({ ...part, source: { kind: 'url', url, mediaType: named } });
  }
  const fetched = await fetch(url);
  if (!fetched.ok) return err(fetched.failure);
  const mediaType = declared ?? fetched.value.mediaType ?? named;
  const type = mediaType === undefined ? {} : { mediaType };
  if (handling(part.media) === 'send_url_add_mime_type') return ok({ ...part, source: { kind: 'url', url, ...type } });
  const { data } = fetched.value;
  const refused = room.take(Buffer.byteLength(data, 'base64'));
  return refused === undefined ? ok({ ...part, source: { kind: 'base64', data, ...type } }) : err(refused);
}

function isDataUrl(url: string): boolean {
  return /^data:/iu.test(url);
}

/** A `data:` URL (RFC 2397): its content, and its type unless the request states another. */
function contentOf(part: MessagePart, url: string, declared: string | undefined): Result<MessagePart, string> {
  const comma = url.indexOf(',');
  if (comma < 0) return err('cannot take a data: URL that has no comma before its content');
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  const content = url.slice(comma + 1);
  const encoded = parameters.at(-1)?.trim().toLowerCase() === 'base64';
  const data = encoded ? content : Buffer.from(percentDecoded(content) ?? content).toString('base64');
  const mediaType = declared ?? type;
  return ok({ ...part, source: { kind: 'base64', data, ...(mediaType === '' ? {} : { mediaType }) } } as MessagePart);
}

/** URLs that Google's services fetch themselves: Cloud Storage and files uploaded to Gemini. */
function isGoogleUrl(url: string): boolean {
  return url.startsWith('gs://') || url.startsWith('https://generativelanguage.googleapis.com/');
}
