/**
 * The order of turns by smooth weighted round-robin, as in nginx: in each cycle, every member has as many turns as its
 * weight, spread as evenly as possible.
 */
export class Weights {
  /** One whole number for each member, and at least one above 0. */
  readonly values: readonly number[];
  /** The smallest whole numbers with the same ratios. */
  readonly #ratios: readonly number[];
  /** Turns after which the order repeats itself. */
  readonly #period: number;
  /** The turns that each member is behind its share, times the period. */
  readonly #behind: number[];
  /** The members of the first turns, as far as a call needed them. */
  readonly #order: number[] = [];

  constructor(values: readonly number[]) {
    this.values = values;
    const divisor = values.reduce(greatestCommonDivisor);
    this.#ratios = values.map((weight) => weight / divisor);
    this.#period = this.#ratios.reduce((total, weight) => total + weight, 0);
    this.#behind = values.map(() => 0);
  }

  /** The index of the member that has this turn. */
  memberAt(turn: number): number {
    const place = turn % this.#period;
    while (this.#order.length <= place) this.#order.push(this.#next());
    return this.#order[place] ?? 0;
  }

  #next(): number {
    let next = 0;
    for (const [index, ratio] of this.#ratios.entries()) {
      this.#behind[index] = (this.#behind[index] ?? 0) + ratio;
      if ((this.#behind[index] ?? 0) > (this.#behind[next] ?? 0)) next = index;
    }
    this.#behind[next] = (this.#behind[next] ?? 0) - this.#period;
    return next;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
