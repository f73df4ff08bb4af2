/**
 * Decides when a partial may leave: the first at once, then at most one per interval. With an interval of 0 each piece
 * of text brings one.
 */
export class PartialPace {
  readonly #intervalMs: number;
  readonly #due: () => void;
  #timer: NodeJS.Timeout | undefined;
  #nextAt = 0;

  constructor(intervalMs: number, due: () => void) {
    this.#intervalMs = intervalMs;
    this.#due = due;
  }

  /** There may be something new: calls `due` now, or when the interval is over. */
  touch(): void {
    if (this.#timer !== undefined) return;
    const wait = this.#nextAt - performance.now();
    if (wait <= 0) this.#due();
    else this.#timer = setTimeout(this.#fire, wait);
  }

  /** A partial left. */
  sent(): void {
    this.#nextAt = performance.now() + this.#intervalMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #fire = (): void => {
    this.#timer = undefined;
    this.#due();
  };
}
