import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ConnectionAttempts, NO_ONE_WAITS, type Connector } from './connector.ts';
import type { Http1Pools } from './http1-pool.ts';
import { Http2Request, type Http2RequestOwner } from './http2-request.ts';
import { Http2Session, type SessionOwner } from './http2-session.ts';
import {
  type ConnectionCounts,
  type HttpCall,
  type OriginPool,
  type ResponseListener,
  type SentRequest,
  connectionFailure,
  errorText,
  type UpstreamFailure,
} from './origin-pool.ts';
import { ReadClock } from './exchange-clock.ts';

interface Http2PoolParts {
  readonly origin: string;
  readonly connector: Connector;
  /** For a server that does not speak HTTP/2; undefined if nothing else is allowed. */
  readonly http1: Http1Pools | undefined;
}

/** A connection that is not ready after this time gets another one beside it, because it can be stuck. */
const SLOW_CONNECT_MS = 3000;

/** Connections at one time that replace slow ones. */
const MAX_SLOW_CONNECTS = 4;

/** Connections in a row that the server can end with GOAWAY before they take a request: it can be stopping, one instance after another. */
const MAX_UNUSED = 5;

/**
 * The connections to one origin over HTTP/2. The first connection shows whether the server speaks it (ALPN); if not, the
 * same connection and all requests go to the pools for HTTP/1.1. Requests wait for a place in a session: the first one
 * for the server's settings, and from then on the pool opens as many sessions as the waiting requests need.
 */
export class Http2Pool implements OriginPool, SessionOwner, Http2RequestOwner {
  readonly authority: string;
  readonly scheme: string;
  readonly clock = new ReadClock();
  readonly #origin: string;
  readonly #connector: Connector;
  readonly #http1: Http1Pools | undefined;
  readonly #attempts = new ConnectionAttempts();
  /** Connections that are not established. */
  #connecting = 0;
  /** All sessions until they end. */
  readonly #sessions = new Set<Http2Session>();
  /** Those that can take requests, now or later. */
  readonly #open = new Set<Http2Session>();
  /** Those without the server's settings. */
  readonly #unsettled = new Set<Http2Session>();
  /** Those with places. */
  readonly #free = new Set<Http2Session>();
  readonly #waiting = new Set<Http2Request>();
  /** The places in the latest session; until they are known, one session is enough. */
  #placesInSession = Infinity;
  #speaksHttp1 = false;
  #isDestroyed = false;
  /** Resolves the promise of `close`. */
  #closed: (() => void) | undefined;
  #slowTimer: NodeJS.Timeout | undefined;
  #slowConnects = 0;
  /** Connections that ended with GOAWAY before they took a request, since one took a request. */
  #unused = 0;

  constructor({ origin, connector, http1 }: Http2PoolParts) {
    const { host, protocol } = new URL(origin);
    this.authority = host;
    this.scheme = protocol.slice(0, -1);
    this.#origin = origin;
    this.#connector = connector;
    this.#http1 = http1;
  }

  get counts(): readonly ConnectionCounts[] {
    const active = [...this.#sessions].reduce((sum, session) => sum + session.inFlight, 0);
    const own = { protocol: 'h2', connections: this.#sessions.size, active, waiting: this.#waiting.size } as const;
    return [own, ...(this.#http1?.counts ?? [])];
  }

  send(call: HttpCall, listener: ResponseListener, streamed: boolean): SentRequest {
    if (this.#speaksHttp1 && this.#http1 !== undefined) return this.#http1.send(call, listener, streamed);
    const request = new Http2Request(this, call, { listener, streamed });
    this.wait(request);
    return request;
  }

  wait(request: Http2Request): void {
    if (this.#isDestroyed) {
      request.fail(CLOSED);
      return;
    }
    if (this.#speaksHttp1 && this.#http1 !== undefined) {
      request.sendBy(this.#http1);
      return;
    }
    this.#waiting.add(request);
    this.#serve();
  }

  gaveUp(request: Http2Request): void {
    this.#waiting.delete(request);
    if (this.#waiting.size > 0) return;
    this.#stopWatching();
    this.#attempts.stop();
    for (const session of this.#unsettled) session.destroy();
    this.#closeIfUnused();
  }

  downgrade(): boolean {
    if (this.#http1 !== undefined) this.#useHttp1(this.#http1);
    return this.#http1 !== undefined;
  }

  placesChanged(session: Http2Session): void {
    if (session.isSettled && this.#unsettled.delete(session)) this.#stopWatching();
    this.#placesInSession = session.limit === 0 ? Infinity : session.limit;
    if (session.places > 0) this.#free.add(session);
    else this.#free.delete(session);
    this.#serve();
    this.#closeIfUnused();
  }

  retired(session: Http2Session): void {
    this.#open.delete(session);
    this.#unsettled.delete(session);
    this.#free.delete(session);
    if (this.#waiting.size === 0) return;
    if (session.hasServed || session.wasIdle || this.#wasUnused(session)) this.#connectForWaiting();
    else this.#failWithoutHope(endedEarly(session.reason));
  }

  /** True if the server announced that it would end a connection which took no request, and another one can take them. */
  #wasUnused(session: Http2Session): boolean {
    if (!session.isAnnounced || session.reason !== undefined) return false;
    this.#unused += 1;
    return this.#unused < MAX_UNUSED;
  }

  ended(session: Http2Session): void {
    this.#sessions.delete(session);
    this.#closeIfUnused();
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#closed = resolve;
      this.#closeIfUnused();
    });
    await this.#http1?.close();
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#stopWatching();
    this.#attempts.stop();
    this.#failAll(CLOSED);
    for (const session of this.#sessions) session.destroy(new Error(CLOSED.message));
    await this.#http1?.destroy();
  }

  #serve(): void {
    for (const request of this.#waiting) {
      const session = this.#nextFree();
      if (session === undefined) {
        this.#connectForWaiting();
        return;
      }
      this.#waiting.delete(request);
      this.#unused = 0;
      request.sendOver(session);
    }
    this.#stopWatching();
  }

  #nextFree(): Http2Session | undefined {
    for (const session of this.#free) {
      if (session.places > 0) return session;
      this.#free.delete(session);
    }
    return undefined;
  }

  /** Opens as many connections as the waiting requests need, besides those on their way. */
  #connectForWaiting(): void {
    const onTheirWay = this.#connecting + this.#unsettled.size;
    const expected = onTheirWay === 0 ? 0 : onTheirWay * this.#placesInSession;
    // A server that allows no requests at the moment would not allow them on another connection.
    const isHeldBack = [...this.#open].some((session) => session.isSettled && session.limit === 0);
    if (isHeldBack) return;
    for (let missing = this.#waiting.size - expected; missing > 0; missing -= this.#placesInSession) this.#connect();
    this.#slowTimer ??= setTimeout(() => this.#connectBeside(), SLOW_CONNECT_MS);
  }

  #connectBeside(): void {
    this.#slowTimer = undefined;
    if (this.#waiting.size === 0 || this.#slowConnects === MAX_SLOW_CONNECTS) return;
    this.#slowConnects += 1;
    this.#connect();
    this.#slowTimer = setTimeout(() => this.#connectBeside(), SLOW_CONNECT_MS);
  }

  #stopWatching(): void {
    clearTimeout(this.#slowTimer);
    this.#slowTimer = undefined;
    this.#slowConnects = 0;
  }

  #connect(): void {
    const [first] = this.#waiting;
    const protocols = this.#http1 === undefined ? ONLY_HTTP2 : BOTH;
    this.#connecting += 1;
    this.#connector.connect({ protocols, streamed: first?.streamed === true }, this.#attempts, (...result) => {
      this.#connecting -= 1;
      if (result[0] === null) this.#connected(result[1]);
      // Requests that came later need another connection.
      else if (result[0] === NO_ONE_WAITS) this.#serve();
      else this.#failWithoutHope(connectionFailure(result[0], false));
      this.#closeIfUnused();
    });
  }

  #connected(socket: Socket): void {
    if (this.#isDestroyed || this.#speaksHttp1) socket.destroy();
    else if (speaksHttp2(socket)) {
      const session = new Http2Session(socket, this.#origin, this);
      this.#sessions.add(session);
      this.#open.add(session);
      this.#unsettled.add(session);
    } else if (this.#http1 === undefined) {
      socket.destroy();
      this.#failAll(NO_HTTP2);
    } else {
      // If other sessions served the requests meanwhile, none is there to use this connection, and no one would read from it.
      if (this.#waiting.size > 0) this.#http1.add(socket);
      else socket.destroy();
      this.#useHttp1(this.#http1);
    }
  }

  /** From now on, all requests use HTTP/1.1; sessions end when they have no more. */
  #useHttp1(http1: Http1Pools): void {
    this.#speaksHttp1 = true;
    this.#stopWatching();
    for (const request of this.#takeWaiting()) request.sendBy(http1);
    for (const session of this.#open) session.retire();
  }

  /** A connection failed. Waiting requests fail with it unless another one can serve them. */
  #failWithoutHope(failure: UpstreamFailure): void {
    if (this.#connecting + this.#open.size === 0) this.#failAll(failure);
  }

  #failAll(failure: UpstreamFailure): void {
    this.#unused = 0;
    this.#stopWatching();
    for (const request of this.#takeWaiting()) request.fail(failure);
    this.#closeIfUnused();
  }

  /** Requests that begin to wait while these are handled are not among them. */
  #takeWaiting(): readonly Http2Request[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    return waiting;
  }

  #closeIfUnused(): void {
    if (this.#closed === undefined || this.#waiting.size > 0 || this.#connecting > 0) return;
    for (const session of this.#open) if (session.inFlight === 0) session.retire();
    if (this.#sessions.size === 0) this.#closed();
  }
}

const ONLY_HTTP2 = ['h2'];
const BOTH = ['h2', 'http/1.1'];

const CLOSED = { kind: 'network', message: 'svc has closed its connections' } as const;

const NO_HTTP2: UpstreamFailure = {
  kind: 'unusable',
  message: 'does not speak HTTP/2, which its option http.version demands',
};

function endedEarly(reason = new Error('the connection ended')): UpstreamFailure {
  return { kind: 'network', message: `${errorText(reason)}, before it took a request` };
}

/** Without TLS, a connection is opened for HTTP/2 only if the client demands it. */
function speaksHttp2(socket: Socket): boolean {
  return !(socket instanceof TLSSocket) || socket.alpnProtocol === 'h2';
}
