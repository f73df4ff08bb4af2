import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader, startsServer } from '../support/documented-page.ts';

/** Runs the part of docs/tutorial.md that needs a generator of clients; test/e2e/tutorial.test.ts runs the others. */
const PAGE = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8');
const BLOCKS = blocksOf(PAGE.slice(0, PAGE.indexOf('## Use a real model')));
const MARK = 'run in test/generators';

let reader: PageReader;

beforeAll(async () => {
  reader = await PageReader.start();
  symlinkSync(fileURLToPath(new URL('node_modules', import.meta.url)), join(reader.folder, 'node_modules'));
  await reader.save('package.json', '{"type": "module"}');
});

afterAll(async () => {
  await reader.stop();
});

test('the TypeScript client of the tutorial compiles and prints the documented line', async () => {
  const files = BLOCKS.filter(({ file }) => file !== undefined);
  const servers = BLOCKS.filter(startsServer);
  const commands = BLOCKS.filter(({ mark }) => mark === MARK);
  expect([files.length, servers.length, commands.length]).toEqual([3, 1, 2]);
  for (const block of [...files, ...servers]) await reader.follow(block);
  for (const block of commands) {
    const printed = await reader.follow(block);
    if (block.output !== undefined) expect(printed.trim()).toMatch(outputPattern(block.output));
  }
});
