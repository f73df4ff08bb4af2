import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { ONLY_PROGRESS } from '../support/batch-rows.ts';
import { blocksOf, outputPattern, PageReader } from '../support/documented-page.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { runSvc } from '../support/running-server.ts';

/** Runs the examples of docs/batches.md. */
const BLOCKS = blocksOf(readFileSync(join(ROOT, 'docs/batches.md'), 'utf8'));
const [rows, first, answers, served] = BLOCKS;

let reader: PageReader;
let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
  reader = await PageReader.start();
  await reader.run('svc init --template classify');
  writeFileSync(join(reader.folder, 'rows.jsonl'), rows?.code ?? '');
});
afterAll(async () => {
  await reader.stop();
  await provider.close();
});

test('the page has rows, answers, and a batch in process and through a server', () => {
  expect(BLOCKS.map(({ language }) => language)).toEqual(['json', 'sh', 'json', 'sh']);
});

test('a batch in process prints the documented summary', async () => {
  expect((await reader.run(first?.code ?? '')).trim()).toMatch(outputPattern(first?.output ?? ''));
});

test('a batch through a server gets the same answers', async () => {
  await reader.serve('svc serve --port 8080');
  expect(await reader.run(served?.code ?? '')).toContain('3 rows: 3 answered, 0 failed');
  const [local, remote] = ['answers.jsonl', 'served.jsonl'].map((name) =>
    readFileSync(join(reader.folder, name), 'utf8'),
  );
  expect(remote).toBe(local);
});

test('the documented answers are real ones', async () => {
  const value = { reason: '…', topic: 'Billing', urgency: 'Low', languages: ['en'] };
  const definitions = readFileSync(join(ROOT, 'templates/classify.svc'), 'utf8').replace(
    'client LabelOffline',
    'client "Fake"',
  );
  const client = `client<llm> Fake {
  provider openai-generic
  options {
    model m
    base_url "${provider.at('label', reply(JSON.stringify(value)))}"
  }
}
`;
  writeFileSync(join(reader.folder, 'fake.svc'), `${definitions}${client}`);
  writeFileSync(join(reader.folder, 'two.jsonl'), '{"message": "a"}\n{"mesage": "Hello"}\n');
  writeFileSync(join(reader.folder, 'prices.yaml'), '- model: m\n  input: 2\n  output: 10\n');
  const files = ['--in', 'two.jsonl', '--out', 'two-answers.jsonl', '--from', 'fake.svc', '--prices', 'prices.yaml'];
  expect(await runSvc(['batch', 'LabelMessage', ...files], {}, reader.folder)).toMatchObject({
    code: 1,
    stderr: ONLY_PROGRESS,
  });
  expect(readFileSync(join(reader.folder, 'two-answers.jsonl'), 'utf8')).toBe(answers?.code);
});
