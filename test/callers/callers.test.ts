import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, blocksOfCallerPage, outputPattern, PageReader, type PageBlock } from '../support/documented-page.ts';

/**
 * Follows the pages in docs/callers as a newcomer does: each in an empty directory outside the checkout, with the versions of packages
 * that `npm install` finds today. The other tests of these pages use the packages of a lock file.
 */
const PAGES = ['curl', 'typescript', 'openapi-typescript', 'hey-api', 'openai', 'vercel-ai-sdk', 'mcp', 'java'];

/** README: its server is that of all pages. A test with Chromium follows browser, and test/e2e python. go needs no package. */
const OTHER_PAGES = ['README', 'browser', 'go', 'python'];

const LANGUAGES: ReadonlySet<string> = new Set(['sh', 'ts', 'js', 'java', 'baml']);

const hasJava = spawnSync('javac', ['-version']).status === 0;

let reader: PageReader;

beforeEach(async () => {
  reader = await PageReader.start();
});

afterEach(async () => {
  await reader.stop();
});

/** Other tests skip a block that installs packages which they have already. */
function isFollowed({ language, mark }: PageBlock): boolean {
  if (!LANGUAGES.has(language)) return false;
  return mark === undefined || mark.startsWith('run in') || /\bha(?:s|ve) th(?:is|ese) packages?$/u.test(mark);
}

/** Follows blocks, and compares what they print with the page. Returns the number of comparisons. */
async function follow(blocks: readonly PageBlock[]): Promise<number> {
  let outputs = 0;
  for (const block of blocks.filter(isFollowed)) {
    const printed = await reader.follow(block);
    if (block.output === undefined) continue;
    outputs += 1;
    expect(printed.trim(), block.code).toMatch(outputPattern(reader.here(block.output)));
  }
  return outputs;
}

test('every page of callers is followed here or elsewhere', () => {
  const pages = readdirSync(join(ROOT, 'docs/callers')).map((name) => name.replace('.md', ''));
  expect([...PAGES, ...OTHER_PAGES].toSorted()).toEqual(pages.toSorted());
});

test.each(PAGES)('the commands of %s work in an empty directory, and print what the page shows', async (page) => {
  if (page === 'java' && !hasJava) return;
  await follow(blocksOfCallerPage('README'));
  expect(await follow(blocksOfCallerPage(page))).toBeGreaterThan(0);
});

test('the client of the tutorial works in an empty directory', async () => {
  const [before = '', after] = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8').split('## Use a real model');
  expect(after).toBeDefined();
  // "npm ci" builds the program, which is built already.
  expect(await follow(blocksOf(before).filter(({ code }) => !code.startsWith('npm ci')))).toBeGreaterThan(5);
});
