/** The longest distance between two slots. It adds at most this to the first interval of a stream. */
const MAX_SLOT_MS = 12.5;

/**
 * Decides when to send a partial: the first at once, then at most one per interval. With an interval of 0, each delta of text
 * sends one. The partials of all streams are due in the same slots, so that one turn of the event loop serves many streams.
 */
export class PartialPace {
  readonly #intervalMs: number;
  /** Divides the interval, so that a stream that keeps its rhythm waits for no slot. */
  readonly #slotMs: number;
  readonly #due: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** In the past: the partial is due. */
  #nextAt = -Infinity;

  constructor(intervalMs: number, due: () => void) {
    this.#intervalMs = intervalMs;
    this.#slotMs = intervalMs / Math.ceil(intervalMs / MAX_SLOT_MS);
    this.#due = due;
  }

  /** The time until the next partial is due; a whole interval if it is due already. */
  get restMs(): number {
    const wait = this.#nextAt - performance.now();
    return wait > 0 ? wait : this.#intervalMs;
  }

  /** To be called for new text: calls `due` now, or at the end of the interval. */
  touch(): void {
    if (this.#timer !== undefined) return;
    const wait = this.#nextAt - performance.now();
    if (wait <= 0) this.#due();
    else this.#timer = setTimeout(this.#fire, wait);
  }

  /** To be called when there is text that the last partial did not read: calls `due` later, even with an interval of 0. */
  readOn(): void {
    this.#timer ??= setTimeout(this.#fire, Math.max(1, this.#intervalMs));
  }

  /** To be called when a partial was sent. */
  sent(): void {
    if (this.#intervalMs === 0) return;
    const now = performance.now();
    const lateMs = now - this.#nextAt;
    // Another message of the same turn has begun the interval. A timer can fire a little early.
    if (lateMs < -this.#slotMs / 2) return;
    // A partial that is a little late belongs to its slot: otherwise, a busy turn would cost its last streams another slot.
    const sentAt = lateMs < this.#slotMs ? this.#nextAt : Math.ceil(now / this.#slotMs) * this.#slotMs;
    this.#nextAt = sentAt + this.#intervalMs;
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
