import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader } from '../support/documented-page.ts';

/** Runs the examples of docs/evaluation.md. */
const BLOCKS = blocksOf(readFileSync(join(ROOT, 'docs/evaluation.md'), 'utf8')).filter(
  ({ mark }) => mark === undefined,
);
const [rows, evaluation, judge] = BLOCKS;

let reader: PageReader;
beforeAll(async () => {
  reader = await PageReader.start();
  await reader.run('svc init --template classify');
  writeFileSync(join(reader.folder, 'rows.csv'), rows?.code ?? '');
});
afterAll(() => reader.stop());

test('the page has rows, an evaluation and a judge', () => {
  expect(BLOCKS.map(({ language }) => language)).toEqual(['csv', 'sh', 'baml']);
});

test('the evaluation prints the documented report', async () => {
  expect((await reader.run(evaluation?.code ?? '')).trim()).toMatch(outputPattern(evaluation?.output ?? ''));
});

test('the documented judge can judge these rows', async () => {
  const offline = (judge?.code ?? '').replace('"openai/gpt-4o"', '"offline/x"');
  appendFileSync(join(reader.folder, 'svc_src/classify.svc'), offline);
  expect(await reader.run('svc test --data rows.csv --judge IsFaithful || true')).toContain('mean of the judge');
});
