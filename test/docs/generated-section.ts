import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../architecture/source-files.ts';

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
  const path = join(ROOT, page);
  const text = readFileSync(path, 'utf8');
  const begin = `<!-- generated: ${name} -->\n`;
  const start = text.indexOf(begin) + begin.length;
  const end = text.indexOf(`<!-- end: ${name} -->`);
  if (start < begin.length || end < start) throw new Error(`${page} lacks the markers of "${name}"`);
  const expected = `\n${content.trim()}\n\n`;
  if (process.env['UPDATE_DOCS'] !== '1') return { actual: text.slice(start, end), expected };
  writeFileSync(path, text.slice(0, start) + expected + text.slice(end));
  return { actual: expected, expected };
}
