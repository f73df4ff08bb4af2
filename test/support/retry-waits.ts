import { vi } from 'vitest';
import { Cancellation } from '../../src/base/cancellation.ts';
import { err } from '../../src/base/result.ts';
import { clientFailure, type AttemptFailure } from '../../src/runtime/model/attempt-failure.ts';
import { withRetries } from '../../src/runtime/model/strategies/run-plan.ts';
import type { RetryPolicyType } from '../../src/schema/client.ts';

export const FAILED: AttemptFailure = { failure: clientFailure('A', 'failed'), retry: 'always' };

interface Retrying {
  readonly failed?: AttemptFailure;
  /** Milliseconds until the deadline. */
  readonly deadlineMs?: number;
  /** Milliseconds until the call is cancelled. */
  readonly cancelMs?: number;
  /** In place of Math.random. */
  readonly random?: number;
}

/** The waits between the attempts of a call whose attempts all fail, and the time of its end, on a fake clock. */
export async function retryWaits(
  policy: Omit<RetryPolicyType, 'name'>,
  { failed = FAILED, deadlineMs = Infinity, cancelMs, random = 0 }: Retrying = {},
): Promise<{ readonly waits: readonly number[]; readonly endedAfter: number }> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const randomNumber = vi.spyOn(Math, 'random').mockReturnValue(random);
  const startedAt = performance.now();
  const attempts: number[] = [];
  const cancellation = new Cancellation();
  if (cancelMs !== undefined) setTimeout(() => cancellation.cancel('the caller left'), cancelMs);
  let endedAfter = NaN;
  const scope = {
    policy: { name: 'Tested', ...policy },
    deadlineAt: startedAt + deadlineMs,
    cancellation,
    exhausted: () => false,
  };
  const run = withRetries(scope, () => {
    attempts.push(performance.now());
    return Promise.resolve(err(failed));
  }).then(() => (endedAfter = performance.now() - startedAt));
  // Between two timers, the call can take several microtasks to set the next one.
  while (Number.isNaN(endedAfter)) await vi.advanceTimersToNextTimerAsync();
  await run;
  vi.useRealTimers();
  randomNumber.mockRestore();
  return { waits: attempts.slice(1).map((at, index) => at - (attempts[index] ?? NaN)), endedAfter };
}
