/** A call, or a reply to parse, that waits for a slot. */
export interface Waiter {
  admitted(): void;
}

/**
 * Limits how many calls, or large replies to parse, run at the same time in this process. Others wait in order, up to a limit;
 * beyond it they are refused, because an unlimited queue answers every caller too late.
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

  /** Returns false when the waiter is refused. Otherwise `admitted` is called now or later, unless `leave` comes first. */
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

  /** Removes a waiter from the queue, or passes its slot on. To be called once for each waiter that was not refused. */
  leave(waiter: Waiter): void {
    if (this.#queue.delete(waiter)) return;
    this.#running -= 1;
    if (!this.#admitting) this.#admit();
  }

  /** Admits no waiter any more, also when slots become free. */
  close(): void {
    this.#closed = true;
  }

  /** Loops instead of recursing: an admitted waiter can leave before `admitted` returns. */
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
 * One worker's share of a limit of the whole server, at least 1. The kernel spreads connections over the workers, so equal
 * shares keep the limit without messages between processes.
 */
export function shareOf(total: number, workers: number): number {
  return total < workers ? Math.min(1, total) : Math.floor(total / workers);
}
