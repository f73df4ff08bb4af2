import type { AnswerStore, Claim } from '../policy/answer-store.ts';
import type { Logger } from '../logging/logger.ts';

/**
 * The longest wait of one claim; then the worker claims again. A primary that hangs delays a call by a little more than this, and a
 * caller that has left stops waiting within this time.
 */
const WAIT_MS = 2_000;

export interface KeptAnswersOptions {
  readonly store: AnswerStore;
  readonly logger: Logger;
  /** The most claims at once. Calls that wait hold their bodies in memory, like calls that wait for a slot. */
  readonly limit: number;
}

/** Claims kept answers for the calls of one worker. */
export class KeptAnswers {
  readonly #store: AnswerStore;
  readonly #warn: (error: unknown) => void;
  readonly #limit: number;
  #claims = 0;
  #failures = 0;

  constructor({ store, logger, limit }: KeptAnswersOptions) {
    this.#store = store;
    this.#warn = minuteWarning(logger, 'kept answers are not available, so calls run as if none were kept');
    this.#limit = limit;
  }

  /** The claims so far that the store did not answer. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Claims a key, and waits for another call that owns it until `remainingMs` returns 0; then the claim is `busy`. `full`: too many
   * calls wait. `failed`: the store does not work, and the call goes on without it. Never rejects.
   */
  async claim(key: string, remainingMs: () => number): Promise<Claim | 'full' | 'failed'> {
    if (this.#claims >= this.#limit) return 'full';
    this.#claims += 1;
    try {
      for (let left = remainingMs(); left > 0; left = remainingMs()) {
        const claim = await this.#store.claim(key, Math.min(WAIT_MS, left));
        if (claim.kind !== 'busy') return claim;
      }
      return { kind: 'busy' };
    } catch (error) {
      this.#failures += 1;
      this.#warn(error);
      return 'failed';
    } finally {
      this.#claims -= 1;
    }
  }
}

const MINUTE_MS = 60_000;

/** Returns a function that logs an error with this sentence, at most once a minute: what fails for every call would fill the log. */
export function minuteWarning(logger: Pick<Logger, 'warn'>, sentence: string): (error: unknown) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now - warnedAt < MINUTE_MS) return;
    warnedAt = now;
    logger.warn({ err: error }, sentence);
  };
}
