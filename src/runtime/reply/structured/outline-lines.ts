import { DECLARED_TYPE, withoutEmphasis } from './make-node.ts';

/*
 * The lines of an outline: each with its column, its bullet or number, its key and its text.
 */

/** A line with content, or a whole fence below a key. */
export interface Line {
  /** The column of the text; headings come before every column, in the order of their levels. */
  readonly depth: number;
  /** The column of the text after the bullet; deeper lines belong to it. */
  readonly inner: number;
  readonly marked: boolean;
  readonly key: string | undefined;
  /** The text after the key, or the whole text. */
  readonly text: string;
  /** The text with its key. */
  readonly whole: string;
  /** The text with its marker. */
  readonly raw: string;
  /** An empty line, a rule or the mark of a fence comes before it. */
  readonly gap: boolean;
  /** A rule comes before it. */
  readonly ruled: boolean;
  /** It is text of its item or record, but of no key. */
  readonly aside: boolean;
  /** The fence that is the value of the key above. */
  readonly fence: Fence | undefined;
}

interface Fence {
  readonly text: string;
  /** Its language is not one of data: the content is a text. */
  readonly isCode: boolean;
}

const HEADINGS = 100;
/** A line of marks, perhaps with the number of a record in its middle. */
const RULE = /^(?:---+|===+|\*\*\*+|([*=-])\1{3,}[^\n]{1,40}\1{4,})$/u;
/** A line of bold words without a mark, which is the heading of the lines below. */
export const BOLD = /^\*\*((?:\d{1,4}[.)] )?[\p{L}_][\p{L}\p{N}_ -]{0,40})\*\*$/u;

export const MARKER = /^(?:[-*+•‣◦▪–]|\(?\d{1,4}[.)]|\(?[a-z]\)|[a-z]\.(?=\s)|\[\d{1,4}\])(?:\s+(?:\[[ xX]\]\s+)?|$)/u;
const HEADING = /^(#{1,6})\s+/u;
/** A key of a few words, before a colon, an equals sign or an arrow; emphasis can end before or after the mark. */
const KEY = new RegExp(
  String.raw`^(?:(?:export|const|let|var|final|val|set|local|my)\s+)?(?:\*\*|__|\x60|")?(?:\d{1,3}[.)]\s+)?([$@%:]?[\p{L}_$][\p{L}\p{N}_$ ./()&'[\]-]{0,60}?)(?:\*\*|__|\x60|")?\s*(?:(?::(?!\/\/|:)|=(?!=|>)|→|->|=>)(?:\*\*|__)?(?:\s+(.*)|(?<=[\w\]]=)(\S.*)|)|\s\.{3,}\s+(.*)|(?<=\*\*|__|\x60)\s*[–—-]\s+(.*)|\s+[–—]\s+(.*)|\s+-\s+([-+$€£]?\d[\d.,]*\s?%?))$`,
  'u',
);

/** A comment as in YAML, with spaces that set it off: a hash after one space can be text. */
const COMMENT = /\s{2,}#\s.*$/u;

/** Returns the lines with content. `takesFences`: a fence below a key is one line. */
export function outlineLines(text: string, takesFences: boolean): readonly Line[] {
  const rows = text.split('\n');
  const fences = takesFences ? new Fences(rows) : undefined;
  const lines: Line[] = [];
  let gap = false;
  let ruled = false;
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at] ?? '';
    const end = fences?.endOf(at, lines.at(-1)) ?? -1;
    const line: Line | undefined = end < 0 ? lineOf(row, gap, ruled) : fenceOf(rows, at, end);
    if (end >= 0) at = end;
    gap = line === undefined;
    ruled = gap && (ruled || RULE.test(row.trim()));
    if (line !== undefined) lines.push(line);
  }
  return withCounts(lines);
}

/** The mark of a fence and its language. */
const FENCE = /^\s*(`{3,})([^`]*)$/u;

/** Returns the fence as a line, without the indentation of its marks. */
function fenceOf(rows: readonly string[], from: number, end: number): Line {
  const depth = columnOf(rows[from] ?? '');
  const indent = new RegExp(String.raw`^[ \t]{0,${Math.min(depth, MAX_INDENT)}}`, 'u');
  const text = rows
    .slice(from + 1, end)
    .map((row) => row.replace(indent, '').replace(/\r$/u, ''))
    .join('\n');
  const whole = text.trim();
  const fence = { text, isCode: !DATA_FENCE.test(rows[from] ?? '') };
  const content = { key: undefined, text: whole, whole, raw: whole };
  return { depth, inner: depth, marked: false, ...content, gap: false, ruled: false, aside: false, fence };
}

const DATA_FENCE = /^\s*`{3,}\s*(?:json[5c]?|ya?ml|te?xt|plaintext|plain|markdown|md)?\s*$/iu;
const MAX_INDENT = 200;

/** The fences that are the values of keys. Another fence contains lines. */
class Fences {
  readonly #rows: readonly string[];
  /** The length of the mark of the fence around the present line; 0 outside. */
  #around = 0;
  /** The least length of a mark that is not closed. */
  #unclosed = Infinity;

  constructor(rows: readonly string[]) {
    this.#rows = rows;
  }

  /** Returns the row that closes the fence in this row, if it is the value of the line above; -1 otherwise. */
  endOf(at: number, above: Line | undefined): number {
    const [, mark = '', language = ''] = FENCE.exec(this.#rows[at] ?? '') ?? [];
    if (mark === '') return -1;
    const isBare = language.trim() === '';
    const isValue = above?.key !== undefined && above.text === '' && !(isBare && this.#around > 0);
    const end = isValue ? this.#closing(at, mark.length) : -1;
    if (end < 0) this.#around = this.#around > 0 && isBare ? 0 : mark.length;
    return end;
  }

  #closing(from: number, length: number): number {
    if (length >= this.#unclosed) return -1;
    for (let at = from + 1; at < this.#rows.length; at += 1) {
      const [, mark = '', language = ''] = FENCE.exec(this.#rows[at] ?? '') ?? [];
      if (mark.length >= length && language.trim() === '') return at;
    }
    this.#unclosed = length;
    return -1;
  }
}

/** A number that counts a record, as its heading: `1.`, `**#1**`, `(1)`, `No. 1:`. */
const COUNT = /^(?:\*\*|__)?(?:[([#]|no\.? ?|nr\.? ?)?(\d{1,4})[.):\]]{0,2}(?:\*\*|__)?:?$/iu;

/**
 * Makes each number that is alone on its line and continues the count the heading of the keys below it, unless these are
 * indented as the members of an item. A number below a key is its value.
 */
function withCounts(lines: readonly Line[]): readonly Line[] {
  let count: number | undefined;
  return lines.map((line, at) => {
    const number = COUNT.exec(line.raw)?.[1];
    const [before, next] = [lines[at - 1], lines[at + 1]];
    const isValue = before?.key !== undefined && before.text === '' && before.depth >= 0;
    if (number === undefined || isValue || next?.key === undefined || next.depth !== line.depth) return line;
    if (count === undefined ? Number(number) > 1 : Number(number) !== count + 1) return line;
    count = Number(number);
    return { ...line, depth: -1, inner: -1, marked: false, key: number, text: '' };
  });
}

/** Returns the line of a text; undefined for a line without content. */
export function lineOf(raw: string, gap = false, ruled = false): Line | undefined {
  const body = raw.trim();
  if (body === '' || body.startsWith('```') || RULE.test(body)) return undefined;
  const around = { raw: body, gap, ruled, aside: false, fence: undefined };
  const indent = columnOf(raw);
  const heading = HEADING.exec(body);
  if (heading !== null) {
    const key = withoutEmphasis(body.slice(heading[0].length)).replace(/:$/u, '');
    const depth = (heading[1] ?? '').length - HEADINGS;
    return { depth, inner: depth, marked: false, key, text: '', whole: key, ...around };
  }
  const marker = MARKER.exec(body)?.[0] ?? '';
  const whole = body.slice(marker.length);
  const bold = marker === '' ? BOLD.exec(body)?.[1] : undefined;
  const { key, value } = bold === undefined ? memberIn(whole) : { key: bold, value: '' };
  const inner = indent + marker.length;
  return {
    depth: indent,
    inner,
    marked: marker !== '',
    key: key?.trim(),
    text: key === undefined ? whole : value.replace(COMMENT, '').trim(),
    whole,
    ...around,
  };
}

/** The first line of a function is code. */
const FUNCTION = /^(?:export |async |public |static ){0,3}(?:def|function)\s+\w{1,60}\s*\(/u;

function memberIn(whole: string): { key: string | undefined; value: string } {
  if (FUNCTION.test(whole)) return { key: undefined, value: '' };
  const [, key, ...values] = KEY.exec(whole) ?? [];
  const value = (values.find((each) => each !== undefined) ?? '').replace(DECLARED_TYPE, '');
  return {
    key,
    value: /^(?:["'[{].*["'\]}]|[\w.+-]+);$|^(?:["'[{].*["'\]}]|-?\d[\d.]*|true|false|null),$/u.test(value)
      ? value.slice(0, -1)
      : value,
  };
}

/** The width of the spaces in front of a line; a tab counts as four. */
function columnOf(raw: string): number {
  const spaces = raw.slice(0, raw.length - raw.trimStart().length);
  return spaces.length + 3 * (spaces.split('\t').length - 1);
}
