/** A complete answer, or the end of a stream, that its client has not accepted yet. */
export interface UnreadAnswer {
  /** The bytes that only this answer holds: 0 for a page whose buffer all answers share. */
  readonly unreadBytes: number;
  /** Ends the connection. */
  cut(): void;
}

/**
 * The answers that clients have not accepted yet. Above the limit, cuts large ones, so that callers with answers of the usual
 * size keep theirs: of the answers at least half as large as the largest, the one whose client has accepted nothing for the
 * longest time. A single answer is always allowed.
 */
export class UnreadAnswers {
  readonly #limit: number;
  /** In the order in which clients last accepted data. */
  readonly #members = new Set<UnreadAnswer>();
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
    if (this.#members.has(answer)) return;
    this.#members.add(answer);
    this.#bytes += answer.unreadBytes;
    while (this.#bytes > this.#limit && this.#members.size > 1) this.#cutOne();
  }

  /** To be called when the client accepted a part of the answer. */
  progressed(answer: UnreadAnswer): void {
    if (this.#members.delete(answer)) this.#members.add(answer);
  }

  delete(answer: UnreadAnswer): void {
    if (this.#members.delete(answer)) this.#bytes -= answer.unreadBytes;
  }

  #cutOne(): void {
    let most = 0;
    for (const { unreadBytes } of this.#members) most = Math.max(most, unreadBytes);
    for (const answer of this.#members) {
      if (answer.unreadBytes < most / 2) continue;
      this.delete(answer);
      answer.cut();
      return;
    }
  }
}
