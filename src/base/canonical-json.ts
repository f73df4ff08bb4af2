/**
 * JSON text with the keys of every object in code-unit order and without spaces: equal data gives equal text, whatever
 * order its keys were made in. Members that are undefined are left out, as JSON.stringify does. For trusted data of
 * modest depth.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members: string[] = [];
  for (const [key, member] of Object.entries(value).toSorted(byKey)) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return compareText(a[0], b[0]);
}

/** Order by UTF-16 code units: the same on every machine, unlike an order by locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
