import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../architecture/source-files.ts';
import { rowsOf, tableOf } from './markdown.ts';

/** The generated part of a page: its content, and the expected content. */
export interface GeneratedSection {
  readonly actual: string;
  readonly expected: string;
}

/**
 * Reads the generated part of a page, which lies between `<!-- generated: name -->` and `<!-- end: name -->`. With
 * `UPDATE_DOCS=1`, it writes the expected content first. Throws if the page lacks the markers.
 */
export function generatedSection(page: string, name: string, content: string): GeneratedSection {
  const { before, section, after } = partsOf(page, name);
  const expected = `\n${content.trim()}\n\n`;
  if (process.env['UPDATE_DOCS'] !== '1') return { actual: section, expected };
  writeFileSync(join(ROOT, page), before + expected + after);
  return { actual: expected, expected };
}

/** In a new row, until its author replaces it. */
const UNWRITTEN = '(to be described)';

/**
 * Reads a generated table whose last columns have authors. `rows` are the cells of its first columns, the first of which identifies
 * the row. The table keeps the order of its rows and the texts of its authors; new rows come last. Otherwise like `generatedSection`.
 */
export function describedTable(
  page: string,
  name: string,
  head: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
): GeneratedSection {
  const written = rowsOf(partsOf(page, name).section).slice(2);
  const names = [...new Set([...written, ...rows].map(([first = '']) => first))];
  const cells = names.flatMap((first) => {
    const row = rows.find((each) => each[0] === first);
    if (row === undefined) return [];
    const own = written.find((each) => each[0] === first)?.slice(row.length);
    return [[...row, ...(own ?? head.slice(row.length).map(() => UNWRITTEN))]];
  });
  const section = generatedSection(page, name, tableOf(head, cells));
  if (process.env['UPDATE_DOCS'] !== '1' && section.actual.includes(UNWRITTEN)) {
    throw new Error(`describe the new rows of the table "${name}" in ${page}`);
  }
  return section;
}

function partsOf(page: string, name: string): { readonly [part in 'before' | 'section' | 'after']: string } {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const begin = `<!-- generated: ${name} -->\n`;
  const start = text.indexOf(begin) + begin.length;
  const end = text.indexOf(`<!-- end: ${name} -->`);
  if (start < begin.length || end < start) throw new Error(`${page} lacks the markers of "${name}"`);
  return { before: text.slice(0, start), section: text.slice(start, end), after: text.slice(end) };
}
