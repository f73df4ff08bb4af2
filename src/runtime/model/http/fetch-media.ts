import type { ByteBudget } from '../../../base/byte-budget.ts';
import type { Cancellation } from '../../../base/cancellation.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { hostRefusal } from './address-guard.ts';
import type { AddressGuard } from './address-guard.ts';
import { BodyBuffer } from './body-buffer.ts';
import type { ConnectionPools } from './connection-pools.ts';
import { HttpExchange } from './http-exchange.ts';
import type { ExchangeListener } from './http-exchange.ts';
import type { ResponseHeaders } from './origin-pool.ts';
import type { UpstreamFailure } from './upstream-failure.ts';

export interface FetchedMedia {
  /** Base64. */
  readonly data: string;
  /** The server's media type without parameters; absent if it sends none. */
  readonly mediaType?: string;
}

export interface MediaFetching {
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
