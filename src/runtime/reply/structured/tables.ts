import type { ReplyNode } from '../text/reply-node.ts';
import { listOf, objectOf, valueOf, withoutEmphasis } from './make-node.ts';

/** Returns the readings of the tables in a text: rows as objects, two columns as keys and values, one column as a list. */
export function tableValues(text: string): readonly ReplyNode[] {
  if (!text.includes('|')) return [];
  const lines = text.split('\n');
  const values: ReplyNode[] = [];
  for (let at = 1; at < lines.length && values.length < MAX_VALUES; at += 1) {
    if (!isRule(lines[at] ?? '')) continue;
    const header = cellsOf(lines[at - 1] ?? '');
    const rows: string[][] = [];
    for (let row = at + 1; row < lines.length && (lines[row] ?? '').includes('|'); row += 1) {
      rows.push(cellsOf(lines[row] ?? ''));
    }
    if (header.length > 0 && rows.length > 0) values.push(...readingsOf(header, rows));
    at += rows.length;
  }
  return values;
}

/** A reply with more tables is not one value. */
const MAX_VALUES = 30;

/** The line of dashes between the header of a table and its rows. */
function isRule(line: string): boolean {
  return line.includes('|') && /^[\s|:-]+$/u.test(line) && line.includes('--');
}

function cellsOf(line: string): string[] {
  const cells = line
    .trim()
    .replace(/^\|/u, '')
    .replace(/(?<!\\)\|$/u, '')
    .split(/(?<!\\)\|/u);
  return cells.map((cell) => withoutEmphasis(cell.replaceAll(String.raw`\|`, '|').replaceAll(/<br\s*\/?>/gu, '\n')));
}

function readingsOf(header: readonly string[], rows: readonly (readonly string[])[]): ReplyNode[] {
  const objects = rows.map((row) => objectOf(header.map((key, column) => [key, valueOf(row[column] ?? '')] as const)));
  const values = [listOf(objects)];
  if (objects.length === 1) values.push(...objects);
  if (header.length === 1) values.push(listOf(rows.map((row) => valueOf(row[0] ?? ''))));
  if (header.length === 2) values.push(objectOf(rows.map((row) => [row[0] ?? '', valueOf(row[1] ?? '')] as const)));
  return values;
}

// --- CSV -------------------------------------------------------------------------------------------------------------

const CSV_FENCE = /^```(?:csv|tsv)\b[^\n]*\n([^]*?)^```/imu;
/** A field in quotes, in which quotes are doubled, or without. */
const FIELD = /(?:^|[,;\t])(?:[^\S\t\n]*"((?:[^"]|"")*)"[^\S\t\n]*|([^,;\t"]*))(?=[,;\t]|$)/gu;

/** Returns the readings of CSV with a header: all rows have the same number of fields, at least two. */
export function csvValues(text: string): readonly ReplyNode[] {
  const lines = (CSV_FENCE.exec(text)?.[1] ?? text).split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2 || !/[,;\t]/u.test(lines[0] ?? '')) return [];
  const [header = [], ...rows] = lines.map((line) => fieldsOf(line.trim()));
  const isTable = header.length > 1 && rows.every((row) => row.length === header.length);
  return isTable && header.every((name) => /^[\w -]{1,60}$/u.test(name)) ? readingsOf(header, rows) : [];
}

/** Returns the fields of a line; none if it is not a line of CSV. */
function fieldsOf(line: string): string[] {
  const fields = [...line.matchAll(FIELD)];
  const length = fields.reduce((sum, [field]) => sum + field.length, 0);
  if (length !== line.length) return [];
  return fields.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? (plain ?? '').trim());
}
