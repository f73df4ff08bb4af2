import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { Readable } from 'node:stream';
import { codeOf } from '../../../base/invariant.ts';
import { errorCodeName, isPlainEnd, loadHttp2, type Http2Session } from './http2-session.ts';
import {
  LINGER_BYTES,
  LINGER_MS,
  type HttpCall,
  type OriginPool,
  type ResponseListener,
  type SentRequest,
  connectionFailure,
  type UpstreamFailure,
} from './origin-pool.ts';
import type { ReadClock } from './exchange-clock.ts';

/** The pool of a request. */
export interface Http2RequestOwner {
  readonly authority: string;
  readonly scheme: string;
  readonly clock: ReadClock;
  /** The request needs a session. */
  wait(request: Http2Request): void;
  /** The request, which was waiting, needs no session any more. */
  gaveUp(request: Http2Request): void;
  /** The server demands HTTP/1.1. Returns false if the client does not allow that. */
  downgrade(): boolean;
}

/**
 * A server that stops one connection after another refuses a request a few times. One that refuses it more often does not
 * want it; the retry policy decides what to do.
 */
const MAX_RESENDS = 5;

/** If nothing at all arrived on a connection for this time before a request on it is given up, the connection can be dead. */
const SILENT_MS = 500;

const NO_ERROR = 0;
const REFUSED_STREAM = 7;
const CANCEL = 8;
const HTTP_1_1_REQUIRED = 13;

/** Credentials stay out of the compression's memory: whoever sees sizes of later requests could guess them. */
const SECRET_HEADERS = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'x-amz-security-token', 'cookie'];

/** The request of a stream: all streams share their listeners. */
const REQUEST: unique symbol = Symbol('request');

/** The server ended the response, and the stream was not only closed. */
const IS_WHOLE: unique symbol = Symbol('the response is whole');

interface RequestStream extends ClientHttp2Stream {
  [REQUEST]: Http2Request;
  [IS_WHOLE]: boolean;
}

/** One request over HTTP/2, from the wait for a session to the end of its stream. */
export class Http2Request implements SentRequest {
  readonly listener: ResponseListener;
  readonly streamed: boolean;
  readonly #owner: Http2RequestOwner;
  readonly #call: HttpCall;
  #state: 'waiting' | 'open' | 'lingering' | 'closed' = 'waiting';
  #session: Http2Session | undefined;
  #stream: RequestStream | undefined;
  /** The request over HTTP/1.1, if the server speaks nothing else. */
  #http1: SentRequest | undefined;
  #isPaused = false;
  #answer: 'none' | 'interim' | 'final' = 'none';
  #error: Error | undefined;
  #resends = 0;
  #writtenAt = 0;
  #heardBefore = 0;
  /** The connection had worked before the request was sent. */
  #isKept = false;
  /** On the clock of the pool: an earlier end of the connection was on its way before the request. */
  #staleUntil = 0;
  #lingeringBytes = 0;
  #linger: NodeJS.Timeout | undefined;

  constructor(owner: Http2RequestOwner, call: HttpCall, options: { listener: ResponseListener; streamed: boolean }) {
    this.#owner = owner;
    this.#call = call;
    this.listener = options.listener;
    this.streamed = options.streamed;
  }

  /** The session has a place for this request. */
  sendOver(session: Http2Session): void {
    const { body } = this.#call;
    let stream: ClientHttp2Stream;
    try {
      stream = session.enter(this.#headers(), body === '');
    } catch (error) {
      this.fail({ kind: 'unusable', message: `could not be called: ${String(error)}` });
      return;
    }
    this.#state = 'open';
    this.#session = session;
    this.#stream = prepared(stream, this);
    this.#error = undefined;
    this.#writtenAt = performance.now();
    this.#staleUntil = this.#owner.clock.open();
    this.#heardBefore = session.pulse.heard;
    this.#isKept = session.pulse.heardAt > 0;
    if (body !== '') stream.end(body);
    this.listener.onSent();
  }

  /** The server speaks HTTP/1.1, and another pool sends the request. */
  sendBy(pool: OriginPool): void {
    this.#state = 'open';
    this.#http1 = pool.send(this.#call, this.listener, this.streamed);
  }

  /** Ends the request, which no session took. */
  fail(failure: UpstreamFailure): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.listener.onFailure(failure);
  }

  pause(): boolean {
    if (this.#http1 !== undefined) return this.#http1.pause();
    if (this.#state !== 'open') return false;
    this.#isPaused = true;
    if (this.#answer === 'final') this.#stream?.pause();
    return true;
  }

  /** Node parses the frames of all requests of a session as they arrive, and calls back for each. */
  rest(): boolean {
    return this.#http1?.rest() ?? false;
  }

  resume(): void {
    this.#http1?.resume();
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#answer === 'final') this.#stream?.resume();
  }

  finish(): void {
    this.#http1?.finish();
    if (this.#state !== 'open' || this.#stream === undefined) return;
    this.#state = 'lingering';
    this.resume();
    this.#linger = setTimeout(() => this.cancel(), LINGER_MS);
    this.#linger.unref();
  }

  cancel(): void {
    this.#http1?.cancel();
    if (this.#state === 'closed') return;
    const isWaiting = this.#state === 'waiting';
    this.#close();
    if (isWaiting) this.#owner.gaveUp(this);
    else this.#reset();
  }

  interim(): void {
    if (this.#answer === 'none') this.#answer = 'interim';
    this.#session?.pulse.hear();
    this.#session?.countCallback();
  }

  response(headers: IncomingHttpHeaders): void {
    this.#session?.pulse.hear();
    this.#session?.allowHeaders();
    this.#answer = 'final';
    const stream = this.#stream;
    if (stream === undefined || this.#state === 'closed') return;
    if (this.#state === 'open') this.listener.onHeaders(Number(headers[':status']), headers);
    stream.on('data', onData).on('end', onEnd);
    if (this.#isPaused) stream.pause();
  }

  /**
   * Bytes of the response arrived. Returns true if they were passed on: at once, because the stream would take longer to pass on
   * each frame than svc to read it. They wait in the stream while the request is paused, or others wait there.
   */
  arrived(chunk: Buffer, stream: RequestStream): boolean {
    this.#session?.allowData(chunk);
    if (this.#answer !== 'final' || this.#isPaused || stream.readableLength > 0) return false;
    this.data(chunk);
    return true;
  }

  data(chunk: Buffer): void {
    this.#session?.pulse.hear();
    if (this.#state === 'open') this.listener.onData(chunk);
    if (this.#state !== 'lingering') return;
    this.#lingeringBytes += chunk.length;
    if (this.#lingeringBytes > LINGER_BYTES) this.cancel();
  }

  /** The stream has no more bytes. If that is not the end of the response, its close reports the failure. */
  end(): void {
    const stream = this.#stream;
    if (stream === undefined || !stream[IS_WHOLE]) return;
    const isAwaited = this.#state === 'open';
    this.#close();
    // The server needs no more of the request.
    if (!stream.writableFinished) stream.close(NO_ERROR);
    this.#leave();
    if (isAwaited) this.listener.onEnd();
  }

  failed(error: Error): void {
    this.#error = error;
  }

  /** The stream is closed, by whichever side. */
  closed(): void {
    const stream = this.#stream;
    const session = this.#session;
    if (stream === undefined || session === undefined || this.#state === 'closed') return;
    const isAwaited = this.#state === 'open';
    this.#close();
    if (!session.isGone) session.pulse.hear();
    this.#leave();
    if (!isAwaited) return;
    if (this.#answer !== 'final') {
      const isDowngraded = stream.rstCode === HTTP_1_1_REQUIRED && this.#owner.downgrade();
      if (isDowngraded || (this.#resends < MAX_RESENDS && this.#wasNotTaken(stream, session))) {
        this.#resend();
        return;
      }
    }
    this.listener.onFailure(connectionFailure(this.#reason(stream, session), this.#answer === 'final'));
  }

  #headers(): OutgoingHttpHeaders {
    const { method = 'POST', path, headers, body } = this.#call;
    const { authority, scheme } = this.#owner;
    const all: OutgoingHttpHeaders = { ':method': method, ':authority': authority, ':scheme': scheme, ':path': path };
    for (let at = 0; at + 1 < headers.length; at += 2) all[headers[at] ?? ''] = headers[at + 1];
    if (body !== '') all['content-length'] = Buffer.byteLength(body);
    return Object.assign(all, { [loadHttp2().sensitiveHeaders]: SECRET_HEADERS });
  }

  /**
   * True if the server stated that it did not take the request (RFC 9113, 8.7), or if it had left a kept connection before
   * the request arrived: the session ended at once, and nothing arrived on it since. A later end can have been the answer to the
   * request, which then was taken and is paid for.
   */
  #wasNotTaken(stream: RequestStream, session: Http2Session): boolean {
    if (stream.rstCode === REFUSED_STREAM || session.refused(stream)) return true;
    if (this.#answer !== 'none' || !session.hasLeft || !isPlainEnd(this.#error)) return false;
    return this.#isKept && session.pulse.heard === this.#heardBefore && this.#owner.clock.isOpen(this.#staleUntil);
  }

  #resend(): void {
    this.#resends += 1;
    this.#state = 'waiting';
    this.#answer = 'none';
    this.listener.onResend();
    // The listener can have ended the request.
    if (!this.isOver) this.#owner.wait(this);
  }

  get isOver(): boolean {
    return this.#state === 'closed';
  }

  #reason(stream: RequestStream, session: Http2Session): Error {
    if (session.isGone && session.reason !== undefined) return session.reason;
    if (this.#error !== undefined && codeOf(this.#error) !== 'ERR_HTTP2_STREAM_ERROR') return this.#error;
    if (session.isGone) return new Error('the connection ended');
    return new Error(`the HTTP/2 stream ended with ${errorCodeName(stream.rstCode)}`);
  }

  #close(): void {
    this.#state = 'closed';
    clearTimeout(this.#linger);
  }

  /** The server sees RST_STREAM. The place is free at once. */
  #reset(): void {
    const session = this.#session;
    session?.allowRest();
    this.#stream?.close(CANCEL);
    this.#leave();
    if (session === undefined) return;
    const silentSince = Math.max(this.#writtenAt, session.pulse.heardAt);
    if (performance.now() - silentSince > SILENT_MS) session.pulse.suspect();
  }

  #leave(): void {
    const session = this.#session;
    this.#session = undefined;
    this.#stream = undefined;
    session?.leave();
  }
}

function prepared(stream: ClientHttp2Stream, request: Http2Request): RequestStream {
  const all = Object.assign(stream, { [REQUEST]: request, [IS_WHOLE]: false, push: pushed });
  all.on('response', onResponse).on('headers', onInterim).on('error', onError).on('close', onClose);
  return all;
}

/** Node also ends the bytes of a stream that was only closed, such as by RST_STREAM with NO_ERROR. */
function pushed(this: RequestStream, chunk: unknown, encoding?: BufferEncoding): boolean {
  if (Buffer.isBuffer(chunk) && this[REQUEST].arrived(chunk, this)) return true;
  if (chunk === null && !this.closed) this[IS_WHOLE] = true;
  return Readable.prototype.push.call(this, chunk, encoding);
}

function onResponse(this: RequestStream, headers: IncomingHttpHeaders): void {
  this[REQUEST].response(headers);
}

function onInterim(this: RequestStream): void {
  this[REQUEST].interim();
}

function onData(this: RequestStream, chunk: Buffer): void {
  this[REQUEST].data(chunk);
}

function onEnd(this: RequestStream): void {
  this[REQUEST].end();
}

function onError(this: RequestStream, error: Error): void {
  this[REQUEST].failed(error);
}

function onClose(this: RequestStream): void {
  this[REQUEST].closed();
}
