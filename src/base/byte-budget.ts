/** Limits the bytes that a process holds at once for one purpose, over all its connections. */
export class ByteBudget {
  readonly limit: number;
  #held = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** Takes `bytes` from the budget. Returns false and takes nothing if fewer are left. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.limit) return false;
    this.#held += bytes;
    return true;
  }

  /** Returns bytes that were taken. */
  give(bytes: number): void {
    this.#held -= bytes;
  }
}
