const TICK_MS = 25;

/**
 * The end of a connection that the provider had already closed arrives at most one round trip after the request. 100 ms are
 * a long round trip within a continent; the retry policy covers providers farther away and those that end a connection
 * because of the request.
 */
const WINDOW_TICKS = 4;

/**
 * Measures the time in which this process could read from its sockets. A tick ends after the event loop has read everything that
 * had arrived: a process that was busy for a second does not count that second, and first sees what arrived meanwhile.
 */
export class ReadClock {
  #ticks = 0;
  #until = 0;
  #isRunning = false;

  /** Opens a window of 75 to 100 ms, and returns its end. */
  open(): number {
    this.#until = this.#ticks + WINDOW_TICKS;
    if (!this.#isRunning) this.#run();
    return this.#until;
  }

  isOpen(end: number): boolean {
    return this.#ticks < end;
  }

  /** Runs only while a window is open. */
  #run(): void {
    this.#isRunning = true;
    // The event loop runs timers before it reads, and immediates after it.
    setTimeout(() => setImmediate(this.#tick).unref(), TICK_MS).unref();
  }

  readonly #tick = (): void => {
    this.#ticks += 1;
    this.#isRunning = false;
    if (this.#ticks < this.#until) this.#run();
  };
}
