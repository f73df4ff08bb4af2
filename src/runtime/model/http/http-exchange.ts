import type { Dispatcher } from 'undici';
import { BodyBuffer } from './body-buffer.ts';
import { ExchangeClock } from './exchange-clock.ts';
import type { ExchangeLimits, TimerName } from './exchange-clock.ts';
import type { UpstreamFailure } from './upstream-failure.ts';
import { endedAfterUse, networkFault } from './network-fault.ts';
import { waitAskedFor } from './retry-after.ts';
import type { RequestHandler, Upstream } from './upstream.ts';

/** One request, complete: the same call sent twice is the same bytes. */
export interface HttpCall {
  /** POST when it says nothing. */
  readonly method?: 'GET' | 'PUT';
  readonly path: string;
  /** Name, value, name, value, …: undici takes it as it is. */
  readonly headers: readonly string[];
  readonly body: string;
}

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Told about the reply. Nothing comes after `ended` or `failed`, and exactly one of them comes. */
export interface ExchangeListener {
  /** The provider answers with success. */
  accepted(headers: ResponseHeaders): void;
  data(chunk: Buffer): void;
  ended(): void;
  failed(fault: UpstreamFailure): void;
}

interface ExchangeOptions {
  readonly upstream: Pick<Upstream, 'dispatch' | 'connected' | 'gaveUp' | 'responseEnded' | 'mayPause' | 'replies'>;
  readonly call: HttpCall;
  readonly limits: ExchangeLimits;
  readonly deadlineAt: number;
  readonly streamed: boolean;
}

/** A larger reply is refused: no model writes that much, so it is a fault or an attack. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** A smaller reply does not count as a large one: nearly none is larger. */
const SMALL_REPLY_BYTES = 1024 * 1024;

/** The part of an error body that is read and kept. */
const MAX_ERROR_BYTES = 64 * 1024;

/** After the reply is whole, the rest of the response may take this long and be this large, to keep the connection. */
const LINGER_MS = 1000;
const LINGER_BYTES = 64 * 1024;

/**
 * One request and its response on a pooled connection. It bounds time and size, refuses what was not asked for
 * (redirects, compressed bodies), and turns every fault of the network into a value.
 */
export class HttpExchange implements RequestHandler {
  readonly #options: ExchangeOptions;
  readonly #listener: ExchangeListener;
  readonly #clock: ExchangeClock;
  #controller: Dispatcher.DispatchController | undefined;
  #state: 'open' | 'lingering' | 'closed' = 'open';
  #awaitsConnection = false;
  /** When the request was written; Infinity before. */
  #writtenAt = Infinity;
  /** An interim answer came, so the request was taken. */
  #answered = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  readonly #errorBody = new BodyBuffer();
  #bytes = 0;
  /** Taken of the room for large replies. */
  #taken = 0;
  #resends = 0;
  #linger: NodeJS.Timeout | undefined;

  constructor(options: ExchangeOptions, listener: ExchangeListener) {
    this.#options = options;
    this.#listener = listener;
    this.#clock = new ExchangeClock({
      limits: options.limits,
      deadlineAt: options.deadlineAt,
      awaitsText: options.streamed,
      expired: (timer, afterMs) => this.#expired(timer, afterMs),
    });
  }

  get isOver(): boolean {
    return this.#state === 'closed';
  }

  /** Sends the request. A failure may be told before this returns. */
  start(): void {
    this.#send();
  }

  /** The reader has all it wants: the listener hears nothing more, and the connection is kept if it ends soon. */
  finish(): void {
    if (this.#state !== 'open') return;
    this.#state = 'lingering';
    this.#clock.stop();
    this.#giveRoomBack();
    this.#bytes = 0;
    this.#controller?.resume();
    this.#linger = setTimeout(() => this.#close('reply was whole'), LINGER_MS);
    this.#linger.unref();
  }

  /** Nobody waits any more: the listener hears nothing more, and the provider sees the connection go. */
  cancel(): void {
    this.#close('cancelled');
  }

  textArrived(): void {
    this.#clock.textArrived();
  }

  /** A hint: what is on its way still arrives, and some connections cannot be paused. */
  pause(): void {
    if (this.#state !== 'open' || !this.#options.upstream.mayPause) return;
    this.#controller?.pause();
    this.#clock.paused();
  }

  resume(): void {
    if (this.#state !== 'open') return;
    this.#clock.resumed();
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connected();
    if (this.#state === 'closed') {
      controller.abort(new Error('cancelled'));
      return;
    }
    this.#clock.connected();
    this.#writtenAt = performance.now();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#answered = true;
    if (this.#state !== 'open' || status < 200) return;
    this.#clock.active();
    this.#status = status;
    this.#headers = headers;
    if (status >= 300) return;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      this.#fail({
        kind: 'unusable',
        status,
        message: `sent content-encoding "${text(encoding)}" that nobody asked for`,
      });
      return;
    }
    this.#listener.accepted(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state === 'closed') return;
    this.#bytes += chunk.length;
    if (this.#state === 'lingering') {
      if (this.#bytes > LINGER_BYTES) this.#close('reply was whole');
      return;
    }
    this.#clock.active();
    if (this.#status >= 300) this.#collectError(chunk);
    else if (this.#bytes > MAX_REPLY_BYTES) this.#fail({ kind: 'unusable', message: TOO_LARGE });
    else if (this.#bytes > SMALL_REPLY_BYTES && !this.#takeRoom(chunk.length)) this.#fail(NO_ROOM);
    else this.#listener.data(chunk);
  }

  onResponseEnd(): void {
    this.#options.upstream.responseEnded();
    clearTimeout(this.#linger);
    if (this.#state !== 'open') {
      this.#state = 'closed';
      return;
    }
    if (this.#status >= 300) {
      this.#failWithStatus();
      return;
    }
    this.#state = 'closed';
    this.#clock.stop();
    this.#giveRoomBack();
    this.#listener.ended();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#linger);
    this.#connected();
    if (this.#state !== 'open') return;
    if (this.#status >= 300) this.#failWithStatus();
    else if (this.#mayResend(error)) this.#resend();
    else this.#fail(networkFault(error, this.#status !== 0));
  }

  #send(): void {
    const { upstream, call } = this.#options;
    this.#awaitsConnection = true;
    this.#writtenAt = Infinity;
    // Our own clock watches; undici's timers are coarse and would come on top.
    upstream.dispatch(
      {
        method: call.method ?? 'POST',
        path: call.path,
        headers: call.headers as string[],
        body: call.body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
    );
  }

  /**
   * A kept connection that the provider had closed before our request reached it: it has been used before and ended before or
   * as soon as it was used again. One that ends later may have ended over the request, which then was taken, and is paid for.
   */
  #mayResend(error: Error): boolean {
    if (this.#resends === MAX_RESENDS || this.#answered || !endedAfterUse(error)) return false;
    return performance.now() - this.#writtenAt < STALE_MS;
  }

  /** By another connection, in the next turn: of kept ones that ended at once, undici has heard of all by then. */
  #resend(): void {
    this.#resends += 1;
    this.#clock.connecting();
    setImmediate(() => {
      if (this.#state === 'open') this.#send();
    });
  }

  #connected(): void {
    if (!this.#awaitsConnection) return;
    this.#awaitsConnection = false;
    this.#options.upstream.connected();
  }

  #takeRoom(bytes: number): boolean {
    if (!this.#options.upstream.replies.take(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  #giveRoomBack(): void {
    if (this.#taken > 0) this.#options.upstream.replies.give(this.#taken);
    this.#taken = 0;
  }

  #collectError(chunk: Buffer): void {
    this.#errorBody.add(chunk);
    if (this.#bytes >= MAX_ERROR_BYTES) this.#failWithStatus();
  }

  #failWithStatus(): void {
    const status = this.#status;
    if (status < 400) {
      this.#fail({ kind: 'unusable', status, message: `answered ${status}, a redirect, which is never followed` });
      return;
    }
    const body = this.#errorBody.take().toString('utf8', 0, MAX_ERROR_BYTES);
    const wait = waitAskedFor({
      retryAfter: text(this.#headers['retry-after']),
      retryAfterMs: text(this.#headers['retry-after-ms']),
    });
    this.#fail({ kind: 'status', status, body, ...(wait === undefined ? {} : { retryAfterMs: wait }) });
  }

  #expired(timer: TimerName, afterMs: number): void {
    // The status says more than that the rest of its body did not come.
    if (this.#status >= 300 && timer !== 'total') this.#failWithStatus();
    else this.#fail({ kind: 'timeout', timer, afterMs });
  }

  #fail(fault: UpstreamFailure): void {
    if (this.#state !== 'open') return;
    this.#close('failed');
    this.#listener.failed(fault);
  }

  #close(reason: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#clock.stop();
    this.#giveRoomBack();
    clearTimeout(this.#linger);
    if (this.#awaitsConnection) {
      this.#awaitsConnection = false;
      this.#options.upstream.gaveUp();
    }
    this.#controller?.abort(new Error(reason));
  }
}

/** One more than the race with the end of a kept connection needs: the next one may be kept and ended as well. */
const MAX_RESENDS = 2;

/**
 * The end of a connection that the provider had closed already comes one round trip after the request, at the latest. This is
 * a long one within a continent; who is farther away, or ends over the request, is left to the retry policy.
 */
const STALE_MS = 100;

const NO_ROOM: UpstreamFailure = {
  kind: 'cut',
  message: 'sent a large reply while there was no room for more of them',
};

const TOO_LARGE = `sent a reply larger than ${MAX_REPLY_BYTES / 1024 / 1024} MiB`;

function text(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}
