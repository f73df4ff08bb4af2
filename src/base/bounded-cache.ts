/** The maximum number of entries of a cache, and of characters of all entries together. */
interface CacheLimits {
  readonly entries: number;
  readonly characters: number;
}

/** An LRU cache with a maximum number of entries and of characters. */
export class BoundedCache<Value> {
  readonly #limits: CacheLimits;
  /** In the order of last use. */
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

  /** `characters`: the size of the value. A value that exceeds the limit is not kept. */
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

/**
 * Sets an entry and makes it the newest one of the map: an iteration reaches it last. Deletes the oldest entry if the map then has more
 * than `max`.
 */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
