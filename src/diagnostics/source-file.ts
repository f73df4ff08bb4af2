/** Starts at 1; columns count UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One definition file: its path as shown to the user, its text, and the offsets of its lines. */
export class SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lineStarts: readonly number[];

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
    this.lineStarts = lineStartsOf(text);
  }

  positionAt(offset: number): Position {
    const line = Math.max(1, countUpTo(this.lineStarts, offset));
    return { line, column: offset - (this.lineStarts[line - 1] ?? 0) + 1 };
  }

  /** The text of a 1-based line without its line break; an empty string if there is no such line. `text`: the text, masked. */
  lineText(line: number, text: string): string {
    const start = this.lineStarts[line - 1];
    if (start === undefined) return '';
    const end = this.lineStarts[line] ?? text.length + 1;
    return text.slice(start, end).replace(/[\r\n]+$/u, '');
  }
}

/** The offset of the first character of each line; a line ends with `\n`. */
function lineStartsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Returns how many of the ascending numbers are at most `limit`, by binary search. */
export function countUpTo(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
