import { stringNode, type ReplyNode } from '../text/reply-node.ts';
import { listOf, objectOf, valueOf, withoutEmphasis } from './make-node.ts';

/** Returns the readings of the tables in a text: rows as objects, two columns as keys and values, one column as a list. */
export function tableValues(raw: string): readonly ReplyNode[] {
  const text = raw.replaceAll(/[│┃║]/gu, '|');
  if (!text.includes('|')) return [];
  const lines = text.split('\n').map((line) => (BORDER.test(line) || COLUMNS.test(line) ? RULE : line));
  const values: ReplyNode[] = [];
  for (let at = 0; at < lines.length && values.length < MAX_VALUES; at += 1) {
    if (!(lines[at] ?? '').includes('|') || isRule(lines[at] ?? '')) continue;
    const rows: string[][] = [];
    const first = at;
    for (; at < lines.length && (lines[at] ?? '').includes('|'); at += 1) {
      if (!isRule(lines[at] ?? '')) rows.push(cellsOf(lines[at] ?? ''));
    }
    const isRuled = isRule(lines[first + 1] ?? '');
    if (isRuled || hasSameCells(rows)) values.push(...tableReadings(rows, isRuled));
  }
  return values;
}

/** The lines above, between and below the rows of a table in plain text. */
const BORDER = /^\s*[+┌├└╔╠╚┏┣┗╭╰|][-+=─━═┬┼┴┐┤┘╦╬╩╗╣╝┳╋┻┓┫┛╮╯|\s]{3,}$/u;
const COLUMNS = /^\s*-{2,}(?:\+-{2,}){1,60}\s*$/u;
const RULE = '|---|';

/** A reply with more tables is not one value. */
const MAX_VALUES = 30;

/** The line of dashes between the header of a table and its rows. */
function isRule(line: string): boolean {
  return line.includes('|') && /^[\s|:-]+$/u.test(line) && line.includes('--');
}

/** True for rows that form a table without a rule below the first one. */
function hasSameCells(rows: readonly (readonly string[])[]): boolean {
  return rows.length > 1 && (rows[0]?.length ?? 0) > 1 && rows.every((row) => row.length === rows[0]?.length);
}

function tableReadings(rows: readonly (readonly string[])[], isRuled: boolean): readonly ReplyNode[] {
  const [header = [], ...body] = rows;
  if (header.length === 0 || body.length === 0) return [];
  const isPairs = !isRuled && header.length === 2;
  const pairs = isPairs ? [objectOf(rows.map((row) => [row[0] ?? '', valueOf(row[1] ?? '')] as const))] : [];
  return [...pairs, ...readingsOf(header, body), ...transposed(header, body)];
}

/** Returns the columns as objects whose keys are in the first column. */
function transposed(header: readonly string[], rows: readonly (readonly string[])[]): readonly ReplyNode[] {
  const keys = rows.map((row) => row[0] ?? '');
  if (!KEYS_BELOW.test(header[0] ?? '') || new Set(keys).size < keys.length) return [];
  const objects = header
    .slice(1)
    .map((_, column) => objectOf(rows.map((row, at) => [keys[at] ?? '', valueOf(row[column + 1] ?? '')] as const)));
  return [listOf(objects)];
}

/** The heading of a column of keys. */
const KEYS_BELOW = /^(?:|[#/-]|fields?|propert(?:y|ies)|attributes?|keys?|names?|features?|columns?|parameters?)$/iu;

function cellsOf(line: string): string[] {
  const cells = line
    .trim()
    .replace(/^\|/u, '')
    .replace(/(?<!\\)\|$/u, '')
    .split(/(?<!\\)\|/u);
  return cells.map((cell) => withoutEmphasis(cell.replaceAll(String.raw`\|`, '|').replaceAll(/<br\s*\/?>/gu, '\n')));
}

/**
 * Returns the readings of rows below a header. A row with more cells than the header is a string, so that a list of objects reports its
 * loss; a row with fewer lacks the last keys.
 */
export function readingsOf(header: readonly string[], rows: readonly (readonly string[])[]): ReplyNode[] {
  const objects = rows.map((row) => rowOf(header, row));
  const isWhole = rows.every((row) => row.length === header.length);
  const values: ReplyNode[] = [];
  if (objects.length === 1) values.push(...objects);
  if (header.length === 1) values.push(listOf(rows.map((row) => valueOf(row[0] ?? ''))));
  if (header.length === 2 && isWhole)
    values.push(objectOf(rows.map((row) => [row[0] ?? '', valueOf(row[1] ?? '')] as const)));
  return [...values, listOf(objects)];
}

function rowOf(header: readonly string[], row: readonly string[]): ReplyNode {
  if (row.length > header.length) return stringNode(row.join(' | '));
  return objectOf(row.map((cell, column) => [header[column] ?? '', valueOf(cell)] as const));
}
