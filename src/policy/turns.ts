/** Numbers the turns of round-robin clients: 0, 1, 2, … for each client. */
export interface Turns {
  next(client: string): number | Promise<number>;
}

/** Turns of one machine, over all its workers. */
export class MachineTurns implements Turns {
  readonly #turns = new Map<string, number>();

  next(client: string): number {
    const turn = this.#turns.get(client) ?? 0;
    this.#turns.set(client, turn + 1);
    return turn;
  }
}
