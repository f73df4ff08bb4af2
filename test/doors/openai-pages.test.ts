import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOfCallerPage, outputPattern, readCallerPages, type PageReader } from '../support/documented-page.ts';

let reader: PageReader;

beforeAll(async () => {
  const modules = fileURLToPath(new URL('node_modules', import.meta.url));
  reader = await readCallerPages(modules, '{"type": "module"}');
});

afterAll(() => reader.stop());

test.each(['openai', 'vercel-ai-sdk'])('the example of %s prints the lines', async (page) => {
  const blocks = blocksOfCallerPage(page).filter(({ mark }) => mark === undefined);
  expect(blocks).toHaveLength(3);
  for (const block of blocks) {
    const printed = await reader.follow(block);
    if (block.output !== undefined) expect(printed.trim()).toMatch(outputPattern(block.output));
  }
});
