import type { Limiter, LimitReached, Reservation, Usage } from '../../../policy/limiter.ts';
import type { LimitName, LimitSet } from '../../../policy/limit-set.ts';
import type { CallReport } from '../../../runtime/call/runtime.ts';
import { problem, type Problem } from '../problem.ts';
import type { RequestContext } from '../request-context.ts';

const WORDS: Readonly<Record<LimitName, string>> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  in_flight: 'calls in flight',
  cost_per_day: 'cost per day',
};

/** The step of a request of a limited caller: takes units before the call, and settles them when it ends. */
export class LimitStep {
  readonly #context: RequestContext;
  readonly #limiter: Limiter;
  readonly #functionName: string;
  #characters = 0;
  #reservation: Reservation | undefined;
  #ended = false;

  constructor(context: RequestContext, limiter: Limiter, functionName: string) {
    this.#context = context;
    this.#limiter = limiter;
    this.#functionName = functionName;
  }

  /**
   * Returns the problem to answer with if the caller has reached a limit, and undefined if the request can continue or has ended
   * meanwhile. Returns a promise if the worker must ask the primary first. `characters`: the length of the body.
   */
  take(set: LimitSet, characters: number): Problem | undefined | Promise<Problem | undefined> {
    this.#characters = characters;
    const estimate = this.#limiter.estimates.of(this.#functionName, characters);
    const reserved = this.#limiter.reserve(set, estimate);
    return reserved instanceof Promise ? reserved.then(this.#taken.bind(this)) : this.#taken(reserved);
  }

  /** The request ended. `ran`: it had a slot, so that it can have reached a model. */
  end(report: CallReport | undefined, ran: boolean): void {
    this.#ended = true;
    const reservation = this.#reservation;
    if (reservation === undefined) return;
    const used = ran ? usageOf(report) : undefined;
    this.#limiter.settle(reservation, used);
    if (used !== undefined) this.#limiter.estimates.learn(this.#functionName, this.#characters, used);
  }

  #taken(reserved: Reservation | LimitReached): Problem | undefined {
    if ('name' in reserved) return this.#ended ? undefined : this.#refusal(reserved);
    this.#reservation = reserved;
    // The caller left meanwhile.
    if (this.#ended) this.#limiter.settle(reserved, undefined);
    return undefined;
  }

  #refusal({ name, retryAfterSeconds }: LimitReached): Problem {
    const { caller, keyName, services } = this.#context;
    services.metrics.limited(keyName ?? '', name);
    const who = caller === undefined ? 'Your address' : `The key "${caller.name}"`;
    const message = `${who} has reached its limit of ${WORDS[name]}: try again in ${retryAfterSeconds} s.`;
    return problem('rate_limited', message, { limit_name: name }, [['retry-after', String(retryAfterSeconds)]]);
  }
}

/** Undefined if no model was called. What a provider does not report is unknown. */
function usageOf(report: CallReport | undefined): Usage | undefined {
  // The caller left while the call ran.
  if (report === undefined) return { tokens: undefined, cost: undefined };
  const { attempts, cost, usage } = report;
  if (attempts.length === 0) return undefined;
  const { inputTokens, outputTokens } = usage;
  const tokens =
    inputTokens === undefined && outputTokens === undefined ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0);
  return { tokens, cost };
}
