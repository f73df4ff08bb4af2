import { ByteBudget } from '../../base/byte-budget.ts';
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
