/**
 * Returns whether a pattern, in which `*` matches any text, matches a whole name. Takes each part of the pattern where it first
 * appears: the time is linear, unlike that of a regular expression.
 */
export function matchesWildcard(pattern: string, name: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return name === head;
  if (!name.startsWith(head) || name.length < head.length + tail.length || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let from = head.length;
  for (const part of parts) {
    const found = name.indexOf(part, from);
    if (found === -1 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
