import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader, type PageBlock } from '../support/documented-page.ts';
import { freePort } from '../support/free-port.ts';

/** Follows docs/production.md, except for the commands of Docker, and starts the server of docs/privacy.md. */
const BLOCKS = blocksOf(readFileSync(join(ROOT, 'docs/production.md'), 'utf8'));
const METRICS_PORT = '9464';

let reader: PageReader;
let metricsPort: string;
beforeAll(async () => {
  reader = await PageReader.start();
  metricsPort = String(await freePort());
});
afterAll(async () => {
  await reader.stop();
});

/** With the port for metrics of this test. */
function here(block: PageBlock): PageBlock {
  return { ...block, code: block.code.replaceAll(METRICS_PORT, metricsPort) };
}

test('the commands of the page work in order, and the server answers as it shows', async () => {
  const followed = BLOCKS.filter(({ language, mark }) => language === 'sh' && mark === undefined);
  expect(followed.length).toBeGreaterThan(6);
  for (const block of followed) {
    const printed = await reader.follow(here(block));
    if (block.output !== undefined) expect(printed.trim()).toMatch(outputPattern(block.output));
  }
  expect(readFileSync(join(reader.folder, 'web.key'), 'utf8')).toMatch(/^svc_\S{40,}\n$/u);
});

test('only the commands of Docker are skipped, and the scrape configuration names the port of the settings', () => {
  const skipped = BLOCKS.filter(({ mark }) => mark !== undefined);
  expect(skipped.map(({ mark }) => mark)).toEqual(['not run: it needs Docker', 'not run: it needs Docker']);
  const scrape = BLOCKS.find(({ file }) => file === 'prometheus.yml')?.code ?? '';
  expect(parse(scrape)).toMatchObject({
    rule_files: ['alerts.yaml'],
    scrape_configs: [{ static_configs: [{ targets: [`localhost:${METRICS_PORT}`] }] }],
  });
  expect(BLOCKS.find(({ file }) => file === 'production.env')?.code).toContain(`SVC_METRICS_PORT=${METRICS_PORT}\n`);
});

test('the server of docs/privacy.md that keeps nothing repeats a call with a key, and logs no content', async () => {
  const blocks = blocksOf(readFileSync(join(ROOT, 'docs/privacy.md'), 'utf8'));
  expect(blocks).toHaveLength(1);
  await reader.serve(blocks[0]?.code ?? '');
  const ask = (): Promise<Response> =>
    fetch(`${reader.url}/call/ReadContact`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'a1' },
      body: '{"message": "a message to Grace"}',
    });
  expect((await ask()).status).toBe(200);
  const again = await ask();
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
  await reader.stop();
  expect(reader.output).toContain('/call/ReadContact');
  expect(reader.output).not.toContain('Grace');
});
