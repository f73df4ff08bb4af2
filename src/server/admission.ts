import type { SwapRemoveMember } from '../base/swap-remove-set.ts';
import type { Failure } from '../schema/failure.ts';
import { ByteBudget } from '../base/byte-budget.ts';
import type { Config } from '../config/config.ts';

/** The failure of a call, or of a reply to parse, while the process stops. */
export const DRAINING: Failure = {
  code: 'draining',
  message: 'The server is stopping: try again.',
  retryAfterSeconds: 1,
};

/** A request in flight. */
export interface Drainable extends SwapRemoveMember {
  /** Ends the request because the process stops. */
  drain(): void;
}

/** A call, or a reply to parse, that waits for a slot. */
export interface Waiter {
  /** The caller whose share the slot counts against, if the request decides how long the call lasts. */
  readonly caller?: string | undefined;
  admitted(): void;
}

/** `full`: all slots and the queue are taken. `share`: the caller has reached its share of them. */
export type Refusal = 'full' | 'share';

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
  /** Counts slots and queue positions together, because a waiting call will take a slot. */
  readonly #places: CallerShares;
  readonly #queuePlaces: number;

  /** `callerShare`: the fraction of the slots, and of the queue, that one caller can hold. */
  constructor(limit: number, queueLimit: number, callerShare = 1) {
    this.#limit = limit;
    this.#queueLimit = queueLimit;
    this.#places = new CallerShares(placesOf(limit, callerShare));
    this.#queuePlaces = placesOf(queueLimit, callerShare);
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** The slots and queue positions that one caller can hold in total. */
  get callerPlaces(): number {
    return this.#places.limit;
  }

  /** Returns the reason if the waiter is refused. Otherwise, `admitted` is called now or later, unless `leave` comes first. */
  enter(waiter: Waiter): Refusal | undefined {
    const { caller } = waiter;
    const waits = this.#running >= this.#limit || this.#queue.size > 0;
    if (waits && this.#queue.size >= this.#queueLimit) return 'full';
    if (caller !== undefined && waits && this.#waitingOf(caller) >= this.#queuePlaces) return 'share';
    if (caller !== undefined && !this.#places.take(caller, 1)) return 'share';
    if (waits) {
      this.#queue.add(waiter);
      return undefined;
    }
    this.#running += 1;
    waiter.admitted();
    return undefined;
  }

  /** Removes a waiter from the queue, or passes its slot on. To be called once for each waiter that was not refused. */
  leave(waiter: Waiter): void {
    if (waiter.caller !== undefined) this.#places.give(waiter.caller, 1);
    if (this.#queue.delete(waiter)) return;
    this.#running -= 1;
    if (!this.#admitting) this.#admit();
  }

  /** Admits no waiter any more, also when slots become free. */
  close(): void {
    this.#closed = true;
  }

  /** Counts on demand, because only calls that would wait need the number. */
  #waitingOf(caller: string): number {
    let count = 0;
    for (const waiter of this.#queue) if (waiter.caller === caller) count += 1;
    return count;
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

/** Limits how much of a shared resource each caller holds. A caller that holds nothing takes no memory. */
export class CallerShares {
  readonly limit: number;
  readonly #held = new Map<string, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Returns false and takes nothing if the caller would hold more than its share. */
  take(caller: string, amount: number): boolean {
    const held = (this.#held.get(caller) ?? 0) + amount;
    if (held > this.limit) return false;
    this.#held.set(caller, held);
    return true;
  }

  /** Releases an amount that `take` reserved. */
  give(caller: string, amount: number): void {
    const held = (this.#held.get(caller) ?? 0) - amount;
    if (held > 0) this.#held.set(caller, held);
    else this.#held.delete(caller);
  }
}

/** Returns how many of `total` slots one caller can hold, at least 1. */
export function placesOf(total: number, share: number): number {
  return Math.max(1, Math.floor(total * share));
}

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
