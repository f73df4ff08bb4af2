import type { Cancellation } from '../../../base/cancellation.ts';
import { invariant } from '../../../base/invariant.ts';
import type { Result } from '../../../base/result.ts';
import { err } from '../../../base/result.ts';
import type { AttemptFailure } from '../attempt-failure.ts';
import type { ClientSource } from '../client-source.ts';
import type { ClientPlan, FallbackPlan, RoundRobinPlan } from './client-plan.ts';
import { withRetries } from './retry.ts';

export interface PlanContext<T> {
  /** Asks one client once. The result is up to the caller, who can reject a reply. */
  readonly attempt: (source: ClientSource, deadlineAt: number) => Promise<Result<T, AttemptFailure>>;
  readonly cancellation: Cancellation;
  readonly turn: RoundRobinTurns;
  /** True once the call has made all the requests that it can make: no retry and no other client follows. */
  readonly exhausted: () => boolean;
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
  const { cancellation, exhausted } = context;
  return withRetries({ policy: retry, deadlineAt: until, cancellation, exhausted }, (index) =>
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

/** Asks the members in order: any failure leads to the next, unless the call is cancelled or its time is over. */
async function runFallback<T>(
  plan: FallbackPlan,
  deadlineAt: number,
  context: PlanContext<T>,
): Promise<Result<T, AttemptFailure>> {
  const failures: AttemptFailure[] = [];
  for (const member of plan.members) {
    const result = await runPlan(member, deadlineAt, context);
    if (result.ok) return result;
    failures.push(result.failure);
    if (context.cancellation.cancelled || context.exhausted() || performance.now() >= deadlineAt) break;
  }
  return err(summary(failures));
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
 * One failure for a list of them: the last one that comes from a model, since a missing key behind it is less useful.
 * A retry is worthwhile if it is for any of them.
 */
function summary(failures: readonly AttemptFailure[]): AttemptFailure {
  const shown = failures.findLast(({ failure }) => failure.code !== 'missing_credential') ?? failures.at(-1);
  invariant(shown !== undefined, 'a fallback client has members');
  const retryable =
    failures.find(({ retry }) => retry === 'always') ?? failures.find(({ retry }) => retry === 'status');
  return retryable === undefined ? shown : { ...retryable, failure: shown.failure };
}

/**
 * The turn that a round-robin client of the files takes: 0, 1, 2, …; never rejects, and answers before `deadlineAt` (on the
 * monotonic clock). Clients of requests do not count, so the state stays small.
 */
export type RoundRobinTurns = (client: string, deadlineAt: number) => number | Promise<number>;

/** The primary answers in less than a millisecond; a call waits no longer than this. */
const TURN_TIMEOUT_MS = 1000;

/**
 * Turns over all processes, as `shared` counts them. Without an answer in time, this process counts: the order of turns is
 * not worth a call.
 */
export function roundRobinTurns(shared: ((client: string) => number | Promise<number>) | undefined): RoundRobinTurns {
  const turns = new Map<string, number>();
  const own = (client: string): number => {
    const turn = turns.get(client) ?? 0;
    turns.set(client, turn + 1);
    return turn;
  };
  if (shared === undefined) return own;
  return (client, deadlineAt) => inTime(() => shared(client), deadlineAt).catch(() => own(client));
}

function inTime(turn: () => number | Promise<number>, deadlineAt: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const timeoutMs = Math.min(TURN_TIMEOUT_MS, deadlineAt - performance.now());
    const timer = setTimeout(() => reject(new Error('no turn in time')), Math.max(0, timeoutMs));
    void Promise.resolve(turn())
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
