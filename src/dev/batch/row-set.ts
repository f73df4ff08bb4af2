/** A set of row numbers up to a known maximum, in one bit each: a batch can have millions of rows. */
export class RowSet {
  size = 0;
  readonly #bits: Uint8Array;

  constructor(max: number) {
    this.#bits = new Uint8Array((max >> 3) + 1);
  }

  has(row: number): boolean {
    return ((this.#bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  /** Adds a row up to the maximum. */
  add(row: number): void {
    if (this.has(row)) return;
    this.#bits[row >> 3] = (this.#bits[row >> 3] ?? 0) | (1 << (row & 7));
    this.size += 1;
  }
}
