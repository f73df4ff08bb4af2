import { SwapRemoveSet, type SwapRemoveMember } from '../../../base/swap-remove-set.ts';

/** Something that looks at the clock now and then. */
export interface Swept extends SwapRemoveMember {
  sweep(now: number): void;
}

/** How often streams look at the clock: heartbeats and cuts are late by at most this. */
const INTERVAL_MS = 1_000;

/** One timer for the heartbeats and limits of all streams, instead of several each. */
export class StreamSweep {
  readonly #streams = new SwapRemoveSet<Swept>();
  #timer: NodeJS.Timeout | undefined;

  add(stream: Swept): void {
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => this.#sweep(), INTERVAL_MS).unref();
  }

  delete(stream: Swept): void {
    this.#streams.delete(stream);
  }

  #sweep(): void {
    const now = performance.now();
    for (const stream of this.#streams.list()) stream.sweep(now);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
