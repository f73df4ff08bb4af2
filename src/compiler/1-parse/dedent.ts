import { countUpTo } from '../../base/count-up-to.ts';

/**
 * The text of a template as the engine reads it: without delimiters, common indentation and surrounding white space.
 */
export interface TemplateSource {
  /** Path of the definition file. */
  readonly file: string;
  readonly text: string;
  /** Maps an offset in `text`, including `text.length`, to an offset in the file. */
  toFileOffset(offset: number): number;
}

interface Line {
  readonly text: string;
  /** Offset of `text` in the raw text. */
  readonly start: number;
}

/**
 * Returns the value of a raw string: without the common indentation of its non-blank lines, trimmed at both ends, and
 * with `\n` as its line ends. `raw` is the text between the delimiters, and `fileOffset` its offset in the file.
 */
export function dedent(raw: string, fileOffset: number, file: string): TemplateSource {
  return dedentLines(raw, (text) => text.trimEnd().length, { file, fileOffset });
}

/**
 * The same for the body of a template_string, which keeps its last line break if the closing delimiter is on a line of
 * its own: `{{ Header() }}Body` then puts `Body` on the next line.
 */
export function dedentTemplateString(raw: string, fileOffset: number, file: string): TemplateSource {
  return dedentLines(raw, endAfterLineBreak, { file, fileOffset });
}

function endAfterLineBreak(text: string): number {
  const end = text.trimEnd().length;
  const lineBreak = text.indexOf('\n', end);
  return end > 0 && lineBreak >= 0 ? lineBreak + 1 : end;
}

interface Place {
  readonly file: string;
  readonly fileOffset: number;
}

function dedentLines(raw: string, endOf: (text: string) => number, place: Place): TemplateSource {
  const lines = linesOf(raw);
  const indentation = commonIndentation(lines);
  const shortened = lines.map((line) => shorten(line, indentation));
  const joined = shortened.map((line) => line.text).join('\n');
  const begin = joined.length - joined.trimStart().length;
  const text = joined.slice(begin, Math.max(begin, endOf(joined)));
  const toRaw = rawOffsets(shortened);
  return { file: place.file, text, toFileOffset: (offset) => place.fileOffset + toRaw(begin + offset) };
}

function linesOf(raw: string): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (;;) {
    const end = raw.indexOf('\n', start);
    const text = raw.slice(start, end < 0 ? raw.length : end);
    lines.push({ text: text.endsWith('\r') ? text.slice(0, -1) : text, start });
    if (end < 0) return lines;
    start = end + 1;
  }
}

function commonIndentation(lines: readonly Line[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { text } of lines) {
    const indentation = text.length - text.trimStart().length;
    if (indentation < text.length) least = Math.min(least, indentation);
  }
  return Number.isFinite(least) ? least : 0;
}

function shorten(line: Line, indentation: number): Line {
  const removed = Math.min(indentation, line.text.length);
  return { text: line.text.slice(removed), start: line.start + removed };
}

/** Maps an offset in the joined lines to an offset in the raw text. */
function rawOffsets(lines: readonly Line[]): (offset: number) => number {
  const starts: number[] = [];
  let length = 0;
  for (const line of lines) {
    starts.push(length);
    length += line.text.length + 1;
  }
  return (offset) => {
    const index = Math.max(0, countUpTo(starts, offset) - 1);
    return (lines[index]?.start ?? 0) + offset - (starts[index] ?? 0);
  };
}
