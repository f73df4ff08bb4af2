import type { Result } from '../../../base/result.ts';
import type { Failure } from '../../../schema/errors.ts';
import type { ModelFault } from '../model-fault.ts';
import type { SinglePlan } from './client-plan.ts';

/** One client, asked once; the result is whatever the caller makes of its reply. */
export type Attempt<T> = (source: SinglePlan['source'], deadlineAt: number) => Promise<Result<T, AttemptFault>>;

/** A failed attempt, or a failed list of attempts. */
export type AttemptFault = ModelFault;

/** A failure that no retry can mend: a missing key, a prompt that does not render, a reply that does not fit. */
export function finalFault(failure: Failure): AttemptFault {
  return { failure, retry: 'never' };
}
