import pRetry from 'p-retry';
import type { Cancellation } from '../../../base/cancellation.ts';
import type { Result } from '../../../base/result.ts';
import type { RetryPolicyType, RetryStrategy } from '../../../schema/client.ts';
import type { AttemptFailure } from '../attempt-failure.ts';

/** Statuses that mean "later": request timeout, conflict, too early, too many requests. All from 500 on mean it too. */
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429]);

/** Exponential waits are shortened by up to this share, so that calls that failed together do not return together. */
const JITTER = 0.1;

interface RetryScope {
  readonly policy: RetryPolicyType;
  /** On the monotonic clock. */
  readonly deadlineAt: number;
  readonly cancellation: Cancellation;
  /** True once the call has made all the requests that it can make. */
  readonly exhausted: () => boolean;
}

/** Makes p-retry retry; never leaves this file. */
class AttemptFailed extends Error {}

/**
 * Runs `attempt` until it succeeds, fails in a way that a retry cannot fix, or has used all retries of the policy. p-retry
 * waits between the attempts by the policy's schedule; the next attempt also waits until the time that the provider asked
 * for (`retry-after`). A wait that would end after the deadline does not begin, and cancellation ends it.
 */
export async function withRetries<T>(
  scope: RetryScope,
  attempt: (index: number) => Promise<Result<T, AttemptFailure>>,
): Promise<Result<T, AttemptFailure>> {
  // Most calls succeed at once: the first attempt runs outside p-retry, which would cost each of them a signal.
  const first = await attempt(0);
  return first.ok || scope.exhausted() || !canRetry(first.failure, scope.policy)
    ? first
    : retried(scope, first, attempt);
}

async function retried<T>(
  { policy, deadlineAt, cancellation, exhausted }: RetryScope,
  first: Result<T, AttemptFailure>,
  attempt: (index: number) => Promise<Result<T, AttemptFailure>>,
): Promise<Result<T, AttemptFailure>> {
  let last = first;
  let retryAt = 0;
  const stop = new AbortController();
  const forget = cancellation.onCancel(() => stop.abort());
  const waits = waitsOf(policy.strategy);
  const runAttempt = async (number: number): Promise<void> => {
    if (number > 1) {
      const left = retryAt - performance.now();
      if (left > 0) await pause(left, stop.signal);
      last = await attempt(number - 1);
    }
    if (!last.ok) throw new AttemptFailed();
  };
  const shouldRetry = ({ retriesConsumed }: { readonly retriesConsumed: number }): boolean => {
    if (last.ok || exhausted() || !canRetry(last.failure, policy)) return false;
    const now = performance.now();
    retryAt = now + (last.failure.retryAfterMs ?? 0);
    return Math.max(now + waitBefore(waits, retriesConsumed), retryAt) < deadlineAt;
  };
  try {
    await pRetry(runAttempt, { retries: policy.maxRetries, ...waits, signal: stop.signal, shouldRetry });
  } catch (error) {
    if (!(error instanceof AttemptFailed) && !stop.signal.aborted) throw error;
  } finally {
    forget();
  }
  return last;
}

/** True if the same request can succeed later. */
export function canRetry(failed: AttemptFailure, policy: Pick<RetryPolicyType, 'statuses'>): boolean {
  if (failed.retry !== 'status') return failed.retry === 'always';
  const status = failed.upstreamStatus ?? 0;
  if (policy.statuses !== undefined) return policy.statuses.includes(status);
  return status >= 500 || RETRYABLE_STATUSES.has(status);
}

/** Resolves after the time; rejects when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const abort = (): void => {
      clearTimeout(timer);
      reject(new AttemptFailed());
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** p-retry's options for a schedule, in milliseconds. */
interface Waits {
  readonly minTimeout: number;
  readonly factor: number;
  readonly maxTimeout: number;
}

/** The schedule of a strategy for one call. The first exponential wait is already multiplied. */
function waitsOf(strategy: RetryStrategy): Waits {
  const { delayMs } = strategy;
  if (strategy.kind === 'constant') return { minTimeout: delayMs, factor: 1, maxTimeout: delayMs };
  const { multiplier, maxDelayMs } = strategy;
  const share = 1 - JITTER * Math.random();
  const firstMs = Math.min(delayMs * multiplier * share, Number.MAX_VALUE);
  return { minTimeout: firstMs, factor: multiplier, maxTimeout: maxDelayMs * share };
}

/** The wait that p-retry will choose, which it does not announce: its documented formula. */
function waitBefore({ minTimeout, factor, maxTimeout }: Waits, retries: number): number {
  return Math.min(minTimeout * factor ** retries, maxTimeout);
}
