import type { TimeoutFailure } from '../../../schema/errors.ts';

/** How one exchange with a provider can fail, before it is told in terms of clients and functions. */
export type HttpFault =
  | StatusFault
  /** Refused, reset, no such host, bad certificate: the same request may succeed later. */
  | { readonly kind: 'network'; readonly message: string }
  /** A reply that began and is not whole: the same request may succeed later. */
  | { readonly kind: 'cut'; readonly message: string }
  | { readonly kind: 'timeout'; readonly timer: TimeoutFailure['timer']; readonly afterMs: number }
  /** The provider said that it failed, inside of a reply that began well. */
  | { readonly kind: 'reported'; readonly message: string; readonly retryable: boolean }
  /** An answer that cannot be used, and would not be better the next time. */
  | { readonly kind: 'unusable'; readonly message: string; readonly status?: number }
  /** Its address is not one that this request may reach. */
  | { readonly kind: 'forbidden'; readonly message: string };

export interface StatusFault {
  readonly kind: 'status';
  readonly status: number;
  /** The beginning of the body, as text. */
  readonly body: string;
  readonly retryAfterMs?: number;
}

/** The message of something thrown, with its cause where the outer message says nothing. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return errorText(error.errors[0]);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error.message === '') return code === '' ? error.name : code;
  return error.message.includes(code) ? error.message : `${error.message} (${code})`;
}
