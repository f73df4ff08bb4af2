import type { TransportOptions } from '../transport.ts';
import { Sweep } from '../sweep.ts';
import { UnreadAnswers } from './unread-answers.ts';

/** The state of a transport that its requests use. */
export class TransportState {
  readonly options: TransportOptions;
  /** Unfinished bodies. */
  readonly bodies = new Sweep();
  /** Complete answers that their clients have not accepted yet: a drain waits for them. */
  readonly unread: UnreadAnswers;
  /** Every answer is the last one of its connection. */
  finishing = false;
  /** The number of next answers that end their connections. */
  handOvers = 0;

  constructor(options: TransportOptions) {
    this.options = options;
    this.unread = new UnreadAnswers(options.maxUnreadBytes);
  }

  /** Takes one hand-over; returns true if the answer that begins now must end its connection. */
  takeHandOver(): boolean {
    if (this.handOvers === 0) return false;
    this.handOvers -= 1;
    return true;
  }
}
