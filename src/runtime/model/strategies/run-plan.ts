import type { Cancellation } from '../../../base/cancellation.ts';
import { invariant } from '../../../base/invariant.ts';
import { err, type Result } from '../../../base/result.ts';
import type { RetryPolicyType, RetryStrategy } from '../../../schema/client.ts';
import type { InvalidReply } from '../../../schema/message.ts';
import type { AttemptFailure } from '../attempt-failure.ts';
import type { ClientSource } from '../client-options.ts';
import type { ClientPlan, FallbackPlan, RoundRobinPlan } from './client-plan.ts';
import { memberForKey, memberForTurn, membersInOrder, type CoolingClients } from './strategy-members.ts';

interface PlanContext<T> {
  /**
   * Asks one client once: for the answer to the prompt, or, with `invalid`, for the correction of that reply. The result is up to the
   * caller, who can reject a reply.
   */
  readonly attempt: (
    source: ClientSource,
    deadlineAt: number,
    invalid?: InvalidReply,
  ) => Promise<Result<T, AttemptFailure>>;
  readonly cancellation: Cancellation;
  readonly turn: RoundRobinTurns;
  /** Absent: no client cools down. */
  readonly cooling?: CoolingClients | undefined;
  /** Decides the members of round-robin clients instead of their turns. */
  readonly routeKey?: string | undefined;
  /** True once the call has made all the requests that it can make: no retry and no other client follows. */
  readonly exhausted: () => boolean;
}

/** Asks the clients of a plan until one succeeds, within the deadline (on the monotonic clock). */
export function runPlan<T>(
  plan: ClientPlan,
  deadlineAt: number,
  context: PlanContext<T>,
  above = NO_REASKS,
): Promise<Result<T, AttemptFailure>> {
  const until =
    plan.totalTimeoutMs === undefined ? deadlineAt : Math.min(deadlineAt, performance.now() + plan.totalTimeoutMs);
  const { retry } = plan;
  const reasks = retry === undefined ? above : reasksOf(retry);
  if (retry === undefined || retry.maxRetries <= 0) return runOnce({ plan, index: 0, reasks }, until, context);
  const { cancellation, exhausted } = context;
  return withRetries({ policy: retry, deadlineAt: until, cancellation, exhausted }, (index) =>
    runOnce({ plan, index, reasks }, until, context),
  );
}

/** One of the runs of a plan that its retry policy allows. */
interface Run<Plan = ClientPlan> {
  readonly plan: Plan;
  /** 0 for the first run, 1 for the first retry. */
  readonly index: number;
  readonly reasks: Reasks;
}

function runOnce<T>(run: Run, deadlineAt: number, context: PlanContext<T>): Promise<Result<T, AttemptFailure>> {
  const { plan, index, reasks } = run;
  switch (plan.kind) {
    case 'single':
      return reasks === NO_REASKS
        ? context.attempt(plan.source, deadlineAt)
        : runWithReasks({ source: plan.source, reasks }, deadlineAt, context);
    case 'fallback':
      return runFallback({ plan, reasks }, deadlineAt, context);
    case 'round-robin':
      return runRoundRobin({ plan, index, reasks }, deadlineAt, context);
  }
}

/** The re-asks that are left for the clients of one retry policy. The policy nearest to a client counts. */
interface Reasks {
  left: number;
  /** The last re-ask, if it failed in another way: its retry sends the same messages. */
  pending?: { readonly source: ClientSource; readonly invalid: InvalidReply } | undefined;
}

const NO_REASKS: Reasks = { left: 0 };

function reasksOf({ onInvalidReply = 0 }: RetryPolicyType): Reasks {
  return onInvalidReply === 0 ? NO_REASKS : { left: onInvalidReply };
}

/** Asks a client, and asks it again while its replies do not fit. A re-ask follows at once: nothing has to recover. */
async function runWithReasks<T>(
  { source, reasks }: { readonly source: ClientSource; readonly reasks: Reasks },
  deadlineAt: number,
  context: PlanContext<T>,
): Promise<Result<T, AttemptFailure>> {
  for (;;) {
    const { pending } = reasks;
    const result = await context.attempt(source, deadlineAt, pending?.source === source ? pending.invalid : undefined);
    const invalid = result.ok ? undefined : result.failure.invalidReply;
    if (invalid === undefined) return result;
    reasks.pending = undefined;
    const isOver = context.cancellation.cancelled || context.exhausted() || performance.now() >= deadlineAt;
    if (isOver || reasks.left === 0) return result;
    reasks.left -= 1;
    reasks.pending = { source, invalid };
  }
}

/** Asks the members, as a rule in their order: any failure leads to the next, unless the call is cancelled or its time is over. */
async function runFallback<T>(
  { plan, reasks }: Pick<Run<FallbackPlan>, 'plan' | 'reasks'>,
  deadlineAt: number,
  context: PlanContext<T>,
): Promise<Result<T, AttemptFailure>> {
  const failures: AttemptFailure[] = [];
  for (const member of membersInOrder(plan.members, context.cooling)) {
    const result = await runPlan(member, deadlineAt, context, reasks);
    if (result.ok) return result;
    failures.push(result.failure);
    if (context.cancellation.cancelled || context.exhausted() || performance.now() >= deadlineAt) break;
  }
  return err(summary(failures));
}

/** Turns of a client that only one request knows are counted within its retries. */
async function runRoundRobin<T>(
  { plan, index, reasks }: Run<RoundRobinPlan & { readonly name: string }>,
  deadlineAt: number,
  context: PlanContext<T>,
): Promise<Result<T, AttemptFailure>> {
  const { routeKey, cooling } = context;
  const member =
    routeKey === undefined
      ? memberForTurn(plan, plan.ofRequest ? index : await context.turn(plan.name, deadlineAt), cooling)
      : memberForKey(plan, { routeKey, index }, cooling);
  return runPlan(member, deadlineAt, context, reasks);
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
