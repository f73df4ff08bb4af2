import type { ReplyNode } from '../text/reply-node.ts';
import { objectOf, valueOf } from './make-node.ts';
import { readingsOf } from './tables.ts';

/*
 * CSV and TSV: a header, and rows whose cells the same character separates. A comma or semicolon inside a cell separates
 * nothing if the header has another separator.
 */

const FENCE = /^```(?:csv|tsv)\b[^\n]*\n([^]*?)^```/imu;

/** The characters between cells. Of two with which the text is equally a table, the first one counts. */
const SEPARATORS = ['\t', ';', ','] as const;

/** A cell in quotes, in which quotes are doubled, or without. */
const CELLS = SEPARATORS.map(
  (mark) =>
    new RegExp(
      String.raw`(?:^|${mark})(?:[^\S\t\n]*"((?:[^"]|"")*)"[^\S\t\n]*|([^\S\t\n]*(?![^\S\t\n]|")[^${mark}\n]*|[^\S\t\n]*))(?=${mark}|$)`,
      'gu',
    ),
);

interface Row {
  readonly cells: readonly string[];
  /** An empty line is above. */
  readonly startsParagraph: boolean;
}

interface Table {
  readonly header: readonly string[];
  /** The number of rows with as many cells as the header. */
  readonly whole: number;
  readonly rows: readonly (readonly string[])[];
}

/** Returns the readings of CSV with a header of at least two cells. */
export function csvValues(text: string): readonly ReplyNode[] {
  const fence = FENCE.exec(text)?.[1];
  const lines = linesOf(fence ?? text);
  const inFence = fence !== undefined;
  const tables = CELLS.map((cell) => tableOf(rowsOf(lines, cell, inFence), inFence));
  const [table] = tables.toSorted((a, b) => b.whole - a.whole);
  if (table === undefined || table.rows.length === 0) return [];
  const { header, rows } = table;
  const isPairs = table === tables[0] && header.length === 2 && rows.every((row) => row.length === 2);
  const pairs = isPairs
    ? [objectOf([header, ...rows].map((row) => [row[0] ?? '', valueOf(row[1] ?? '')] as const))]
    : [];
  return header.every((name) => NAME.test(name)) ? [...pairs, ...readingsOf(header, rows)] : pairs;
}

const NAME = /^[\p{L}\p{N}_ .()[\]-]{1,60}$/u;

function linesOf(text: string): readonly { readonly text: string; readonly startsParagraph: boolean }[] {
  const lines = text.split('\n').map((line) => line.replaceAll(/^[^\S\t]+|[^\S\t]+$/gu, ''));
  return lines.flatMap((line, at) =>
    /^(?:\s*$|```)/u.test(line) ? [] : { text: line, startsParagraph: (lines[at - 1] ?? '').trim() === '' },
  );
}

/** The bullet or number of a list item, whose commas separate no cells: `- 1,000`. A mark directly before a separator is a cell (`- , 5`). */
const ITEM = /^(?:[-*+•‣◦▪–]|\(?\d{1,4}[.)]) +(?![ ,;\t])/u;

function rowsOf(lines: ReturnType<typeof linesOf>, cell: RegExp, inFence: boolean): readonly Row[] {
  return lines.map(({ text, startsParagraph }) => {
    const isItem = !inFence && ITEM.test(text);
    return { cells: isItem ? [text] : cellsOf(text, cell), startsParagraph };
  });
}

/** Returns the cells of a line; the line itself if its quotes are not those of CSV. */
function cellsOf(line: string, cell: RegExp): readonly string[] {
  const cells = [...line.matchAll(cell)];
  const length = cells.reduce((sum, [match]) => sum + match.length, 0);
  if (length !== line.length) return [line];
  return cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? (plain ?? '').trim());
}

/**
 * Returns the longest run of rows with the same number of cells, at least two: prose can be before and after them. A row
 * directly below with another number of cells belongs to the table. In a fence, all lines do.
 */
function tableOf(rows: readonly Row[], inFence: boolean): Table {
  const run = inFence ? { from: 0, to: rows.length } : longestRun(rows);
  const header = rows[run.from]?.cells ?? [];
  if (header.length < 2) return { header, whole: 0, rows: [] };
  let { to } = run;
  for (let row = rows[to]; row?.startsParagraph === false && !isSentence(row); row = rows[to]) to += 1;
  const below = rows.slice(run.from + 1, to).map(({ cells }) => cells);
  return { header, rows: below, whole: below.filter((cells) => cells.length === header.length).length };
}

function isSentence({ cells: [first = '', ...others] }: Row): boolean {
  return others.length === 0 && /[.!?:)]$/u.test(first);
}

/** Rows belong together if an empty line is above all of them but the first, or above none. */
function longestRun(rows: readonly Row[]): { readonly from: number; readonly to: number } {
  let best = { from: 0, to: 0 };
  let from = 0;
  for (let at = 1; at <= rows.length; at += 1) {
    const size = rows[from]?.cells.length ?? 0;
    const isSame = rows[at]?.startsParagraph === rows[from + 1]?.startsParagraph;
    if (at < rows.length && isSame && rows[at]?.cells.length === size) continue;
    if (size > 1 && at - from > best.to - best.from) best = { from, to: at };
    from = at;
  }
  return best;
}
