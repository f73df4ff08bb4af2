/** Random numbers that depend only on a seed. */
export class RandomTraffic {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1, without 1 (the generator "mulberry32"). */
  uniform(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  /** With median 1. */
  logNormal(spread: number): number {
    return Math.exp(spread * this.#normal());
  }

  /** The number of events of this mean; a normal number for many. */
  poisson(mean: number): number {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.#normal()));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.uniform(); product > limit; product *= this.uniform()) count += 1;
    return count;
  }

  /** Spreads a total over places by connections with log-normal traffic, each of which goes to a random place. */
  share(places: Float64Array, total: number, of: { readonly connections: number; readonly spread: number }): void {
    places.fill(0);
    let sum = 0;
    for (let connection = 0; connection < of.connections; connection += 1) {
      const weight = this.logNormal(of.spread);
      const place = Math.floor(this.uniform() * places.length);
      places[place] = (places[place] ?? 0) + weight;
      sum += weight;
    }
    for (const [place, weight] of places.entries()) places[place] = (weight / sum) * total;
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }
}
