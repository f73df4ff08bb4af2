import type { ByteBudget } from '../../base/byte-budget.ts';

/**
 * The HTTP library behind the server, as the few things that the server needs of it. Two implementations
 * (uWebSockets.js and node:http) pass one conformance suite.
 */
export interface Transport {
  readonly name: 'uws' | 'node';
  /** Listens; resolves with the port once connections are accepted, rejects with the reason when they never will be. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no new connections; those that are open go on as before. */
  stopAccepting(): void;
  /** Every answer from now on is the last one of its connection. */
  finishConnections(): void;
  /** Connections open now, idle ones included. */
  readonly connections: number;
  /** Complete answers that clients may not have taken yet. */
  readonly leaving: number;
  /** Ends everything at once. */
  close(): void;
}

/** The one handler of a server: called once per well-framed request. What it throws is answered with a 500. */
export type RequestHandler = (request: HttpRequest, response: HttpResponse) => void;

export interface TransportOptions {
  readonly handler: RequestHandler;
  /** Answers what never becomes a request: faults in the framing, headers too large, an exception of the handler. */
  readonly refuse: RefusalWriter;
  /** Bytes of a body beyond its limit that are read and dropped before the connection is cut without an answer. */
  readonly discardLimit: number;
  /** For unfinished bodies of requests; shared by the transports of a process. */
  readonly bodyBudget: ByteBudget;
  /** Connections above which new ones get no more than a refusal; below the descriptor limit of the process. */
  readonly maxConnections: number;
  /**
   * Connections above which new ones are closed at once: each takes a descriptor for as long as it says nothing, and one that
   * says nothing cannot be refused by an answer.
   */
  readonly closeAbove: number;
  /** Of node:http: idle connections are closed after this time. uWebSockets.js has its own. */
  readonly keepAliveTimeoutMs: number;
  /** Where node:http gets the socket that it shares with other processes; without it, it binds one of its own. */
  readonly sharedPort?: (host: string, port: number) => Promise<object>;
}

export type Refusal =
  | 'malformed'
  | 'not-implemented'
  | 'headers-too-large'
  | 'request-timeout'
  | 'too-many'
  | 'crashed';

/** Status, headers and body for a refusal. The error is what the handler threw, for the log. */
export type RefusalWriter = (refusal: Refusal, detail: string, of?: RefusedRequest) => Answer;

export interface RefusedRequest {
  /** The header of that name, where what the request says is to be believed. */
  readonly requestId?: string | undefined;
  readonly error?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string | Uint8Array | undefined;
}

/** A request, copied out of the library: safe to keep. */
export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** Path without the query, percent-encoding untouched. */
  readonly path: string;
  readonly query: string;
  /** By lower-case name; only the headers in `REQUEST_HEADERS` are kept. */
  header(name: RequestHeader): string | undefined;
  /** True when the connection comes from loopback and no proxy says that it forwards for another host. */
  readonly local: boolean;
  /**
   * Collects the body up to `limit` bytes. At most once, and before the handler returns: a body nobody asked for is
   * dropped as it comes. `done` is told exactly once.
   */
  readBody(limit: number, done: (outcome: BodyOutcome) => void): void;
}

/** Every request header that the server reads. */
export const REQUEST_HEADERS = [
  'accept-encoding',
  'authorization',
  'content-encoding',
  'content-type',
  'if-none-match',
  'origin',
  'x-request-id',
  'x-svc-api-key',
] as const;

export type RequestHeader = (typeof REQUEST_HEADERS)[number];

export type BodyOutcome =
  /** `bytes` is the library's memory: decode it before `done` returns. */
  | { readonly kind: 'body'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  /** All bodies together hold as much as they may. */
  | { readonly kind: 'overloaded' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' };

/**
 * The answer to one request. It leaves on a later turn of the event loop than the request came in, and not before the
 * rest of the request's body was read: an early answer to an unfinished request would be lost with the connection.
 */
export interface HttpResponse {
  /** True once the client left or the answer is complete: everything after it is dropped silently. */
  readonly closed: boolean;
  /** The whole answer at once. For HEAD the body is left out. */
  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void;
  /**
   * Status and headers now, body later by `write` and `end`. `filler` is text that means nothing to the reader
   * between two writes; the transport may have to send it to move the others on.
   */
  start(status: number, headers: HeaderList, filler: string): void;
  /** Takes the text in any case; false when the client does not keep up: wait for `onDrain` before the next one. */
  write(chunk: string): boolean;
  /** Completes a started answer, after all that was written. */
  end(): void;
  /**
   * The client took something after `write` returned false. `empty` says that it took all of it. One listener.
   */
  onDrain(listener: (empty: boolean) => void): void;
  /**
   * To be called every few seconds while a client that is behind shall be waited for: the write timer of
   * uWebSockets.js would cut it after about 10 seconds.
   */
  keepWaiting(): void;
  /** The client went away before the answer was complete. One listener. */
  onAborted(listener: () => void): void;
  /** Cuts the connection. */
  destroy(): void;
}

export type HeaderList = ReadonlyArray<readonly [name: string, value: string]>;
