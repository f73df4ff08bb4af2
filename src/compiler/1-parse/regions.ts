/** A part of a text, `end` exclusive. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** Answers whether an offset lies in one of many regions, by binary search. */
export class Regions {
  readonly #starts: number[] = [];
  /** The furthest end of the regions up to each one. */
  readonly #ends: number[] = [];

  constructor(regions: readonly Region[]) {
    let furthest = 0;
    for (const { start, end } of regions.toSorted((a, b) => a.start - b.start)) {
      furthest = Math.max(furthest, end);
      this.#starts.push(start);
      this.#ends.push(furthest);
    }
  }

  covers(offset: number): boolean {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return offset < (this.#ends[low - 1] ?? 0);
  }
}
