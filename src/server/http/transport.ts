/**
 * The HTTP library behind the server, as the few things that the server needs of it. Two implementations
 * (uWebSockets.js and node:http) pass one conformance suite.
 */
export interface Transport {
  readonly name: 'uws' | 'node';
  /** Listens on host and port with SO_REUSEPORT semantics where workers share a port; resolves when ready. */
  listen(host: string, port: number): Promise<void>;
  /** Stops accepting; what is in flight goes on. */
  stopAccepting(): void;
  /** Ends everything at once. */
  close(): void;
}

/** The one handler of a server: called once per well-framed request, never throws to the transport. */
export type RequestHandler = (request: HttpRequest, response: HttpResponse) => void;

/** A request, copied out of the library: safe to keep. */
export interface HttpRequest {
  readonly method: string;
  /** Path without the query, percent-encoding untouched. */
  readonly path: string;
  readonly query: string;
  /** Lower-case names; only headers that the server reads are looked up. */
  header(name: string): string | undefined;
  /** Textual address of the peer of the connection. */
  readonly remoteAddress: string;
  /** Collects the body up to `limit` bytes. Called at most once. Over the limit, or when the client leaves, it says so. */
  readBody(limit: number, done: (outcome: BodyOutcome) => void): void;
}

export type BodyOutcome =
  | { readonly kind: 'body'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' };

export interface HttpResponse {
  /** True once the client left or the answer is complete: everything after it is dropped silently. */
  readonly closed: boolean;
  /** The whole answer at once. */
  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void;
  /** Status and headers now, body later by `write` and `end`. */
  start(status: number, headers: HeaderList): void;
  /** False when the client does not keep up: wait for `onDrain`. */
  write(chunk: string): boolean;
  end(): void;
  onDrain(listener: () => void): void;
  /** The client went away before the answer was complete. */
  onAborted(listener: () => void): void;
  /** Cuts the connection. */
  destroy(): void;
}

export type HeaderList = ReadonlyArray<readonly [name: string, value: string]>;
