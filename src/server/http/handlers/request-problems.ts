import { didYouMean, nearestNames } from '../../../base/suggestion.ts';
import type { LimitReached, LimitName } from '../../../policy/limiter.ts';
import type { FunctionRuntime } from '../../../runtime/call/runtime.ts';
import type { Failure } from '../../../schema/failure.ts';
import type { Caller } from '../auth.ts';
import { problem, problemOf, type Problem } from '../problem.ts';
import type { RequestContext } from '../request-context.ts';
import { visibleNames } from '../visible-program.ts';

/** All slots and the queue are full. */
export const OVERLOADED: Failure = {
  code: 'overloaded',
  message: 'Too many calls are in flight: try again.',
  retryAfterSeconds: 1,
};

/** The unfinished bodies of the caller have reached its share of the body budget. */
export const TOO_MANY_BODIES: Failure = {
  code: 'overloaded',
  message:
    'Unfinished bodies from your address have reached its share of the memory for bodies (--caller-share): try again.',
  retryAfterSeconds: 1,
};

export function shareUsed(places: number, share: number): Failure {
  const limit = `${places} (--caller-share ${Number((share * 100).toFixed(2))}%)`;
  const message = `Calls from your address that define clients or set variables have reached its share of this worker, ${limit}: try again.`;
  return { code: 'overloaded', message, retryAfterSeconds: 1 };
}

export function waitedTooLong(timeoutMs: number): Failure {
  const message = 'The server is busy: the call waited for a slot until its time was over.';
  return { code: 'timeout', message, timer: 'total', afterMs: Math.round(timeoutMs) };
}

export function lateBodyProblem(): Problem {
  return problem('request_timeout', 'The body did not arrive in time.');
}

export function tooLarge(limit: number): Problem {
  return problem('payload_too_large', `The body is larger than ${limit} bytes.`, { limit });
}

type Functions = Pick<FunctionRuntime, 'functionNames'>;

/** No function has this name. Suggests only functions that the caller can call. */
export function unknownFunctionProblem(
  caller: Caller | undefined,
  name: string,
  { functionNames }: Functions,
): Problem {
  const visible = visibleNames(caller, functionNames);
  const message = `There is no function "${name}". ${didYouMean(name, visible)}`;
  return problemOf({ code: 'function_not_found', message: message.trim(), suggestions: nearestNames(name, visible) });
}

/** The answer is the same whether the function exists or not. */
export function forbidden(caller: Caller, name: string, { functionNames }: Functions): Problem {
  const near = didYouMean(name, visibleNames(caller, functionNames));
  return problem('Forbidden', `The key "${caller.name}" cannot call the function "${name}". ${near}`.trim());
}

const LIMITS: Readonly<Record<LimitName, string>> = {
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
  const message = `${who} has reached its limit of ${LIMITS[name]}: try again in ${retryAfterSeconds} s.`;
  return problem('rate_limited', message, { limit_name: name }, [['retry-after', String(retryAfterSeconds)]]);
}
