/** Reading first pauses when two reads follow each other within this time. */
const FAST_MS = 25;

/** Pauses continue while each of them gathers at least this many chunks. */
const MANY_CHUNKS = 3;

/** After a larger read, more bytes are waiting already, and a pause gains nothing. */
const SMALL_READ_BYTES = 32 * 1024;

interface Reading {
  pause(): void;
  readOn(): void;
}

/**
 * Coalesces the reads of a stream of many small chunks, each of which costs a system call, a parser run and a wake-up. If
 * the text is used less often, reading pauses after each read, and the kernel gathers the chunks that arrive meanwhile.
 * Slow streams and large reads are not delayed.
 */
export class ReadCoalescer {
  readonly #everyMs: number;
  readonly #reading: Reading;
  #readAt = 0;
  #hasPaused = false;
  #timer: NodeJS.Timeout | undefined;

  /** `everyMs`: the shortest time between two uses of the text. */
  constructor(everyMs: number, reading: Reading) {
    this.#everyMs = everyMs;
    this.#reading = reading;
  }

  get isPausing(): boolean {
    return this.#timer !== undefined;
  }

  /** Call after each read, with the number of its chunks and bytes. */
  wasRead(chunks: number, bytes: number): void {
    const now = performance.now();
    const isFast = this.#hasPaused ? chunks >= MANY_CHUNKS : now - this.#readAt < FAST_MS;
    this.#readAt = now;
    this.#hasPaused = false;
    if (!isFast || bytes > SMALL_READ_BYTES || this.isPausing) return;
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
