/** A line of each of two texts, side by side; undefined where a text has none. They are equal unless they differ. */
export interface DiffRow {
  readonly a: string | undefined;
  readonly b: string | undefined;
}

/** The table of the comparison has a cell of 4 bytes for each pair of lines: at most 16 MB. Longer texts are compared line by line. */
const MOST_PAIRS = 4_000_000;

/** Puts the lines that two texts share side by side, and what differs between them. */
export function diffLines(a: string, b: string): readonly DiffRow[] {
  const left = linesOf(a);
  const right = linesOf(b);
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const middle = diffMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end));
  const same = left.slice(0, start);
  return [...beside(same, same), ...middle, ...beside(left.slice(left.length - end), right.slice(right.length - end))];
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}

/** The longest common subsequence, from the ends of both texts to their starts. */
function diffMiddle(left: readonly string[], right: readonly string[]): readonly DiffRow[] {
  const width = right.length + 1;
  if (left.length * right.length > MOST_PAIRS) return beside(left, right);
  /** At `i * width + j`: how many lines the rest of `left` from `i` shares with the rest of `right` from `j`. */
  const shared = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number): number => shared[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      shared[i * width + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const rows: DiffRow[] = [];
  let [i, j, fromI, fromJ] = [0, 0, 0, 0];
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) {
      rows.push(...beside(left.slice(fromI, i), right.slice(fromJ, j)), { a: left[i], b: right[j] });
      [i, j] = [i + 1, j + 1];
      [fromI, fromJ] = [i, j];
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return [...rows, ...beside(left.slice(fromI), right.slice(fromJ))];
}

function beside(left: readonly string[], right: readonly string[]): readonly DiffRow[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => ({ a: left[at], b: right[at] }));
}
