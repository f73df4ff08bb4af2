/** Calls `found` for each item whose key an earlier item has, with the first item of that key. */
export function eachDuplicate<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  found: (item: T, first: T) => void,
): void {
  const seen = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, item);
    else found(item, first);
  }
}
