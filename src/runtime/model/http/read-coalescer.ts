/** A first pause comes when two reads follow each other within this time. */
const FAST_MS = 25;

/** Pauses go on while each of them gathers at least so many pieces. */
const MANY_PIECES = 3;

/** A read larger than this is no trickle: there is more to come, and waiting gains nothing. */
const TRICKLE_BYTES = 32 * 1024;

/** What is paused. */
interface Reading {
  pause(): void;
  readOn(): void;
}

/**
 * A stream of many small pieces costs a system call, a parser run and a wake-up for each. When nobody looks at it that often,
 * reading pauses after each read, and the kernel gathers what comes meanwhile. Slow streams and torrents are not touched.
 */
export class ReadCoalescer {
  readonly #everyMs: number;
  readonly #reading: Reading;
  #readAt = 0;
  #hasPaused = false;
  #timer: NodeJS.Timeout | undefined;

  /** Text is looked at no more often than every so many milliseconds. */
  constructor(everyMs: number, reading: Reading) {
    this.#everyMs = everyMs;
    this.#reading = reading;
  }

  get closed(): boolean {
    return this.#timer !== undefined;
  }

  /** A read brought so many pieces and bytes. */
  wasRead(pieces: number, bytes: number): void {
    const now = performance.now();
    const isFast = this.#hasPaused ? pieces >= MANY_PIECES : now - this.#readAt < FAST_MS;
    this.#readAt = now;
    this.#hasPaused = false;
    if (!isFast || bytes > TRICKLE_BYTES || this.closed) return;
    this.#reading.pause();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#hasPaused = true;
      this.#reading.readOn();
    }, this.#everyMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
