import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader } from '../support/documented-page.ts';

/** Follows the pages in docs/callers that need a generator, each in a directory of its own. */
const MARK = 'run in test/generators';
const hasJava = spawnSync('javac', ['-version']).status === 0;

let reader: PageReader;

beforeEach(async () => {
  reader = await PageReader.start();
  symlinkSync(fileURLToPath(new URL('node_modules', import.meta.url)), join(reader.folder, 'node_modules'));
  await reader.save('package.json', '{"type": "module"}');
  for (const block of blocksOfPage('README')) await reader.follow(block);
});

afterEach(async () => {
  await reader.stop();
});

function blocksOfPage(name: string): ReturnType<typeof blocksOf> {
  return blocksOf(readFileSync(join(ROOT, `docs/callers/${name}.md`), 'utf8'));
}

test.each(['openapi-typescript', 'hey-api', 'java'])('the client of %s compiles and prints the lines', async (page) => {
  if (page === 'java' && !hasJava) return;
  const followed = blocksOfPage(page).filter(({ mark }) => mark === undefined || mark === MARK);
  expect(followed.map(({ mark }) => mark)).toEqual([MARK, undefined, MARK]);
  for (const block of followed) {
    const printed = await reader.follow(block);
    if (block.output !== undefined) expect(printed.trim()).toMatch(outputPattern(block.output));
  }
});
