/** The most entries of a cache, and the most characters of all of them together. */
export interface CacheLimits {
  readonly entries: number;
  readonly characters: number;
}

/** Keeps the values that were used last, within a number of entries and of characters. */
export class BoundedCache<Value> {
  readonly #limits: CacheLimits;
  /** In the order of their last use. */
  readonly #entries = new Map<string, { readonly value: Value; readonly characters: number }>();
  #characters = 0;

  constructor(limits: CacheLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** `characters`: what the value takes. A value beyond the limit is not kept. */
  set(key: string, value: Value, characters: number): void {
    this.#remove(key);
    this.#entries.set(key, { value, characters });
    this.#characters += characters;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.entries && this.#characters <= this.#limits.characters) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#characters -= this.#entries.get(key)?.characters ?? 0;
    this.#entries.delete(key);
  }
}
