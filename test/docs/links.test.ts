import { existsSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, textFiles } from '../architecture/source-files.ts';
import { anchorsIn, linksIn } from './markdown.ts';

const pages = new Map(
  textFiles()
    .filter(({ path }) => path.endsWith('.md'))
    .map(({ path, text }) => [path, text]),
);

test('there are pages with links', () => {
  expect(pages.size).toBeGreaterThan(30);
  expect([...pages.values()].flatMap(linksIn).length).toBeGreaterThan(200);
});

test.each([...pages])('the links of %s lead to files and headings that exist', (path, text) => {
  expect(linksIn(text).filter((link) => !resolves(path, link))).toEqual([]);
});

test('links in code and to other sites do not count, and equal headings have numbers', () => {
  const text = '# A `b`: c_d\n[a](x.md#y) `[b](c)` [c](https://x.org/)\n```\n# no\n[d](e)\n```\n## E\n## E\n';
  expect(linksIn(text)).toEqual(['x.md#y']);
  expect([...anchorsIn(text)]).toEqual(['a-b-c_d', 'e', 'e-1']);
});

function resolves(page: string, link: string): boolean {
  const [target = '', anchor] = link.split('#', 2);
  const path = target === '' ? page : normalize(join(page, '..', target));
  if (!existsSync(join(ROOT, path))) return false;
  const text = pages.get(path);
  return anchor === undefined || (text !== undefined && anchorsIn(text).has(anchor));
}
