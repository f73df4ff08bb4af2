import type { UpstreamFailure } from './upstream-failure.ts';

/** One request, complete: sent twice, it is the same bytes. */
export interface HttpCall {
  /** POST by default. */
  readonly method?: 'GET' | 'PUT';
  readonly path: string;
  /** Name, value, name, value, …: undici takes them as they are. */
  readonly headers: readonly string[];
  readonly body: string;
}

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The connections to one origin. A request that provably did not reach the provider, such as
 * one on a kept connection that had already ended, is sent again without the sender's help.
 */
export interface OriginPool {
  /**
   * Sends a request. `streamed`: the response is read as it arrives. `listener` can get a failure before this method
   * returns.
   */
  send(call: HttpCall, listener: ResponseListener, streamed: boolean): SentRequest;
  /** The current state of the connections, of each version of HTTP that the pool uses. */
  readonly counts: ReadonlyArray<ConnectionCounts>;
  /** Waits for the requests in flight, then closes the connections. */
  close(): Promise<void>;
  /** Cuts every connection; requests in flight fail. */
  destroy(): Promise<void>;
}

/** The connections of one version of HTTP, and the requests that use them or wait for one. */
export interface ConnectionCounts {
  readonly protocol: 'http/1.1' | 'h2';
  /** Open connections. With HTTP/2, each is a session. */
  readonly connections: number;
  readonly active: number;
  readonly waiting: number;
}

/** A request in flight, as its sender controls it. After `finish` and `cancel` the listener hears nothing more. */
export interface SentRequest {
  /** Stops reading. Bytes on their way still arrive. Returns false if this connection cannot be paused. */
  pause(): boolean;
  resume(): void;
  /** The rest of the response does not matter. The connection is kept if the response ends soon. */
  finish(): void;
  /** No one waits for the response, and the provider sees the connection (or the stream on it) go. */
  cancel(): void;
}

/** Hears of one response, in the order of these methods. `onEnd` or `onFailure` comes once, last. */
export interface ResponseListener {
  /** The request has a connection and was written. */
  onSent(): void;
  /** The connection ended before the provider took the request, which is sent again over another one. */
  onResend(): void;
  /** The status, at least 200: interim responses are skipped. */
  onHeaders(status: number, headers: ResponseHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
}

/** The rest of a response that no longer matters can take this long and be this large, to keep the connection. */
export const LINGER_MS = 1000;
export const LINGER_BYTES = 64 * 1024;
