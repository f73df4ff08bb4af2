import { codeOf } from '../../../base/invariant.ts';
import type { TimeoutFailure } from '../../../schema/failure.ts';
import { FORBIDDEN } from './address-guard.ts';

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
  /** Pauses if the kernel then gathers the bytes of this response. Returns false, and goes on, if each would cost as much as before. */
  rest(): boolean;
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
  /** The bytes are valid until the microtasks of this turn have run: other connections read into the same memory. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
}

/** The rest of a response that no longer matters can take this long and be this large, to keep the connection. */
export const LINGER_MS = 1000;
export const LINGER_BYTES = 64 * 1024;

/**
 * How one exchange with a provider, or with another service, fails. Made where the failure happens; `attemptFailure`
 * turns it into the failure that callers see. A `message` completes the sentence `The client "X" …`.
 */
export type UpstreamFailure =
  /** The provider answered with an error status. */
  | {
      readonly kind: 'status';
      readonly status: number;
      /** The beginning of the body. */
      readonly body: string;
      readonly retryAfterMs?: number;
    }
  /** Connection refused or reset, unknown host, bad certificate: the same request can succeed later. */
  | { readonly kind: 'network'; readonly message: string }
  /** A reply that began and is incomplete: the same request can succeed later. */
  | { readonly kind: 'cut'; readonly message: string }
  | { readonly kind: 'timeout'; readonly timer: TimeoutFailure['timer']; readonly afterMs: number }
  /** The provider reported an error inside a reply that began well. */
  | { readonly kind: 'reported'; readonly message: string; readonly retryable: boolean }
  /** A reply that svc cannot use; the same request would get the same reply. */
  | { readonly kind: 'unusable'; readonly message: string; readonly status?: number }
  /** This request is not allowed to reach the address. */
  | { readonly kind: 'forbidden'; readonly message: string };

/** The message of a thrown value, or of its cause if the outer message is empty. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return errorText(error.errors[0]);
  const code = codeOf(error) ?? '';
  if (error.message === '') return code === '' ? error.name : code;
  return error.message.includes(code) ? error.message : `${error.message} (${code})`;
}

/** The failure of a connection. `hasStatus`: the reply had begun. */
export function connectionFailure(error: Error, hasStatus: boolean): UpstreamFailure {
  const code = codeOf(error);
  if (code === FORBIDDEN) return { kind: 'forbidden', message: error.message };
  if (hasStatus) return { kind: 'cut', message: `broke off in the middle of its reply: ${errorText(error)}` };
  return { kind: 'network', message: errorText(error) };
}
