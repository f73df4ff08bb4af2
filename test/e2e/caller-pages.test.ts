import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader } from '../support/documented-page.ts';

/**
 * Follows pages in docs/callers with the server that their first page describes. test/generators runs the pages that need a
 * generator, and test/browser the page that needs a browser.
 */
const PAGES = ['curl', 'typescript', 'python'];
const hasPython = spawnSync('python3', ['--version']).status === 0;

let reader: PageReader;

beforeAll(async () => {
  reader = await PageReader.start();
  symlinkSync(join(ROOT, 'node_modules'), join(reader.folder, 'node_modules'));
  await reader.save('package.json', '{}');
  for (const block of blocksOfPage('README')) await reader.follow(block);
});

afterAll(async () => {
  await reader.stop();
});

function blocksOfPage(name: string): ReturnType<typeof blocksOf> {
  return blocksOf(readFileSync(join(ROOT, `docs/callers/${name}.md`), 'utf8'));
}

const followed = PAGES.flatMap((page) =>
  blocksOfPage(page).map((block) => ({ page, line: block.code.split('\n')[0], block })),
);

test('no block of these pages is skipped', () => {
  expect(followed.filter(({ block }) => block.mark !== undefined)).toEqual([]);
  expect(followed.length).toBeGreaterThan(13);
});

test.each(followed)('$page: $line', async ({ page, block }) => {
  if (page === 'python' && !hasPython) return;
  const printed = await reader.follow({ ...block, language: 'sh' });
  const documented = block.output === undefined ? /^/u : outputPattern(reader.here(block.output));
  expect(printed.trim()).toMatch(documented);
});
