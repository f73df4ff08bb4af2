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
