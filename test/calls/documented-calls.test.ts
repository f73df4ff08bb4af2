import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader } from '../support/documented-page.ts';

test('docs/from-a-bad-answer.md leads from the first call to a test that passes', async () => {
  const reader = await PageReader.start();
  try {
    const blocks = blocksOf(readFileSync(join(ROOT, 'docs/from-a-bad-answer.md'), 'utf8'));
    expect(blocks.map(({ language }) => language)).toEqual(['baml', 'sh', 'sh', 'sh', 'sh', 'sh', 'baml', 'sh']);
    for (const block of blocks) {
      const printed = await reader.follow(block);
      if (block.output !== undefined) expect(printed.trim()).toMatch(outputPattern(block.output));
    }
    expect(existsSync(join(reader.folder, '.svc/calls.db'))).toBe(true);
    expect(readFileSync(join(reader.folder, 'svc_src/saved_tests.svc'), 'utf8')).toContain('test with_delivery {');
    expect(await reader.stop()).toBe(0);
  } finally {
    await reader.stop();
  }
});
