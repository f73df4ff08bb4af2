import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOfCallerPage, outputPattern, readCallerPages, type PageReader } from '../support/documented-page.ts';

/**
 * Follows pages in docs/callers with the server that their first page describes. test/generators runs the pages that need a
 * generator, and test/browser the page that needs a browser.
 */
const PAGES = ['curl', 'typescript', 'python'];
const hasPython = spawnSync('python3', ['--version']).status === 0;

let reader: PageReader;

beforeAll(async () => {
  reader = await readCallerPages(join(ROOT, 'node_modules'), '{"type": "module"}');
});

afterAll(async () => {
  await reader.stop();
});

const blocks = PAGES.flatMap((page) =>
  blocksOfCallerPage(page).map((block) => ({ page, line: block.code.split('\n')[0], block })),
);
const followed = blocks.filter(({ block }) => block.mark === undefined);

test('no block of these pages is skipped, except for the one that installs TypeScript', () => {
  const skipped = blocks.filter((each) => !followed.includes(each));
  expect(skipped.map(({ page, block }) => [page, block.mark])).toEqual([
    ['typescript', 'not run: svc itself has this package'],
  ]);
  expect(followed.length).toBeGreaterThan(13);
});

test.each(followed)('$page: $line', async ({ page, block }) => {
  if (page === 'python' && !hasPython) return;
  const printed = await reader.follow({ ...block, language: 'sh' });
  const documented = block.output === undefined ? /^/u : outputPattern(reader.here(block.output));
  expect(printed.trim()).toMatch(documented);
});
