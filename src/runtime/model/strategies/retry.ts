import type { Cancellation } from '../../../base/cancellation.ts';
import type { Result } from '../../../base/result.ts';
import type { RetryPolicyType, RetryStrategy } from '../../../schema/client.ts';
import type { AttemptFailure } from '../attempt-failure.ts';

/** Statuses that mean "later": request timeout, conflict, too early, too many requests. All from 500 on mean it too. */
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429]);

/** Exponential waits are shortened by up to this share, so that calls that failed together do not return together. */
const JITTER = 0.1;

/** setTimeout takes 31 bits, and fires at once for more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface RetryScope {
  readonly policy: RetryPolicyType;
  /** On the monotonic clock. */
  readonly deadlineAt: number;
  readonly cancellation: Cancellation;
  /** True once the call has made all the requests that it can make. */
  readonly exhausted: () => boolean;
}

/**
 * Runs `attempt` until it succeeds, fails in a way that a retry cannot fix, or has used all retries of the policy. Waits between
 * the attempts by the policy's schedule, or longer if the provider asks for it (`retry-after`). A wait that would end after
 * the deadline does not begin, and cancellation ends it.
 */
export async function withRetries<T>(
  { policy, deadlineAt, cancellation, exhausted }: RetryScope,
  attempt: (index: number) => Promise<Result<T, AttemptFailure>>,
): Promise<Result<T, AttemptFailure>> {
  let last = await attempt(0);
  // All waits of a call are shortened by the same share.
  const share = 1 - JITTER * Math.random();
  for (let index = 1; index <= policy.maxRetries; index += 1) {
    if (last.ok || cancellation.cancelled || exhausted() || !canRetry(last.failure, policy)) break;
    const ms = Math.max(waitBefore(index, policy.strategy, share), last.failure.retryAfterMs ?? 0);
    if (performance.now() + ms >= deadlineAt) break;
    if (ms > 0) await pause(ms, cancellation);
    if (cancellation.cancelled) break;
    last = await attempt(index);
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

/** Milliseconds before this retry, which counts from 1. The first exponential wait is already multiplied. */
function waitBefore(index: number, strategy: RetryStrategy, share: number): number {
  if (strategy.kind === 'constant') return strategy.delayMs;
  const { delayMs, multiplier, maxDelayMs } = strategy;
  const factor = Math.min(multiplier ** index, Number.MAX_VALUE);
  return Math.round(share * Math.min(delayMs * factor, maxDelayMs));
}

/** Resolves after the time, or on cancellation. */
function pause(ms: number, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => {
        forget();
        resolve();
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
    const forget = cancellation.onCancel(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
