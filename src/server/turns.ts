/** Lets so many at a time have something; the others wait in the order in which they came. */
export class Turns {
  readonly #places: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(places: number) {
    this.#places = places;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** True when it is one's turn, which `done` ends; false when the signal came first. */
  take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#taken < this.#places) {
      this.#taken += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const begin = (): void => resolve(true);
      this.#waiting.add(begin);
      signal.addEventListener('abort', () => {
        if (this.#waiting.delete(begin)) resolve(false);
      });
    });
  }

  /** The place goes to who waits longest. */
  done(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
