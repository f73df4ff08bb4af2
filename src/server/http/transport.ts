import type { BodyBudget, BodyBudgetLimit } from '../admission.ts';
import type { Problem } from './problem.ts';
import type { HeaderList } from './response-head.ts';

/**
 * The few functions of an HTTP library that the server needs. Two implementations (uWebSockets.js and node:http) pass one
 * conformance suite.
 */
export interface Transport {
  readonly name: 'uws' | 'node';
  /** Resolves with the port once connections are accepted; rejects with the reason when they never will be. */
  listen(host: string, port: number): Promise<number>;
  /** Accepts no new connections; the open ones stay. */
  stopAccepting(): void;
  /** Makes every answer from now on the last one of its connection. */
  finishConnections(): void;
  /** Makes the next `count` answers the last ones of their connections, so that their clients connect again, to any worker. */
  handOver(count: number): void;
  /** Open connections, including idle ones. */
  readonly connections: number;
  /** Complete answers that their clients may not have received yet. */
  readonly unsentAnswers: number;
  /** Ends all connections at once. */
  close(): void;
}

/** The one handler of a server: called once per well-framed request. An exception of it is answered with a 500. */
export type RequestHandler = (request: HttpRequest, response: HttpResponse) => void;

export interface TransportOptions {
  readonly handler: RequestHandler;
  readonly reject: Reject;
  /** Bytes of a body beyond its limit that are read and discarded before the connection is cut without an answer. */
  readonly discardLimit: number;
  /** Limits the unfinished bodies of requests; shared by the transports of a process. */
  readonly bodyBudget: BodyBudget;
  /** Connections above which new ones get a 503; below the descriptor limit of the process. */
  readonly maxConnections: number;
  /**
   * Connections above which new ones are closed at once. Each one uses a descriptor, and a client that sends nothing cannot be
   * refused by an answer.
   */
  readonly closeAbove: number;
  /** The most bytes of complete answers that clients have not accepted; above it, the transport cuts the largest one. */
  readonly maxUnreadBytes: number;
  /** How long node:http keeps an idle connection, if not for its default. uWebSockets.js has its own timeout. */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** Returns the socket that node:http shares with other processes; without it, node:http binds its own. */
  readonly sharedPort?: ((host: string, port: number) => Promise<object>) | undefined;
}

/**
 * Turns a problem of a request that no handler answers into its answer: broken framing, headers that are too large, too many
 * connections, an exception of the handler.
 */
export type Reject = (problem: Problem, request?: RejectedRequest) => Answer;

export interface RejectedRequest {
  /** Its `x-request-id` header, if its headers can be trusted. */
  readonly requestId?: string | undefined;
  /** The exception of the handler, for the log. */
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
  /** Path without the query, still percent-encoded. */
  readonly path: string;
  readonly query: string;
  /** The `Host` header; empty without one. */
  readonly host: string;
  /** False if the headers announce no body, or one of 0 bytes (RFC 9112, 6.3). */
  readonly hasBody: boolean;
  /** By lower-case name; only the headers in `REQUEST_HEADERS` are kept. */
  header(name: RequestHeader): string | undefined;
  /**
   * True when the connection comes from loopback, the request names this machine as its host and its origin, and no proxy states
   * that it forwards for another host.
   */
  readonly local: boolean;
  /** The address of the other end of the connection (see `addressOf`); costs a system call. Empty after the client has left. */
  readonly peer: string;
  /**
   * Collects the body up to `limit` bytes, and calls `done` exactly once. Call it at most once, and before the handler returns:
   * a body that no handler reads is discarded as it arrives.
   */
  readBody(limit: number, done: (outcome: BodyOutcome) => void): void;
}

/** Every request header that the server reads. */
export const REQUEST_HEADERS = [
  'accept',
  'accept-encoding',
  'authorization',
  'baggage',
  'content-encoding',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'last-event-id',
  'mcp-protocol-version',
  'origin',
  'traceparent',
  'tracestate',
  'x-baml-api-key',
  'x-request-id',
  'x-svc-api-key',
] as const;

export type RequestHeader = (typeof REQUEST_HEADERS)[number];

export type BodyOutcome =
  /** Below `LARGE` bytes, `bytes` can be the library's memory: decode it before `done` returns. */
  | { readonly kind: 'body'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  /** The unfinished bodies of all callers, or of this one, have reached their limit. */
  | { readonly kind: 'overloaded'; readonly limit: BodyBudgetLimit }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' };

/**
 * The answer to one request. It leaves on a later turn of the event loop than the request arrived, and only after the request's
 * body is read: an early answer to an unfinished request would be lost with the connection.
 */
export interface HttpResponse {
  /** True once the client left or the answer is complete: all later calls are ignored. */
  readonly closed: boolean;
  /** Sends the whole answer. For HEAD, the body is omitted. */
  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void;
  /**
   * Sends status and headers; `write` and `end` send the body. `filler` is text that readers ignore between two writes; the
   * transport can have to send it to push pending writes.
   */
  start(status: number, headers: HeaderList, filler: string): void;
  /** Accepts the text in any case; returns false when the client does not keep up: wait for `onDrain` before the next write. */
  write(chunk: string): boolean;
  /** Completes a started answer, after all its writes. */
  end(): void;
  /** Called when the client received data after `write` returned false; `empty`: all of it. One listener. */
  onDrain(listener: (empty: boolean) => void): void;
  /** Call it every few seconds to wait for a client that is behind: uWebSockets.js would cut it after about 10 seconds. */
  keepWaiting(): void;
  /** Called when the client leaves before the answer is complete. One listener. */
  onAborted(listener: () => void): void;
  /**
   * Returns true if no other request in the same packet can end the connection: work that costs money begins then. Otherwise calls
   * `request.proceed` once that is so, on a later turn, and never if the client has left.
   */
  whenAlone(request: LoneRequest): boolean;
  /** Cuts the connection. */
  destroy(): void;
}

export interface LoneRequest {
  proceed(): void;
}
