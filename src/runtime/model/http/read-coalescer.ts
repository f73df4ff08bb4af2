/** Reading rests only when two reads follow each other within this time. */
const FAST_MS = 25;

/** Rests continue while each of them gathers at least this many chunks. */
const SEVERAL_CHUNKS = 2;

/** After a larger read, more bytes are waiting already, and a rest gains nothing. */
const SMALL_READ_BYTES = 32 * 1024;

interface Reading {
  pause(): void;
  readOn(): void;
}

/**
 * Coalesces the reads of a stream of many small chunks, each of which costs a system call, a parser run and a wake-up. While
 * no text is needed, reading rests, and the kernel gathers the chunks that arrive meanwhile. Slow streams and large reads
 * are not delayed.
 */
export class ReadCoalescer {
  readonly #reading: Reading;
  #readAt = 0;
  /** A rest after the last read is likely to gather chunks. */
  #gains = false;
  #hasRested = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  get isResting(): boolean {
    return this.#timer !== undefined;
  }

  /** Call after each read, with the number of its chunks and bytes. */
  wasRead(chunks: number, bytes: number): void {
    const now = performance.now();
    const isFast = this.#hasRested ? chunks >= SEVERAL_CHUNKS : now - this.#readAt < FAST_MS;
    this.#gains = isFast && bytes <= SMALL_READ_BYTES;
    this.#readAt = now;
    this.#hasRested = false;
  }

  /** No text is needed for this long, counted from now. */
  rest(ms: number): void {
    if (!this.#gains || this.isResting) return;
    this.#reading.pause();
    this.#timer = setTimeout(this.#endRest, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #endRest = (): void => {
    this.#timer = undefined;
    this.#hasRested = true;
    this.#reading.readOn();
  };
}
