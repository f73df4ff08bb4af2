/** Something that waits for a place. */
export interface Waiter {
  admitted(): void;
}

/**
 * How many calls, or large replies to parse, have their turn at once in this process. More wait in order, up to a bound;
 * beyond it they are refused, since a queue without end answers everybody too late.
 */
export class Admission {
  readonly #limit: number;
  readonly #queueLimit: number;
  readonly #queue = new Set<Waiter>();
  #running = 0;

  constructor(limit: number, queueLimit: number) {
    this.#limit = limit;
    this.#queueLimit = queueLimit;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** False: refused. Otherwise `admitted` is called now or later, unless `leave` comes first. */
  enter(waiter: Waiter): boolean {
    if (this.#running < this.#limit) {
      this.#running += 1;
      waiter.admitted();
      return true;
    }
    if (this.#queue.size >= this.#queueLimit) return false;
    this.#queue.add(waiter);
    return true;
  }

  /** Gives the place of an admitted one to the next, or takes one that waits out of the queue. Once for each. */
  leave(waiter: Waiter): void {
    if (this.#queue.delete(waiter)) return;
    const [next] = this.#queue;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#queue.delete(next);
    next.admitted();
  }
}

/**
 * What one of so many workers may have of a limit of the whole server. The system spreads connections over the workers, so
 * equal shares keep the limit without a word between processes; each has one place at least.
 */
export function shareOf(total: number, workers: number): number {
  return total < workers ? Math.min(1, total) : Math.floor(total / workers);
}
