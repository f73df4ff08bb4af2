import type * as Http2 from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { codeOf } from '../../../base/invariant.ts';

/** Gets the changes in the state of a session. */
export interface SessionOwner {
  /** The number of requests that the session can take has changed, or is known for the first time. */
  placesChanged(session: Http2Session): void;
  /** The session takes no more requests. Those in flight continue, unless it failed. */
  retired(session: Http2Session): void;
  /** The session took its last request, and no request is in flight. */
  ended(session: Http2Session): void;
}

/** Servers allow 100 to 250 streams. More on one TCP connection would all wait for each lost packet. */
const MAX_STREAMS = 256;

/** At most this much of a reply waits in memory while its reader pauses. It allows 2.5 MB/s over a path of 100 ms. */
const STREAM_WINDOW_BYTES = 256 * 1024;

/**
 * Bytes of all streams together that the server can send ahead. Node gives them back as they arrive, so a reader that
 * pauses stalls only its own stream.
 */
const SESSION_WINDOW_BYTES = 4 * 1024 * 1024;

/** The limit of llhttp for the headers of a response over HTTP/1.1. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Answers of providers have a few dozen. */
const MAX_HEADERS = 128;

/** Request headers of a definition are limited by the server, not here. */
const MAX_SENT_HEADER_BYTES = 1024 * 1024;

/** Megabytes that nghttp2 can hold for one session: requests with inlined media wait here while they are sent. */
const SESSION_MEMORY_MB = 256;

/** Checks after which a session without requests is closed: a minute. Until then, pings show that the server is there. */
const IDLE_CHECKS = 12;

/**
 * Bytes without progress that a server can send between two checks: pings, settings, interim responses, window updates, padding, and
 * frames that no one asked for. Node reports few of these frames, but counts the bytes of all.
 */
const ALLOWANCE_BYTES = 512 * 1024;

/** A frame that costs a callback or an answer counts as this many: a check allows 1,000. */
const CALLBACK_BYTES = 512;

/** The most that headers of frames, and their padding, can add to the data that one event reports. */
const FRAMING_BYTES = 1024;

/** The time between two counts of the bytes. Until then, a flood takes turns with everything else in the event loop. */
const COUNT_MS = 250;

/** The time that the last frames of a session have to leave. */
const FAREWELL_MS = 1000;

/** Loads a module that only https needs: 6 ms in each process. */
export function loadHttp2(): typeof Http2 {
  return process.getBuiltinModule('node:http2');
}

/**
 * One HTTP/2 connection to an origin (RFC 9113). It counts its requests, follows the server's settings, checks
 * that the server is still there (one timer for all requests), and closes itself after a minute without requests.
 */
export class Http2Session {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #owner: SessionOwner;
  /** Shows whether the server is still there. */
  readonly pulse: Http2Pulse;
  /** The number of requests that the server allows at one time: 0 until its first settings arrive. */
  limit = 0;
  #isAcknowledged = false;
  #hasSettings = false;
  /** The reason for the end of the connection, if the server or svc stated one. */
  reason: Error | undefined;
  /** The server announced the end of the connection (GOAWAY). */
  isAnnounced = false;
  /** The session took a request. */
  hasServed = false;
  inFlight = 0;
  #state: 'open' | 'retired' | 'ended' = 'open';
  /** The last request that the server took, if it stated that. */
  #lastTaken = Infinity;
  /** The bytes without progress that the server can still send. */
  #allowance = ALLOWANCE_BYTES;
  #counted = 0;
  readonly #counter: NodeJS.Timeout;
  #idleChecks = 0;

  /** `socket` is connected, and both sides agreed on HTTP/2. */
  constructor(socket: Socket, origin: string, owner: SessionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#session = loadHttp2().connect(origin, {
      createConnection: () => socket,
      maxHeaderListPairs: MAX_HEADERS,
      maxSendHeaderBlockLength: MAX_SENT_HEADER_BYTES,
      maxSessionMemory: SESSION_MEMORY_MB,
      maxReservedRemoteStreams: 0,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_BYTES },
    });
    this.#session
      .once('connect', () => {
        if (!this.#session.destroyed) this.#session.setLocalWindowSize(SESSION_WINDOW_BYTES);
      })
      .on('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }) => this.#setLimit(maxConcurrentStreams))
      .once('localSettings', () => {
        this.#isAcknowledged = true;
        if (this.#state === 'open') this.#owner.placesChanged(this);
      })
      .on('ping', () => this.countCallback())
      .on('altsvc', () => this.countCallback())
      .on('origin', () => this.countCallback())
      .on('goaway', (code: number, lastTaken: number) => {
        if (lastTaken < UNDECIDED) this.#lastTaken = lastTaken;
        this.isAnnounced = true;
        if (code !== NO_ERROR) this.reason ??= new Error(`the connection ended with ${errorCodeName(code)}`);
        this.retire();
      })
      .on('error', (error) => {
        if (!isPlainEnd(error)) this.reason ??= error;
        this.retire();
      })
      .on('frameError', () => this.retire())
      .once('close', () => {
        this.retire();
        this.#end();
      });
    this.#session.unref();
    this.#counted = socket.bytesRead;
    this.#counter = setInterval(() => this.#countBytes(), COUNT_MS).unref();
    this.pulse = new Http2Pulse(this);
  }

  /** The number of requests that the session can take now. */
  get places(): number {
    if (this.#state !== 'open' || this.pulse.isSuspect || this.#session.closed || this.#session.destroyed) return 0;
    return this.isSettled ? this.limit - this.inFlight : 0;
  }

  /** The server's settings have arrived, and it has applied those of svc: its limits hold from the first response on. */
  get isSettled(): boolean {
    return this.#hasSettings && this.#isAcknowledged;
  }

  /** The connection has ended. */
  get isGone(): boolean {
    return this.#session.destroyed;
  }

  /** The connection has ended, and the server stated neither an error nor which requests it took. */
  get hasLeft(): boolean {
    return this.#session.destroyed && this.#lastTaken === Infinity && this.reason === undefined;
  }

  /** svc closed the connection, because no request used it for a minute. */
  get wasIdle(): boolean {
    return this.#idleChecks === IDLE_CHECKS;
  }

  /** Opens a stream, which occupies a place until `leave` is called. Throws if the headers cannot be sent. */
  enter(headers: OutgoingHttpHeaders, isWhole: boolean): ClientHttp2Stream {
    const stream = this.#session.request(headers, isWhole ? WITHOUT_BODY : WITH_BODY);
    this.hasServed = true;
    this.inFlight += 1;
    if (this.inFlight === 1) this.#session.ref();
    this.#idleChecks = 0;
    return stream;
  }

  leave(): void {
    this.inFlight -= 1;
    if (this.#state === 'open') {
      if (this.inFlight === 0) this.#session.unref();
      this.#owner.placesChanged(this);
    } else this.#endIfUnused();
  }

  /** True if the server stated that it did not take the request of this stream, or if the stream never began. */
  refused(stream: ClientHttp2Stream): boolean {
    // The numbers of streams are used up (RFC 9113, 5.1.1).
    if (stream.id === undefined) this.retire();
    return stream.id === undefined || stream.id > this.#lastTaken;
  }

  /** Takes no more requests, and ends after those in flight. */
  retire(): void {
    if (this.#state !== 'open') return;
    this.#state = 'retired';
    this.#owner.retired(this);
    this.#endIfUnused();
  }

  /** Ends now; requests in flight fail with this error. */
  destroy(error?: Error): void {
    this.reason ??= error;
    this.retire();
    if (!this.#session.destroyed) this.#session.destroy(error);
    this.#end();
  }

  #endIfUnused(): void {
    if (this.inFlight === 0) this.destroy();
  }

  /** Node waits for the server to close the connection, which it need not do. */
  #end(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.pulse.stop();
    clearInterval(this.#counter);
    this.#owner.ended(this);
    setTimeout(() => this.#socket.destroy(), FAREWELL_MS).unref();
  }

  #setLimit(limit: number): void {
    this.#hasSettings = true;
    this.limit = Math.min(limit, MAX_STREAMS);
    this.countCallback();
    if (this.#state === 'open') this.#owner.placesChanged(this);
  }

  /** A response began: its headers and trailers are progress. */
  allowHeaders(): void {
    this.#allowance += 2 * MAX_HEADER_BYTES;
  }

  /** Data arrived for a request. */
  allowData({ length }: Uint8Array): void {
    this.#allowance += length + Math.min(FRAMING_BYTES, 10 * length);
  }

  /** svc reset a stream: data of it can be on its way, which Node does not report. */
  allowRest(): void {
    this.#allowance += STREAM_WINDOW_BYTES;
  }

  /** A frame without progress arrived that costs a callback. */
  countCallback(): void {
    this.#spend(CALLBACK_BYTES);
  }

  #countBytes(): void {
    const { bytesRead } = this.#socket;
    this.#spend(bytesRead - this.#counted);
    this.#counted = bytesRead;
  }

  #spend(bytes: number): void {
    this.#allowance -= bytes;
    if (this.#allowance < 0 && this.#state !== 'ended')
      this.destroy(new Error('sent too many frames without progress'));
  }

  /** Sends a ping, and calls back with true when its answer arrives, or with false if it cannot be sent. */
  sendPing(done: (answered: boolean) => void): void {
    if (this.#session.closed || this.#session.destroyed) done(false);
    else this.#session.ping((error) => done(error === null));
  }

  /** The session is suspect now, or not any more. */
  suspicionChanged(): void {
    if (this.#state === 'open') this.#owner.placesChanged(this);
  }

  /** Called every 5 s. */
  checked(): void {
    this.#allowance = Math.min(Math.max(this.#allowance, ALLOWANCE_BYTES), ALLOWANCE_BYTES + SESSION_WINDOW_BYTES);
    if (this.inFlight > 0) return;
    this.#idleChecks += 1;
    if (this.#idleChecks === IDLE_CHECKS) this.retire();
  }
}

/** The other side reset the connection, or does not read from it any more. */
const ENDS: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

/** True if a connection ended without any other error. */
export function isPlainEnd(error: Error | undefined): boolean {
  return error === undefined || ENDS.has(codeOf(error));
}

const NO_ERROR = 0;

/** The last stream in a GOAWAY of a server that does not know it yet (RFC 9113, 6.8). */
const UNDECIDED = 2 ** 31 - 1;

const DEAD = new Error('the connection is dead: a ping got no answer');

/**
 * Options of priorities, which RFC 9113 deprecates. Node adds them to a request that omits them, which is slower than passing them.
 * `weight` is not among them: newer versions of Node warn about it (DEP0194).
 */
const NO_PRIORITY = { parent: 0, exclusive: false, silent: false };
const WITHOUT_BODY = { endStream: true, ...NO_PRIORITY };
const WITH_BODY = { endStream: false, ...NO_PRIORITY };

/** The name of an error code of HTTP/2. */
export function errorCodeName(code: number): string {
  return ERROR_CODES[code] ?? `code ${code}`;
}

/** RFC 9113, 7, by their numbers. */
const ERROR_CODES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
];

/** The time between two checks. */
const CHECK_MS = 5000;

/** Checks without anything from the server before svc sends a ping: 15 s. */
const SILENT_CHECKS = 3;

/** Checks without an answer to the ping before the connection is dead: 15 s, because lost packets can take seconds. */
const UNANSWERED_CHECKS = 3;

/** The time in which a session that kept a request waiting has to answer a ping: several long round trips. */
const SUSPECT_MS = 3000;

/**
 * Finds out whether the other side of a session is still there. A silent server gets a ping. If it does not answer, the
 * session is suspect at the next check, and dead after 15 s.
 *
 * Pings also find sessions that nghttp2 has ended because the server violated the protocol: Node then neither reads from
 * the connection nor reports the end. Node sends no pings after GOAWAY; from then on, the time limits of the requests
 * decide.
 */
class Http2Pulse {
  readonly #owner: Http2Session;
  readonly #timer: NodeJS.Timeout;
  /** Counts what arrived for requests: if it has not changed since a request was sent, nothing arrived since. */
  heard = 0;
  /** The time at which something arrived for a request, or a ping was answered; 0 before the connection has worked. */
  heardAt = 0;
  #heardAtCheck = -1;
  #silentChecks = 0;
  #awaitsPing = false;
  #unansweredChecks = 0;
  /** The connection can be dead: it should take no more requests. */
  isSuspect = false;
  #isStopped = false;

  constructor(owner: Http2Session) {
    this.#owner = owner;
    // Acts after the event loop has read what arrived while the process was busy.
    this.#timer = setInterval(() => setImmediate(() => this.#check()), CHECK_MS);
    this.#timer.unref();
  }

  /** Something arrived for a request. */
  hear(): void {
    this.heard += 1;
    this.heardAt = performance.now();
  }

  /** A request waited for nothing: the server has to answer a ping soon. */
  suspect(): void {
    if (this.#isStopped || this.isSuspect) return;
    this.#setSuspect(true);
    this.#ping();
    this.#decideSoon(this.heard);
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  #decideSoon(heardBefore: number): void {
    setTimeout(() => setImmediate(() => this.#decide(heardBefore)), SUSPECT_MS).unref();
  }

  #decide(heardBefore: number): void {
    if (this.#isStopped || !this.isSuspect) return;
    if (this.heard === heardBefore) this.#owner.destroy(DEAD);
    else this.#decideSoon(this.heard);
  }

  #check(): void {
    if (!this.#isStopped) this.#owner.checked();
    if (this.#isStopped) return;
    const isSilent = this.heard === this.#heardAtCheck;
    this.#heardAtCheck = this.heard;
    this.#silentChecks = isSilent ? this.#silentChecks + 1 : 0;
    if (this.#awaitsPing && isSilent) this.#countUnanswered();
    else if (this.#silentChecks >= SILENT_CHECKS) this.#ping();
  }

  #countUnanswered(): void {
    this.#unansweredChecks += 1;
    if (this.#unansweredChecks === UNANSWERED_CHECKS) this.#owner.destroy(DEAD);
    else this.#setSuspect(true);
  }

  #ping(): void {
    if (this.#awaitsPing || this.#isStopped) return;
    this.#awaitsPing = true;
    this.#unansweredChecks = 0;
    this.#owner.sendPing((answered) => {
      this.#awaitsPing = false;
      this.#silentChecks = 0;
      if (answered) this.heardAt = performance.now();
      this.#setSuspect(false);
    });
  }

  #setSuspect(isSuspect: boolean): void {
    if (this.isSuspect === isSuspect || this.#isStopped) return;
    this.isSuspect = isSuspect;
    this.#owner.suspicionChanged();
  }
}
