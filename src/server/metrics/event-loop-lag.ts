import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the event loop is looked at. Each look wakes the process, an idle one too: every 20 ms they cost 0.3 % of a core. */
const STEP_MS = 100;

/** Scrapes come more often than that, so each lag is seen, however many scrapers there are and however late an answer is. */
const WINDOW_MS = 30_000;

/** By how much the event loop was late at most, within this window and the one before. */
export class EventLoopLag {
  readonly #delay = monitorEventLoopDelay({ resolution: STEP_MS });
  #before = 0;
  #since = performance.now();

  constructor() {
    this.#delay.enable();
  }

  get seconds(): number {
    const now = performance.now();
    const current = Math.max(0, this.#delay.max / 1e9 - STEP_MS / 1000);
    const greatest = Math.max(this.#before, current);
    if (now - this.#since > WINDOW_MS) {
      this.#before = current;
      this.#since = now;
      this.#delay.reset();
    }
    return greatest;
  }
}
