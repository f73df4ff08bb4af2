import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

test('a megabyte of any repetition is read in the memory of a small thread', async () => {
  const thread = new Worker(new URL('../../server/support/hostile-thread.mjs', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 160 },
  });
  const errors: unknown[] = [];
  thread.on('error', (error) => errors.push(error));
  const code = await new Promise((resolve) => {
    thread.once('exit', resolve);
  });
  expect(errors).toEqual([]);
  expect(code).toBe(0);
});
