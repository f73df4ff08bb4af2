import type { ByteBudget } from '../../../base/byte-budget.ts';
import type { ConnectionPools, Destination } from './connection-pools.ts';
import { ExchangeClock, type ExchangeLimits, type TimerName, DEFAULT_LIMITS } from './exchange-clock.ts';
import type { HttpCall, ResponseHeaders, ResponseListener, SentRequest, UpstreamFailure } from './origin-pool.ts';
import { type Result, err, ok } from '../../../base/result.ts';

/** Hears of the reply. `ended` or `failed` comes once, last. */
export interface ExchangeListener {
  /** The provider answers with success. */
  accepted(headers: ResponseHeaders): void;
  /** The bytes are valid until the microtasks of this turn have run. */
  data(chunk: Buffer): void;
  ended(): void;
  failed(failure: UpstreamFailure): void;
}

interface ExchangeOptions {
  readonly pools: Pick<ConnectionPools, 'to' | 'replies'>;
  /** Limits the bytes that readers hold; by default those of all replies. */
  readonly budget?: ByteBudget;
  readonly destination: Destination;
  readonly call: HttpCall;
  readonly limits: ExchangeLimits;
  /** On the monotonic clock. */
  readonly deadlineAt: number;
  /** The provider is asked for a stream. */
  readonly streamed: boolean;
}

/** A larger reply is refused: no model writes that much, so it is a fault or an attack. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

const MIB = 1024 * 1024;

/** The part of an error body that is read and kept. */
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * One request and its response, within limits of time and size. Refuses answers that it did not ask for (redirects,
 * compressed bodies).
 */
export class HttpExchange implements ResponseListener {
  /** Undefined once the request is sent: its connection keeps the bytes of the body, and nothing the text. */
  #options: ExchangeOptions | undefined;
  readonly #budget: ByteBudget;
  readonly #listener: ExchangeListener;
  readonly #clock: ExchangeClock;
  #request: SentRequest | undefined;
  #over = false;
  #status = 0;
  #headers: ResponseHeaders = NO_HEADERS;
  #errorBody: BodyBuffer | undefined;
  #bytes = 0;
  /** The part of them that the reader keeps. */
  #held = 0;
  readonly #reply: HeldReply;

  constructor(options: ExchangeOptions, listener: ExchangeListener) {
    this.#options = options;
    this.#listener = listener;
    this.#budget = options.budget ?? options.pools.replies;
    this.#reply = new HeldReply(this.#budget);
    this.#clock = new ExchangeClock(options.limits, {
      deadlineAt: options.deadlineAt,
      awaitsText: options.streamed,
      expired: (timer, afterMs) => this.#expired(timer, afterMs),
    });
  }

  /** Sends the request. The listener can hear of a failure before this method returns. */
  start(): void {
    if (this.#options === undefined) return;
    const { pools, destination, streamed, call } = this.#options;
    this.#options = undefined;
    this.#request = pools.to(destination).send(call, this, streamed);
  }

  /** The reader has the whole reply: the listener hears nothing more, and the connection is kept if the response ends soon. */
  finish(): void {
    if (this.#over) return;
    this.#close();
    this.#request?.finish();
  }

  /** Sets how many of the bytes so far the reader keeps. */
  keeps(bytes: number): void {
    this.#held = bytes;
    this.#reply.set(bytes);
  }

  /** Releases the bytes of the reply. Call it once the complete reply has been used; failures release them by themselves. */
  release(): void {
    this.#reply.release();
  }

  /** No one waits any more: the listener hears nothing more, and the provider sees the connection go. */
  cancel(): void {
    this.#close();
    this.release();
    this.#request?.cancel();
  }

  textArrived(): void {
    this.#clock.textArrived();
  }

  /** A hint: bytes on their way still arrive, and some connections cannot be paused. */
  pause(): void {
    if (!this.#over && this.#request?.pause() === true) this.#clock.paused();
  }

  /** As `pause`, if it lets the kernel gather bytes. */
  rest(): void {
    if (!this.#over && this.#request?.rest() === true) this.#clock.paused();
  }

  resume(): void {
    if (this.#over) return;
    this.#clock.resumed();
    this.#request?.resume();
  }

  onSent(): void {
    this.#clock.connected();
  }

  onResend(): void {
    this.#clock.connecting();
  }

  onHeaders(status: number, headers: ResponseHeaders): void {
    this.#clock.active();
    this.#status = status;
    this.#headers = headers;
    if (status >= 300) return;
    const encoding = first(headers['content-encoding']);
    if (encoding === undefined || encoding === 'identity') this.#listener.accepted(headers);
    else
      this.#fail({
        kind: 'unusable',
        status,
        message: `sent content-encoding "${encoding}", which svc did not ask for`,
      });
  }

  onData(chunk: Buffer): void {
    this.#clock.active();
    this.#bytes += chunk.length;
    this.#held += chunk.length;
    if (this.#status >= 300) this.#collectError(chunk);
    else if (this.#bytes > MAX_REPLY_BYTES) this.#fail(TOO_LARGE);
    else if (!this.#reply.set(this.#held)) this.#fail(noRoom(this.#budget));
    else this.#listener.data(chunk);
  }

  onEnd(): void {
    if (this.#status >= 300) {
      this.#failWithStatus();
      return;
    }
    this.#close();
    this.#listener.ended();
  }

  onFailure(failure: UpstreamFailure): void {
    if (this.#status >= 300) this.#failWithStatus();
    else this.#fail(failure);
  }

  #collectError(chunk: Buffer): void {
    this.#errorBody ??= new BodyBuffer();
    this.#errorBody.add(chunk);
    if (this.#bytes >= MAX_ERROR_BYTES) this.#failWithStatus();
  }

  #failWithStatus(): void {
    const status = this.#status;
    if (status < 400) {
      this.#fail({ kind: 'unusable', status, message: `answered ${status}, a redirect, which svc never follows` });
      return;
    }
    const body = this.#errorBody?.take().toString('utf8', 0, MAX_ERROR_BYTES) ?? '';
    const wait = retryAfterMs(first(this.#headers['retry-after-ms']), first(this.#headers['retry-after']));
    this.#fail({ kind: 'status', status, body, ...(wait === undefined ? {} : { retryAfterMs: wait }) });
  }

  #expired(timer: TimerName, afterMs: number): void {
    // The status is more useful than the fact that the rest of its body did not arrive.
    if (this.#status >= 300 && timer !== 'total') this.#failWithStatus();
    else this.#fail({ kind: 'timeout', timer, afterMs });
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.cancel();
    this.#listener.failed(failure);
  }

  #close(): void {
    this.#over = true;
    this.#clock.stop();
  }
}

const NO_HEADERS: ResponseHeaders = {};

const TOO_LARGE: UpstreamFailure = {
  kind: 'unusable',
  message: `sent a reply larger than ${MAX_REPLY_BYTES / MIB} MiB`,
};

/** A retry can succeed, because other replies release their memory. */
function noRoom({ limit }: ByteBudget): UpstreamFailure {
  const size = limit < MIB ? `${limit} bytes` : `${Math.round((limit / MIB) * 10) / 10} MiB`;
  return {
    kind: 'cut',
    message: `sent a reply for which this server has no memory left: it holds at most ${size} of replies at once`,
  };
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}

/** A longer wait is as good as "never": no call lives that long. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * Milliseconds for which a provider asks to be left alone; undefined if it does not, or if the value makes no sense.
 * `exact` is OpenAI's and Azure's `retry-after-ms`, `retryAfter` is seconds or an HTTP date (RFC 9110, 10.2.3).
 */
function retryAfterMs(exact: string | undefined, retryAfter: string | undefined): number | undefined {
  return numberOf(exact, 1) ?? numberOf(retryAfter, 1000) ?? untilDate(retryAfter);
}

function numberOf(text: string | undefined, unitMs: number): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/u.test(text.trim())) return undefined;
  return Math.min(Number(text) * unitMs, LONGEST_WAIT_MS);
}

function untilDate(text: string | undefined): number | undefined {
  if (text === undefined || !/[a-z]/iu.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - Date.now()), LONGEST_WAIT_MS);
}

/** The first bytes of each reply do not count: few replies are larger, and a thousand of this size fit in any worker. */
const FREE_BYTES = 64 * 1024;

/** The bytes of one reply that a process holds, from their arrival until the value of the reply is known. */
class HeldReply {
  readonly #budget: ByteBudget;
  #taken = 0;
  #released = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Sets the number of bytes. Returns false and changes nothing if all replies together would be too large. */
  set(bytes: number): boolean {
    if (this.#released) return true;
    const more = Math.max(0, bytes - FREE_BYTES) - this.#taken;
    if (more > 0 && !this.#budget.take(more)) return false;
    if (more < 0) this.#budget.give(-more);
    this.#taken += more;
    return true;
  }

  release(): void {
    this.set(0);
    this.#released = true;
  }
}

const NO_BYTES = Buffer.alloc(0);

/**
 * A copy of the bytes of a body, joined as they arrive. A provider can cut a body into chunks of a few bytes, and a list of those
 * takes a hundred times their size.
 */
export class BodyBuffer {
  /** As large as the first chunk, which is nearly always the whole body; from the second chunk on, larger than the body. */
  #bytes: Buffer = NO_BYTES;
  #length = 0;

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) this.#bytes = Buffer.from(chunk);
    else {
      if (length > this.#bytes.length) this.#grow(2 * length);
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns all bytes and keeps none. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = NO_BYTES;
    this.#length = 0;
    return bytes;
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafe(size);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** A token service answers immediately or not at all. */
const TIMEOUT_MS = 15_000;

export interface ServiceRequest {
  /** POST by default. */
  readonly method?: 'GET' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** 15 s by default. */
  readonly timeoutMs?: number;
}

/** Sends a request to a service other than a model, such as one for access tokens, and returns the text of the answer. */
export function askService(
  pools: ConnectionPools,
  url: string,
  request: ServiceRequest,
): Promise<Result<string, string>> {
  const target = new URL(url);
  const headers = [...Object.entries(request.headers ?? {}).flat(), 'accept-encoding', 'identity'];
  const method = request.method === undefined ? {} : { method: request.method };
  const call = { ...method, path: target.pathname + target.search, headers, body: request.body ?? '' };
  const destination = { origin: target.origin, guard: 'none' } as const;
  const deadlineAt = performance.now() + (request.timeoutMs ?? TIMEOUT_MS);
  return new Promise((resolve) => {
    const body = new BodyBuffer();
    const exchange = new HttpExchange(
      { pools, destination, call, limits: DEFAULT_LIMITS, deadlineAt, streamed: false },
      {
        accepted: () => {},
        data: (chunk) => body.add(chunk),
        ended: () => {
          exchange.release();
          resolve(ok(body.take().toString('utf8')));
        },
        failed: (failure) => resolve(err(described(failure))),
      },
    );
    exchange.start();
  });
}

/** Leaves out the body of an error: it can quote the request. */
function described(failure: UpstreamFailure): string {
  if (failure.kind === 'status') return `the service answered ${failure.status}`;
  return failure.kind === 'timeout' ? 'the service did not answer in time' : failure.message;
}
