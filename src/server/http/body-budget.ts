import { ByteBudget } from '../../base/byte-budget.ts';
import type { Config } from '../../config/config.ts';
import { CallerShares } from '../caller-shares.ts';

/** The limit that a body exceeds. */
export type BodyBudgetLimit = 'server' | 'caller';

/**
 * Limits the bytes of the unfinished bodies of a process, in total and for each caller, because a caller decides how slowly
 * its bodies arrive.
 */
export class BodyBudget {
  readonly #all: ByteBudget;
  readonly #shares: CallerShares;

  constructor(limit: number, shareBytes = limit) {
    this.#all = new ByteBudget(limit);
    this.#shares = new CallerShares(shareBytes);
  }

  get held(): number {
    return this.#all.held;
  }

  /** Takes `bytes`. If that exceeds a limit, takes nothing and returns the limit. */
  take(caller: string, bytes: number): BodyBudgetLimit | undefined {
    if (!this.#shares.take(caller, bytes)) return 'caller';
    if (this.#all.take(bytes)) return undefined;
    this.#shares.give(caller, bytes);
    return 'server';
  }

  give(caller: string, bytes: number): void {
    this.#shares.give(caller, bytes);
    this.#all.give(bytes);
  }
}

/** Lowest limit for the unfinished bodies of a worker. */
const MIN_BODY_BUDGET = 64 * 1024 * 1024;

/** Room for four bodies of the largest size, and for a thousand typical ones; for each caller, its share, but at least one body. */
export function createBodyBudget({
  callerShare,
  maxBodyBytes,
}: Pick<Config, 'callerShare' | 'maxBodyBytes'>): BodyBudget {
  const limit = Math.max(4 * maxBodyBytes, MIN_BODY_BUDGET);
  return new BodyBudget(limit, Math.max(maxBodyBytes, limit * callerShare));
}
