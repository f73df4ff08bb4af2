import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, textFiles } from '../architecture/source-files.ts';
import { linksIn } from './markdown.ts';

const INDEX = 'docs/README.md';

test('the index of the documentation lists every page', () => {
  const links = linksIn(readFileSync(join(ROOT, INDEX), 'utf8'));
  const listed = new Set(links.map((link) => normalize(join('docs', link))));
  const pages = textFiles('docs').flatMap(({ path }) => (path.endsWith('.md') ? [path] : []));
  expect(pages.filter((path) => !listed.has(path) && !path.startsWith('docs/adr/'))).toEqual([INDEX]);
});
