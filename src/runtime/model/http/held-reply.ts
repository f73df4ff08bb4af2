import type { ByteBudget } from '../../../base/byte-budget.ts';

/** The first bytes of each reply do not count: few replies are larger, and a thousand of this size fit in any worker. */
const FREE_BYTES = 64 * 1024;

/** The bytes of one reply that a process holds, from their arrival until the value of the reply is known. */
export class HeldReply {
  readonly #budget: ByteBudget;
  #taken = 0;
  #released = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Sets the number of bytes. Returns false and changes nothing if all replies together would be too large. */
  set(bytes: number): boolean {
    if (this.#released) return true;
    const more = Math.max(0, bytes - FREE_BYTES) - this.#taken;
    if (more > 0 && !this.#budget.take(more)) return false;
    if (more < 0) this.#budget.give(-more);
    this.#taken += more;
    return true;
  }

  release(): void {
    this.set(0);
    this.#released = true;
  }
}
