/** Between the death of a worker that did not come to serve and the next attempt; doubled from one to the next. */
const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 10_000;

/** So many deaths of serving workers within this time are taken for accidents; more look like a fault in the program. */
const FREE_DEATHS = 10;
const FREE_WINDOW_MS = 10_000;

/** How long to wait before a dead worker is made good for: not at all, unless workers die again and again. */
export class RestartPolicy {
  #failedStarts = 0;
  /** When serving workers died lately. */
  #deaths: readonly number[] = [];

  /** A worker serves: starting works. */
  started(): void {
    this.#failedStarts = 0;
  }

  /** No worker has come to serve since one died as it started. */
  get failing(): boolean {
    return this.#failedStarts > 0;
  }

  /** Told of each death; `served` says that the worker had come to listen. */
  delayAfterDeath(served: boolean, now: number): number {
    if (!served) {
      this.#failedStarts += 1;
      return delay(this.#failedStarts);
    }
    this.#deaths = [...this.#deaths.filter((at) => now - at < FREE_WINDOW_MS), now];
    return delay(this.#deaths.length - FREE_DEATHS);
  }
}

function delay(attempt: number): number {
  return attempt <= 0 ? 0 : Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
}
