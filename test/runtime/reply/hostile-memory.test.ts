import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { sourceThread } from '../../support/source-thread.ts';

const THREAD = sourceThread('hostile-thread');

test('a megabyte of any repetition is read in the memory of a small thread', async () => {
  const thread = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: 160 } });
  const errors: unknown[] = [];
  thread.on('error', (error) => errors.push(error));
  const code = await new Promise((resolve) => {
    thread.once('exit', resolve);
  });
  expect(errors).toEqual([]);
  expect(code).toBe(0);
});
