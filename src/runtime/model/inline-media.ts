import { mediaTypeOfName } from '../../base/media-types.ts';
import { percentDecoded } from '../../base/percent-encoding.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { MediaUrlHandling } from '../../schema/providers/provider-description.ts';
import type { MediaKind } from '../../schema/type.ts';
import type { Message, MessagePart } from '../../schema/message.ts';
import type { ByteBudget } from '../../base/byte-budget.ts';
import type { Cancellation } from '../../base/cancellation.ts';
import { hostRefusal, type AddressGuard } from './http/address-guard.ts';
import { BodyBuffer, HttpExchange, type ExchangeListener } from './http/http-exchange.ts';
import type { ConnectionPools } from './http/connection-pools.ts';
import type { ResponseHeaders, UpstreamFailure } from './http/origin-pool.ts';

export type MediaHandling = (kind: MediaKind) => MediaUrlHandling;

interface Downloading {
  readonly fetch: (url: string) => Promise<Result<FetchedMedia, string>>;
  readonly room: MediaBudget;
}

/** True if a message contains a media URL, which svc has to check, and perhaps to download. Most prompts contain none. */
export function hasMediaUrl(messages: readonly Message[]): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.kind === 'media' && part.source.kind === 'url'));
}

/**
 * Returns why a media URL of the messages must not be sent: its scheme, or its address. `resolve` returns the reason why no address
 * of a name is allowed; it is called for the URLs that the provider fetches itself. Undefined: these hosts are not resolved.
 */
export async function mediaUrlFault(
  messages: readonly Message[],
  handling: MediaHandling,
  guard: AddressGuard,
  resolve: ((hostname: string) => Promise<string | undefined>) | undefined,
): Promise<string | undefined> {
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.kind === 'text' || part.source.kind !== 'url' || isDataUrl(part.source.url)) continue;
    const { url } = part.source;
    const target = webUrl(url);
    if (target === undefined) {
      if (OF_PROVIDER.test(url) || (guard === 'not-link-local' && !/^\s*https?:/iu.test(url))) continue;
      return 'a media URL has to begin with http://, https:// or data:, and contain no space and no backslash';
    }
    const refused =
      hostRefusal(target.hostname, guard) ?? (changes(part, handling) ? undefined : await resolve?.(target.hostname));
    if (refused !== undefined) return `the media URL of "${target.host}" is not allowed: ${refused}`;
  }
  return undefined;
}

/** Objects in the storage of providers, and the ids of uploaded files. The slashes of an id separate names, so no id is a path. */
const OF_PROVIDER = /^(?:(?:gs|s3):\/\/|[\w-]+(?:\/[\w-]+)*$)/u;

/** Returns undefined for other schemes, and for text that URL parsers read in different ways. */
function webUrl(url: string): URL | undefined {
  return /^https?:\/\/[^\s\\\p{Cc}]*$/iu.test(url) && URL.canParse(url) ? new URL(url) : undefined;
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

interface FetchedMedia {
  /** Base64. */
  readonly data: string;
  /** The server's media type without parameters; absent if it sends none. */
  readonly mediaType?: string;
}

interface MediaFetching {
  readonly pools: ConnectionPools;
  /** URLs of media come from arguments, so they are never trusted. */
  readonly guard: AddressGuard;
  /** The end of the call ends the download. */
  readonly cancellation: Cancellation;
}

/** Providers accept 20 to 30 MB inline; more would only fill memory. */
const MAX_MEDIA_BYTES = 32 * 1024 * 1024;

const LIMITS = { connectMs: 10_000, firstTokenMs: 0, idleMs: 10_000, requestMs: 60_000 };

/** Downloads the media behind a URL of an argument. Does not follow redirects. The failure completes `The client "X" …`. */
export function fetchMedia(url: string, fetching: MediaFetching): Promise<Result<FetchedMedia, string>> {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (target === undefined || !/^https?:$/u.test(target.protocol)) {
    return Promise.resolve(err('accepts media only by an http or https URL'));
  }
  const refused = hostRefusal(target.hostname, fetching.guard);
  if (refused !== undefined) return Promise.resolve(err(`was given a media URL that is not allowed: ${refused}`));
  return new Promise((resolve) => new Download(target, fetching, resolve));
}

class Download implements ExchangeListener {
  readonly #exchange: HttpExchange;
  readonly #resolve: (result: Result<FetchedMedia, string>) => void;
  readonly #host: string;
  readonly #forget: () => void;
  #type: string | undefined;
  readonly #body = new BodyBuffer();
  #bytes = 0;

  constructor(target: URL, fetching: MediaFetching, resolve: (result: Result<FetchedMedia, string>) => void) {
    this.#resolve = resolve;
    this.#host = target.host;
    const call = { method: 'GET', path: target.pathname + target.search, headers: HEADERS, body: '' } as const;
    const { pools, guard } = fetching;
    const destination = { origin: target.origin, guard };
    this.#exchange = new HttpExchange(
      { pools, budget: pools.downloads, destination, call, limits: LIMITS, deadlineAt: Infinity, streamed: false },
      this,
    );
    this.#forget = fetching.cancellation.onCancel((reason) => {
      this.#exchange.cancel();
      this.#resolve(err(reason));
    });
    this.#exchange.start();
  }

  accepted(headers: ResponseHeaders): void {
    const type = headers['content-type'];
    if (typeof type === 'string') this.#type = type.replace(/;.*$/u, '').trim().toLowerCase();
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#body.add(chunk);
    if (this.#bytes <= MAX_MEDIA_BYTES) return;
    this.#exchange.cancel();
    this.#end(err(`was given media larger than ${MAX_MEDIA_BYTES / 1024 / 1024} MiB`));
  }

  ended(): void {
    const data = this.#body.take().toString('base64');
    this.#end(ok({ data, ...(this.#type === undefined ? {} : { mediaType: this.#type }) }));
  }

  failed(failure: UpstreamFailure): void {
    this.#end(
      err(`needs the media of an argument inline, but its download from ${this.#host} failed: ${described(failure)}`),
    );
  }

  #end(result: Result<FetchedMedia, string>): void {
    this.#forget();
    this.#exchange.release();
    this.#resolve(result);
  }
}

function described(failure: UpstreamFailure): string {
  if (failure.kind === 'status') return `answered ${failure.status}`;
  return failure.kind === 'timeout' ? `timer ${failure.timer}` : failure.message;
}

const HEADERS = ['accept', '*/*', 'accept-encoding', 'identity'];

/** Providers accept 20 to 50 MB per request. Here a call holds several times its media: as base64, in the JSON, and as bytes. */
const MAX_CALL_BYTES = 64 * 1024 * 1024;

/** The bytes of media that one call sends inline, held from their download to the end of the call. */
export class MediaBudget {
  readonly #ofAll: ByteBudget;
  #held = 0;
  #released = false;

  constructor(ofAll: ByteBudget) {
    this.#ofAll = ofAll;
  }

  /** Takes `bytes` from the budget; returns the reason if that is not possible. */
  take(bytes: number): string | undefined {
    if (this.#released) return 'is no longer asked';
    if (this.#held + bytes > MAX_CALL_BYTES) {
      return `was given more than ${MAX_CALL_BYTES / 1024 / 1024} MiB of media to send inline`;
    }
    if (!this.#ofAll.take(bytes)) return 'was given media to send inline while the server held too much of it already';
    this.#held += bytes;
    return undefined;
  }

  /** The call is over. */
  release(): void {
    this.#released = true;
    this.#ofAll.give(this.#held);
    this.#held = 0;
  }
}
