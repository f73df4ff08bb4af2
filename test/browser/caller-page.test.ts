import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOfCallerPage, PageReader } from '../support/documented-page.ts';
import { launchBrowser } from '../support/launch-browser.ts';

/** Opens the page of docs/callers/browser.md in Chromium. This test serves its files, from an origin of their own. */
const BLOCKS = blocksOfCallerPage('browser');
const [INIT, SERVE] = BLOCKS.filter(({ language, mark }) => language === 'sh' && mark === undefined);
const DEFINITION = 'svc_src/contact.svc';
const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript' };

let reader: PageReader;
let files: Server;
let origin: string;
let browser: Browser;

beforeAll(async () => {
  reader = await PageReader.start();
  files = createServer(({ url = '' }, response) => {
    const block = BLOCKS.find(({ language }) => (url === '/stream.js' ? language === 'js' : language === 'html'));
    response.setHeader('content-type', TYPES[block?.language ?? ''] ?? '');
    response.end(reader.here(block?.code ?? ''));
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  origin = `http://localhost:${(files.address() as AddressInfo).port}`;
  await reader.run(INIT?.code ?? '');
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  files.close();
  await reader.stop();
});

async function serve(): Promise<void> {
  await reader.serve(SERVE?.code.replace('http://localhost:8000', origin) ?? '');
}

test('the page shows the stream as it grows, can stop it, and can read it again', async () => {
  const definition = readFileSync(join(reader.folder, DEFINITION), 'utf8');
  // The model sends the name, and nothing else while this test runs.
  await reader.save(DEFINITION, definition.replace('chunk_size 8', 'chunk_size 24').replace('_ms 60', '_ms 600000'));
  await serve();
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(origin);
  const contact = page.locator('#contact');
  const state = page.locator('#state');
  await page.getByRole('button', { name: 'Read' }).click();
  await expect.poll(() => contact.textContent()).toContain('"name": "Ada Lovelace"');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => state.textContent()).toBe('stopped');
  await reader.stop();
  await reader.save(DEFINITION, definition);
  await serve();
  await page.getByRole('button', { name: 'Read' }).click();
  await expect.poll(() => state.textContent()).toBe('done');
  expect(await contact.textContent()).toContain('"wants": "A price for ten engines, by Friday"');
  expect(errors).toEqual([]);
});
