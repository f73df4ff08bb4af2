/** More suggestions would hide the right one. */
const MAX_SUGGESTIONS = 3;

/** Two edits leave little of a name of three letters. */
const LONGEST_SHORT_NAME = 3;

/**
 * Returns at most three names, the nearest to `wanted` by edit distance first (a change of case counts a quarter).
 * Omits names that share no letter with `wanted`, or that are further away than a third of its length (2 edits if that is
 * more, 1.5 for up to three letters). If none is near, returns the names whose words all appear in `wanted`: `delay_ms`
 * for `initial_delay_ms`.
 */
export function nearestNames(wanted: string, names: Iterable<string>): readonly string[] {
  const least = wanted.length <= LONGEST_SHORT_NAME ? 1.5 : 2;
  const limit = Math.min(Math.max(least, Math.floor(wanted.length / 3)), wanted.length - 0.5);
  const scored: Array<{ name: string; distance: number }> = [];
  const distinct = new Set(names);
  for (const name of distinct) {
    if (Math.abs(name.length - wanted.length) > limit) continue;
    const distance = editDistance(wanted, name, limit);
    if (distance <= limit) scored.push({ name, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  const nearest = scored.map((entry) => entry.name);
  return (nearest.length > 0 ? nearest : namesInside(wanted, distinct)).slice(0, MAX_SUGGESTIONS);
}

/** Returns the names of at least two words, joined by "_", whose words all appear in `wanted`. */
function namesInside(wanted: string, names: Iterable<string>): readonly string[] {
  const words = new Set(wanted.split('_'));
  const isInside = (name: string): boolean => name.includes('_') && name.split('_').every((word) => words.has(word));
  return words.size > 1 ? [...names].filter(isInside) : [];
}

/** `Did you mean "A" or "B"?`, or an empty string if no name is near. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  return suggestionOf(nearestNames(wanted, names));
}

/** The same for names that are known to be near. */
export function suggestionOf(names: readonly string[]): string {
  if (names.length === 0) return '';
  const quoted = names.map((name) => `"${name}"`);
  const last = quoted.at(-1) ?? '';
  const head = quoted.slice(0, -1).join(', ');
  return `Did you mean ${head === '' ? last : `${head} or ${last}`}?`;
}

/** Returns the name in `Did you mean "A"?`, or undefined for any other sentence. */
export function onlySuggestion(sentence: string): string | undefined {
  return /^Did you mean "(?<name>[^"]+)"\?$/u.exec(sentence)?.groups?.['name'];
}

/** Returns `Did you mean …?`, or all names if none is near. */
export function didYouMeanOneOf(wanted: string, names: readonly string[]): string {
  return didYouMean(wanted, names) || `Use ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}.`;
}

/**
 * Damerau-Levenshtein distance (optimal string alignment), where a change of case costs 0.25. Can return Infinity for a
 * distance above `limit`, because the comparison stops as soon as the distance is certain to exceed it.
 */
export function editDistance(a: string, b: string, limit = Infinity): number {
  const width = b.length + 1;
  let twoBack: number[] = [];
  let leastBefore = 0;
  let previous = Array.from({ length: width }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column < width; column += 1) {
      const substitution = at(previous, column - 1) + substitutionCost(a.charAt(row - 1), b.charAt(column - 1));
      let best = Math.min(at(previous, column) + 1, at(current, column - 1) + 1, substitution);
      if (isSwap(a, b, row, column)) best = Math.min(best, at(twoBack, column - 2) + 1);
      current.push(best);
      if (best < least) least = best;
    }
    // A swap builds on the row before the previous one, so both rows have to exceed the limit.
    if (least > limit && leastBefore > limit) return Infinity;
    leastBefore = least;
    twoBack = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0;
}

function substitutionCost(a: string, b: string): number {
  if (a === b) return 0;
  return a.toLowerCase() === b.toLowerCase() ? 0.25 : 1;
}

function isSwap(a: string, b: string, row: number, column: number): boolean {
  return (
    row > 1 && column > 1 && a.charAt(row - 1) === b.charAt(column - 2) && a.charAt(row - 2) === b.charAt(column - 1)
  );
}
