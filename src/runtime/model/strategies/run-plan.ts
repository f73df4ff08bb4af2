import type { Cancellation } from '../../../base/cancellation.ts';
import { invariant } from '../../../base/invariant.ts';
import type { Result } from '../../../base/result.ts';
import { err } from '../../../base/result.ts';
import type { AttemptFailure } from '../attempt-failure.ts';
import type { ClientPlan, FallbackPlan, RoundRobinPlan, SinglePlan } from './client-plan.ts';
import { withRetries } from './retry.ts';

export interface PlanContext<T> {
  /** Asks one client once; the result is what the caller makes of its reply. */
  readonly attempt: (source: SinglePlan['source'], deadlineAt: number) => Promise<Result<T, AttemptFailure>>;
  readonly cancellation: Cancellation;
  /** Which turn a round-robin client of the files takes: 0, 1, 2, … over all calls; never rejects. */
  readonly turn: (client: string, deadlineAt: number) => number | Promise<number>;
}

/** Asks the clients of a plan until one succeeds, within the deadline (on the monotonic clock). */
export function runPlan<T>(
  plan: ClientPlan,
  deadlineAt: number,
  context: PlanContext<T>,
): Promise<Result<T, AttemptFailure>> {
  const until =
    plan.totalTimeoutMs === undefined ? deadlineAt : Math.min(deadlineAt, performance.now() + plan.totalTimeoutMs);
  const { retry } = plan;
  if (retry === undefined || retry.maxRetries <= 0) return runOnce(plan, until, context, 0);
  return withRetries({ policy: retry, deadlineAt: until, cancellation: context.cancellation }, (index) =>
    runOnce(plan, until, context, index),
  );
}

function runOnce<T>(
  plan: ClientPlan,
  deadlineAt: number,
  context: PlanContext<T>,
  index: number,
): Promise<Result<T, AttemptFailure>> {
  switch (plan.kind) {
    case 'single':
      return context.attempt(plan.source, deadlineAt);
    case 'fallback':
      return runFallback(plan, deadlineAt, context);
    case 'round-robin':
      return runRoundRobin({ plan, index }, deadlineAt, context);
  }
}

/** Members in order; any failure leads to the next, unless nobody waits or the time is over. */
async function runFallback<T>(
  plan: FallbackPlan,
  deadlineAt: number,
  context: PlanContext<T>,
): Promise<Result<T, AttemptFailure>> {
  const faults: AttemptFailure[] = [];
  for (const member of plan.members) {
    const result = await runPlan(member, deadlineAt, context);
    if (result.ok) return result;
    faults.push(result.failure);
    if (context.cancellation.cancelled || performance.now() >= deadlineAt) break;
  }
  return err(summary(faults));
}

/** Turns of a client that only one request knows are counted within its retries. */
async function runRoundRobin<T>(
  { plan, index }: { readonly plan: RoundRobinPlan & { readonly name: string }; readonly index: number },
  deadlineAt: number,
  context: PlanContext<T>,
): Promise<Result<T, AttemptFailure>> {
  const turn = plan.ofRequest ? index : await context.turn(plan.name, deadlineAt);
  const member = plan.members[(plan.start + turn) % plan.members.length];
  invariant(member !== undefined, 'a round-robin client has members');
  return runPlan(member, deadlineAt, context);
}

/**
 * What a list of failures amounts to: the last one that says something of a model, since a missing key behind it
 * says less. Worth a retry when one of them is.
 */
function summary(faults: readonly AttemptFailure[]): AttemptFailure {
  const telling = faults.findLast((fault) => fault.failure.code !== 'missing_credential') ?? faults.at(-1);
  invariant(telling !== undefined, 'a fallback client has members');
  const hopeful = faults.find((fault) => fault.retry === 'always') ?? faults.find((fault) => fault.retry === 'status');
  return hopeful === undefined ? telling : { ...hopeful, failure: telling.failure };
}
