import type { NameNode } from '../1-parse/syntax-nodes.ts';

/** Calls `found` for each item whose name an earlier item has, with the first item of that name. */
export function eachDuplicate<T>(
  items: readonly T[],
  nameOf: (item: T) => NameNode,
  found: (item: T, first: T) => void,
): void {
  const seen = new Map<string, T>();
  for (const item of items) {
    const name = nameOf(item).text;
    const first = seen.get(name);
    if (first === undefined) seen.set(name, item);
    else found(item, first);
  }
}
