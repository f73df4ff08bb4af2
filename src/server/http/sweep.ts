import { SwapRemoveSet, type SwapRemoveMember } from '../../base/swap-remove-set.ts';

/** A stream or an unfinished body, which has time limits. */
export interface Swept extends SwapRemoveMember {
  /** Called about once a second. `now`: milliseconds on the monotonic clock. */
  sweep(now: number): void;
}

/** Limits and heartbeats are late by at most this. */
const INTERVAL_MS = 1_000;

/** One timer for the time limits of all its members, instead of one or more timers each. */
export class Sweep {
  readonly #members = new SwapRemoveSet<Swept>();
  #timer: NodeJS.Timeout | undefined;

  add(member: Swept): void {
    this.#members.add(member);
    this.#timer ??= setInterval(() => this.#sweep(), INTERVAL_MS).unref();
  }

  delete(member: Swept): void {
    this.#members.delete(member);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const member of this.#members.list()) this.#members.delete(member);
  }

  #sweep(): void {
    const now = performance.now();
    for (const member of this.#members.list()) member.sweep(now);
    if (this.#members.size === 0) this.close();
  }
}
