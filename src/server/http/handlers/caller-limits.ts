import type { LimitReached, Usage } from '../../../policy/limiter.ts';
import type { LimitName } from '../../../policy/limit-set.ts';
import type { CallReport } from '../../../runtime/call/runtime.ts';
import { problem, type Problem } from '../problem.ts';
import type { RequestContext } from '../request-context.ts';

const WORDS: Readonly<Record<LimitName, string>> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  in_flight: 'calls in flight',
  cost_per_day: 'cost per day',
};

/** Counts the refusal in the metrics, and returns the answer to a call whose caller has reached a limit. */
export function limitProblem(context: RequestContext, { name, retryAfterSeconds }: LimitReached): Problem {
  const { caller, keyName, services } = context;
  services.metrics.limited(keyName ?? '', name);
  const who = caller === undefined ? 'Your address' : `The key "${caller.name}"`;
  const message = `${who} has reached its limit of ${WORDS[name]}: try again in ${retryAfterSeconds} s.`;
  return problem('rate_limited', message, { limit_name: name }, [['retry-after', String(retryAfterSeconds)]]);
}

/** Returns the usage of a call that ended, or undefined if it called no model. A number that the provider did not report is undefined. */
export function usageOf(report: CallReport | undefined): Usage | undefined {
  // The caller left while the call ran.
  if (report === undefined) return { tokens: undefined, cost: undefined };
  const { attempts, cost, usage } = report;
  if (attempts.length === 0) return undefined;
  const { inputTokens, outputTokens } = usage;
  const tokens =
    inputTokens === undefined && outputTokens === undefined ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0);
  return { tokens, cost };
}
