import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { blocksOfCallerPage, outputPattern, readCallerPages, type PageReader } from '../support/documented-page.ts';

/** Follows the pages in docs/callers that need a generator, each in a directory of its own. */
const MARK = 'run in test/generators';
const hasJava = spawnSync('javac', ['-version']).status === 0;

let reader: PageReader;

beforeEach(async () => {
  const modules = fileURLToPath(new URL('node_modules', import.meta.url));
  reader = await readCallerPages(modules, '{"type": "module"}');
});

afterEach(async () => {
  await reader.stop();
});

test.each(['openapi-typescript', 'hey-api', 'java'])('the client of %s compiles and prints the lines', async (page) => {
  if (page === 'java' && !hasJava) return;
  const followed = blocksOfCallerPage(page).filter(({ mark }) => mark === undefined || mark === MARK);
  expect(followed.filter(({ mark }) => mark === MARK)).toHaveLength(2);
  expect(followed.length).toBeGreaterThan(2);
  for (const block of followed) {
    const printed = await reader.follow(block);
    if (block.output !== undefined) expect(printed.trim()).toMatch(outputPattern(block.output));
  }
});
