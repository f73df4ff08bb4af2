import type { Dispatcher } from 'undici';

/**
 * The connections to one origin. undici frees a connection a turn of the event loop after its response ended (a server
 * may close it after all), so a request that follows on the spot would open one more. Such a request waits for that
 * turn.
 */
export class Upstream {
  readonly #pool: Dispatcher;
  /** Responses that ended in this turn and whose connections nobody claimed yet. */
  #freed = 0;

  constructor(pool: Dispatcher) {
    this.#pool = pool;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.#freed === 0) {
      this.#pool.dispatch(options, handler);
      return;
    }
    this.#freed -= 1;
    setImmediate(() => this.#pool.dispatch(options, handler));
  }

  responseEnded(): void {
    this.#freed += 1;
    if (this.#freed === 1) setImmediate(() => this.#turnEnded());
  }

  /** Waits for requests in flight. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Cuts every connection; requests in flight fail. */
  destroy(): Promise<void> {
    return this.#pool.destroy();
  }

  #turnEnded(): void {
    this.#freed = 0;
  }
}
