import type { Paint } from './paint.ts';
import type { SourceFile } from './source-file.ts';
import type { Span } from './span.ts';

/** Columns of source shown at most; a longer line is cut around the place. */
const MAX_WIDTH = 120;
const TAB = '  ';
/** What would let the text of a file drive the terminal: control characters and changes of direction. */
const CONTROL = /(?!\n)[\p{Cc}\u2028-\u202E\u2066-\u2069]/gu;
/** Characters that take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/gu;
/** Characters that take none: marks over others, joiners. */
const NARROW = /[\p{Mn}\p{Me}\u200B-\u200D]/gu;

/**
 * The lines around a place, with numbers, and marks under it:
 *
 *      |
 *    3 | class A {
 *    4 |   owner Persn
 *      |         ^^^^^
 */
export function codeFrame(file: SourceFile, span: Span, paint: Paint, mark: '^' | '-' = '^'): string {
  const { line, column } = file.positionAt(span.start);
  const text = file.lineText(line);
  const length = Math.min(span.end - span.start, text.length - (column - 1));
  const window = windowOf(column - 1);
  const before = visible(text.slice(window.start, column - 1));
  const marked = visible(text.slice(column - 1, Math.min(column - 1 + length, window.end)));
  const width = String(line).length;
  const margin = (content: string): string => paint.dim(`${content.padStart(width + 1)} |`);
  const marks = ' '.repeat(columns(before)) + paint.mark(mark.repeat(Math.max(1, columns(marked))));
  const shown = [`${margin(String(line))} ${visible(text.slice(window.start, window.end))}`, `${margin('')} ${marks}`];
  const previous = line > 1 ? file.lineText(line - 1) : '';
  if (previous.trim() !== '' && window.start === 0) {
    shown.unshift(`${margin(String(line - 1))} ${visible(previous.slice(0, MAX_WIDTH))}`);
  }
  return [margin(''), ...shown].join('\n');
}

/** Text of a file as it may be printed: tabs of a fixed width, control characters replaced. */
export function visible(text: string): string {
  return text.replaceAll('\t', TAB).replace(CONTROL, '\u00B7');
}

function windowOf(at: number): { readonly start: number; readonly end: number } {
  const start = at < MAX_WIDTH - 20 ? 0 : at - 20;
  return { start, end: start + MAX_WIDTH };
}

function columns(text: string): number {
  return [...text].length + (text.match(WIDE)?.length ?? 0) - (text.match(NARROW)?.length ?? 0);
}
