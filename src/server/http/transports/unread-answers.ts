import { SwapRemoveSet, type SwapRemoveMember } from '../../../base/swap-remove-set.ts';

/** A complete answer, or the end of a stream, that its client has not accepted yet. */
export interface UnreadAnswer extends SwapRemoveMember {
  /** The bytes that only this answer holds: 0 for a page whose buffer all answers share. */
  readonly unreadBytes: number;
  /** Ends the connection. */
  cut(): void;
}

/**
 * The answers that clients have not accepted yet. Above the limit, cuts the largest one, so that callers with answers of the
 * usual size keep theirs. A single answer is always allowed.
 */
export class UnreadAnswers {
  readonly #limit: number;
  readonly #members = new SwapRemoveSet<UnreadAnswer>();
  #bytes = 0;

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#members.size;
  }

  /** `unreadBytes` must not change until `delete`. */
  add(answer: UnreadAnswer): void {
    if (answer.setIndex >= 0) return;
    this.#members.add(answer);
    this.#bytes += answer.unreadBytes;
    while (this.#bytes > this.#limit && this.#members.size > 1) this.#cutLargest();
  }

  delete(answer: UnreadAnswer): void {
    if (answer.setIndex < 0) return;
    this.#members.delete(answer);
    this.#bytes -= answer.unreadBytes;
  }

  #cutLargest(): void {
    const largest = this.#members.list().reduce((one, other) => (other.unreadBytes > one.unreadBytes ? other : one));
    this.delete(largest);
    largest.cut();
  }
}
