/** Removes the wrappers of checks and states from a value. */
export function bareValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bareValue);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const wrapped =
    entries.length === 2 && entries[0]?.[0] === 'value' && ['checks', 'state'].includes(entries[1]?.[0] ?? '');
  if (wrapped) return bareValue(entries[0]?.[1]);
  return Object.fromEntries(entries.map(([key, inner]) => [key, bareValue(inner)]));
}
