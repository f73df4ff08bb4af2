/** Something that waits for the next turn of the event loop. */
export interface Deferred {
  nextTurn(): void;
}

/**
 * Numbers the turns of the event loop in which input arrives. uWebSockets.js parses all requests of one buffer in one
 * turn and closes the connection when a second one finds the first unanswered. An answer that waits for the next turn
 * therefore makes sure that a request smuggled behind the first is never run. One immediate serves all requests
 * of a turn.
 */
export class TurnClock {
  #turn = 0;
  #armed = false;
  #waiting: Deferred[] = [];

  /** The number of this turn; call it when input arrives. */
  mark(): number {
    if (!this.#armed) {
      this.#armed = true;
      setImmediate(this.#advance);
    }
    return this.#turn;
  }

  /** False while still in the turn that `mark` numbered; then `item` is told in the next one. */
  passed(turn: number, item: Deferred): boolean {
    if (turn !== this.#turn) return true;
    this.#waiting.push(item);
    return false;
  }

  readonly #advance = (): void => {
    this.#armed = false;
    this.#turn += 1;
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const item of waiting) item.nextTurn();
  };
}
