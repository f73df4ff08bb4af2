import type { TransportOptions } from '../transport.ts';
import { Sweep } from '../sweep.ts';

/** The state of a transport that its requests use. */
export class TransportState {
  readonly options: TransportOptions;
  /** Unfinished bodies. */
  readonly bodies = new Sweep();
  /** Every answer is the last one of its connection. */
  finishing = false;
  #unsentAnswers = 0;

  constructor(options: TransportOptions) {
    this.options = options;
  }

  /** Complete answers that their clients have not received yet: a drain waits for them. */
  get unsentAnswers(): number {
    return this.#unsentAnswers;
  }

  /** Returns a function to call when the answer was sent or its client left; further calls of it do nothing. */
  beginAnswer(): () => void {
    this.#unsentAnswers += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#unsentAnswers -= 1;
    };
  }
}
