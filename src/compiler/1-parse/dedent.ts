import { countUpTo } from '../../diagnostics/source-file.ts';
import { trimWhiteSpaceAtEnd, whiteSpaceAtStart } from '../../base/white-space.ts';

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
 * Returns the value of a raw string: without the common indentation of its lines, trimmed at both ends, with `\n` line
 * ends. Lines of white space become empty. Text directly after the opening quote has no indentation, so the other lines
 * keep theirs. `raw` is the text between the delimiters, and `fileOffset` its offset in the file.
 */
export function dedent(raw: string, fileOffset: number, file: string): TemplateSource {
  const source = dedentLines(raw, leastIndentation);
  return trimmed(source, { file, fileOffset, begin: whiteSpaceAtStart(source.text) });
}

/**
 * Does the same for the body of a template_string, with two differences: common indentation consists of the same
 * characters in every line, and the first line of text keeps any indentation beyond it.
 */
export function dedentTemplateString(raw: string, fileOffset: number, file: string): TemplateSource {
  const source = dedentLines(raw, commonIndentation);
  return trimmed(source, { file, fileOffset, begin: lengthOf(/^\n+/u, source.text) });
}

interface Dedented {
  readonly text: string;
  readonly lines: readonly Line[];
}

function dedentLines(raw: string, measure: (lines: readonly string[]) => number): Dedented {
  const lines = linesOf(raw);
  const indentation = measure(lines.map((line) => line.text));
  const shortened = lines.map((line) => shorten(line, indentation));
  return { text: shortened.map((line) => line.text).join('\n'), lines: shortened };
}

interface Cut {
  readonly file: string;
  readonly fileOffset: number;
  readonly begin: number;
}

function trimmed({ text, lines }: Dedented, { file, fileOffset, begin }: Cut): TemplateSource {
  const toRaw = rawOffsets(lines);
  return {
    file,
    text: trimWhiteSpaceAtEnd(text.slice(begin)),
    toFileOffset: (offset) => fileOffset + toRaw(begin + offset),
  };
}

/** Splits a raw string into lines. White space directly after the opening quote belongs to no line. */
function linesOf(raw: string): readonly Line[] {
  const lines: Line[] = [];
  let start = lengthOf(/^[ \t]+/u, raw);
  for (;;) {
    const end = raw.indexOf('\n', start);
    const text = raw.slice(start, end < 0 ? raw.length : end);
    lines.push({ text: text.endsWith('\r') ? text.slice(0, -1) : text, start });
    if (end < 0) return lines;
    start = end + 1;
  }
}

function lengthOf(pattern: RegExp, text: string): number {
  return pattern.exec(text)?.[0].length ?? 0;
}

function leastIndentation(lines: readonly string[]): number {
  const indentations = lines.map((line) => ({ line, indentation: whiteSpaceAtStart(line) }));
  const ofText = indentations.filter(({ line, indentation }) => indentation < line.length);
  return ofText.reduce((least, { indentation }) => Math.min(least, indentation), Number.MAX_SAFE_INTEGER);
}

/** Returns the length of the white space with which every line begins. A line that contains nothing else can be shorter. */
function commonIndentation(lines: readonly string[]): number {
  const first = lines.find((line) => whiteSpaceAtStart(line) < line.length) ?? '';
  let common = first.slice(0, whiteSpaceAtStart(first));
  for (const line of lines.slice(lines.indexOf(first))) {
    const shared = sharedLength(line, common);
    if (shared < line.length) common = common.slice(0, shared);
  }
  return common.length;
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < b.length && a.charAt(length) === b.charAt(length)) length += 1;
  return length;
}

function shorten(line: Line, indentation: number): Line {
  if (whiteSpaceAtStart(line.text) === line.text.length) return { text: '', start: line.start + line.text.length };
  return { text: line.text.slice(indentation), start: line.start + indentation };
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
