import { codeOf } from '../../../base/invariant.ts';
import type { TimeoutFailure } from '../../../schema/failure.ts';

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
  if (code === 'SVC_FORBIDDEN_ADDRESS') return { kind: 'forbidden', message: error.message };
  if (hasStatus) return { kind: 'cut', message: `broke off in the middle of its reply: ${errorText(error)}` };
  return { kind: 'network', message: errorText(error) };
}
