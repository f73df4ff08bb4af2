import { REPAIR, stringNode, type ReplyNode } from './scan/reply-node.ts';
import { listOf, objectOf, valueOf } from './nodes.ts';

/** A reply with more tables is not one value. */
const MAX_TABLES = 30;
/** Every row repeats the header as its keys, so that longer ones would take time in proportion to their length times the rows. */
const MAX_KEY = 100;

/** Returns the readings of the Markdown tables in a text: rows as objects, two columns as keys and values, one column as a list. */
export function tableValues(text: string): readonly ReplyNode[] {
  if (!text.includes('|')) return [];
  const lines = text.split('\n');
  const tables: (readonly ReplyNode[])[] = [];
  for (let at = 0; at + 1 < lines.length && tables.length < MAX_TABLES; at += 1) {
    if (!isRow(lines[at]) || !isRule(lines[at + 1])) continue;
    const header = cellsOf(lines[at] ?? '');
    const rows: Cells[] = [];
    for (at += 2; isRow(lines[at]); at += 1) rows.push(cellsOf(lines[at] ?? ''));
    tables.push(header.every((cell) => cell.length <= MAX_KEY) ? readingsOf(header, rows) : []);
  }
  // A value is read from one table; a flag reports that there are others.
  if (tables.length > 1) for (const node of tables.flat()) node.repairs |= REPAIR.droppedText;
  return tables.flat();
}

type Cells = readonly string[];

function isRow(line: string | undefined): boolean {
  return line?.includes('|') === true;
}

/** The line of dashes between the header and the rows. */
function isRule(line: string | undefined): boolean {
  return line !== undefined && line.includes('|') && line.includes('--') && /^[\s|:-]+$/u.test(line);
}

function cellsOf(line: string): Cells {
  const cells = line
    .trim()
    .replace(/^\|/u, '')
    .replace(/(?<!\\)\|$/u, '')
    .split(/(?<!\\)\|/u);
  return cells.map((cell) =>
    cell
      .replaceAll(String.raw`\|`, '|')
      .replaceAll(/<br\s*\/?>/gu, '\n')
      .trim(),
  );
}

/** A row with more cells than the header is a string, so that a list of objects reports its loss; a row with fewer lacks the last keys. */
function readingsOf(header: Cells, rows: readonly Cells[]): readonly ReplyNode[] {
  const objects = rows.map((row) =>
    row.length > header.length
      ? stringNode(row.join(' | '))
      : objectOf(row.map((cell, column) => [header[column] ?? '', valueOf(cell)] as const)),
  );
  const values = objects.length === 1 ? [...objects] : [];
  if (header.length === 1) values.push(listOf(rows.map((row) => valueOf(row[0] ?? ''))));
  if (header.length === 2 && rows.every((row) => row.length === 2))
    values.push(objectOf(rows.map((row) => [row[0] ?? '', valueOf(row[1] ?? '')] as const)));
  return [...values, listOf(objects)];
}
