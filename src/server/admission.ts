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
  #admitting = false;
  #closed = false;

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
    if (this.#running < this.#limit && this.#queue.size === 0) {
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
    this.#running -= 1;
    if (!this.#admitting) this.#admit();
  }

  /** Those that wait go on waiting, whatever becomes free. */
  close(): void {
    this.#closed = true;
  }

  /** One after the other, not one inside the other: what is admitted may leave before it returns. */
  #admit(): void {
    this.#admitting = true;
    try {
      for (const next of this.#queue) {
        if (this.#closed || this.#running >= this.#limit) return;
        this.#queue.delete(next);
        this.#running += 1;
        next.admitted();
      }
    } finally {
      this.#admitting = false;
    }
  }
}

/**
 * What one of so many workers may have of a limit of the whole server. The system spreads connections over the workers, so
 * equal shares keep the limit without a word between processes; each has one place at least.
 */
export function shareOf(total: number, workers: number): number {
  return total < workers ? Math.min(1, total) : Math.floor(total / workers);
}
