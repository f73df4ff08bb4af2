import pRetry from 'p-retry';
import type { Cancellation } from '../../../base/cancellation.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { RetryPolicyType, RetryStrategy } from '../../../schema/client.ts';
import type { AttemptFailure } from '../attempt-failure.ts';

/** Statuses that say "later": request timeout, conflict, too early, too many requests, and every fault of the server. */
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429]);

/** Exponential waits are shortened by up to this share, so that callers that failed together do not return together. */
const JITTER = 0.1;

interface RetryScope {
  readonly policy: RetryPolicyType;
  readonly deadlineAt: number;
  readonly cancellation: Cancellation;
}

/** Thrown to p-retry, which counts attempts; never leaves this file. */
class AttemptFailed extends Error {
  readonly fault: AttemptFailure;

  constructor(fault: AttemptFailure) {
    super(fault.failure.code);
    this.fault = fault;
  }
}

/**
 * Runs `attempt` until it succeeds, fails in a way that a retry cannot mend, or the policy is used up. Waits between
 * attempts as the policy says, or longer where the provider asks for it (`retry-after`), but never past the deadline:
 * a wait that would end after it is not begun.
 */
export async function withRetries<T>(
  scope: RetryScope,
  attempt: (index: number) => Promise<Result<T, AttemptFailure>>,
): Promise<Result<T, AttemptFailure>> {
  try {
    const value = await pRetry(
      async (number) => {
        const result = await attempt(number - 1);
        if (result.ok) return result.value;
        throw new AttemptFailed(result.failure);
      },
      {
        retries: scope.policy.maxRetries,
        // The wait is ours (it knows retry-after, the deadline and who has left); p-retry adds none.
        minTimeout: 0,
        maxTimeout: 0,
        shouldRetry: ({ error, retriesConsumed }) => waitsFor(scope, error, retriesConsumed),
      },
    );
    return ok(value);
  } catch (error) {
    if (error instanceof AttemptFailed) return err(error.fault);
    throw error;
  }
}

async function waitsFor(scope: RetryScope, error: unknown, retries: number): Promise<boolean> {
  if (!(error instanceof AttemptFailed) || scope.cancellation.cancelled) return false;
  if (!mayRetry(error.fault, scope.policy)) return false;
  const delay = Math.max(delayBefore(scope.policy.strategy, retries), error.fault.retryAfterMs ?? 0);
  if (performance.now() + delay >= scope.deadlineAt) return false;
  return delay === 0 || (await waited(delay, scope.cancellation));
}

/** True when the same request may succeed later. */
export function mayRetry(fault: AttemptFailure, policy: Pick<RetryPolicyType, 'statuses'>): boolean {
  if (fault.retry !== 'status') return fault.retry === 'always';
  const status = fault.upstreamStatus ?? 0;
  if (policy.statuses !== undefined) return policy.statuses.includes(status);
  return status >= 500 || RETRYABLE_STATUSES.has(status);
}

/** Milliseconds before the retry after `retries` earlier ones. The first exponential wait is multiplied already. */
export function delayBefore(strategy: RetryStrategy, retries: number, random: () => number = Math.random): number {
  if (strategy.kind === 'constant') return strategy.delayMs;
  const grown = strategy.delayMs * strategy.multiplier ** (retries + 1);
  return Math.min(grown, strategy.maxDelayMs) * (1 - JITTER * random());
}

/** False when the caller left in the meantime. */
function waited(delay: number, cancellation: Cancellation): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      forget();
      resolve(true);
    }, delay);
    const forget = cancellation.onCancel(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
