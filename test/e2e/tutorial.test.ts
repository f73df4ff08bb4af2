import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader } from '../support/documented-page.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';

/**
 * Follows docs/tutorial.md from the first block to the last. A comment before a block marks one that this test does not run.
 * A fake provider takes the place of OpenAI.
 */
const BLOCKS = blocksOf(readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8'));
const MARKED = BLOCKS.filter(({ mark }) => mark !== undefined);
const FOLLOWED = BLOCKS.filter(({ mark }) => mark === undefined);

const ENGINES = '{"name": "Ada Lovelace", "company": "Engines Ltd", "wants": "A price", "urgency": "High"}';
const CATALOGUE = '{"name": "Charles", "company": null, "wants": "The catalogue", "urgency": "Low"}';

let reader: PageReader;
let openai: FakeProvider;

beforeAll(async () => {
  openai = await startFakeProvider();
  openai.answer((request, wire) => reply(request.body.includes('catalogue') ? CATALOGUE : ENGINES)(request, wire));
  reader = await PageReader.start();
});

afterAll(async () => {
  await reader.stop();
  await openai.close();
});

function withFakeModel(code: string): string {
  return code.replace('model "gpt-4o-mini"', `$&\n    base_url "${openai.url}/v1"`);
}

test('the test follows all blocks of the page but these', () => {
  expect(MARKED.map(({ code, mark }) => [code.split('\n')[0], mark])).toEqual([
    ['npm ci', 'not run: the tests run the program that is already built'],
    ['npm init -y', 'not run: test/generators has these packages'],
    [expect.stringMatching(/^npx openapi-typescript /u), 'run in test/generators'],
    [expect.stringMatching(/^npx tsc /u), 'run in test/generators'],
    ['docker build -t svc .', 'not run: it needs Docker'],
    [expect.stringMatching(/^docker run /u), 'not run: it needs Docker'],
  ]);
  expect(FOLLOWED.length).toBeGreaterThan(15);
});

test.each(FOLLOWED.map((block, index) => [index + 1, block.code.split('\n')[0], block] as const))(
  'block %i of the page works: %s',
  async (_index, _line, block) => {
    const printed = await reader.follow({ ...block, code: withFakeModel(block.code) });
    const documented = block.output === undefined ? /^/u : outputPattern(reader.here(block.output));
    expect(printed.trim()).toMatch(documented);
  },
);

test('the model got the prompt of the page and the key from .env', () => {
  // Two tests, and one call.
  expect(openai.requests).toHaveLength(3);
  for (const { headers, body } of openai.requests) {
    expect(headers['authorization']).toBe('Bearer sk-your-key');
    expect(body).toContain('Who wrote this message');
  }
});

test('the server of the page stops without a failure', async () => {
  expect(await reader.stop()).toBe(0);
});
