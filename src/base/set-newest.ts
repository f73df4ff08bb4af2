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
