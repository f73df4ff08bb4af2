import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { launchBrowser } from '../support/launch-browser.ts';

const SAMPLES = fileURLToPath(new URL('../../svc_src', import.meta.url));
const KEY = 'the-password-of-this-test';
/** The folder of the screenshots, for a person to look at. */
const PICTURES = join(tmpdir(), 'svc-docs-pictures');

let browser: Browser;
let server: RunningServer;

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  server = await startServer({ from: SAMPLES, env: { SVC_PASSWORD: KEY } });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await server.stop();
});

/** Opens the page and records every foreign request, violation of the content security policy and script error. */
async function openPage(): Promise<{ readonly page: Page; readonly troubles: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 1000 } });
  const troubles: string[] = [];
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== server.url && protocol !== 'data:' && protocol !== 'blob:') troubles.push(`request to ${origin}`);
  });
  page.on('console', (message) => {
    if (/Content Security Policy/u.test(message.text())) troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  await page.goto(`${server.url}/docs`);
  return { page, troubles };
}

async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key', { exact: true }).first().fill(key);
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function tryOut(page: Page, path: string): Promise<void> {
  const operation = page.locator('.opblock', { has: page.locator(`[data-path="${path}"]`) });
  await operation.locator('.opblock-summary').click();
  await operation.getByRole('button', { name: 'Execute' }).click();
}

test('the page asks for the key, reports a wrong one, and shows the answers of a call and of a stream', async () => {
  const { page, troubles } = await openPage();
  await page.getByText('This server requires a key').waitFor();
  await page.screenshot({ path: join(PICTURES, 'key.png') });
  await enterKey(page, 'wrong');
  await page.getByText('does not accept this key').waitFor();
  await page.screenshot({ path: join(PICTURES, 'wrong-key.png') });
  await enterKey(page, KEY);
  await tryOut(page, '/call/ClassifyTicket');
  await page.locator('.live-final').waitFor();
  expect(await page.locator('.live-figures').innerText()).toContain('Offline (offline)');
  await page.screenshot({ path: join(PICTURES, 'call.png'), fullPage: true });
  await tryOut(page, '/stream/ExtractResume');
  const stream = page.locator('.opblock', { has: page.locator('[data-path="/stream/ExtractResume"]') });
  await stream.locator('.live-final').waitFor();
  expect(await stream.locator('.live-figures').innerText()).toMatch(
    /^Offline \(offline\) · .* partials · first after /u,
  );
  expect(troubles).toEqual([]);
  await page.close();
});

test('sixty functions are folded, and a part of a name finds one; the playground is linked', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `Function${index}`);
  const functions = names.map((name) => `function ${name}() -> string {\n  client "offline/x"\n  prompt #"hi"#\n}\n`);
  const many = await startServer({ files: { 'many.svc': functions.join('\n') }, command: 'dev' });
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  try {
    await page.goto(`${many.url}/docs`);
    await page.locator('.opblock-tag').nth(60).waitFor();
    expect(await page.locator('.opblock').count()).toBe(0);
    await page.screenshot({ path: join(PICTURES, 'many.png') });
    await page.locator('.operation-filter-input').fill('function42');
    await expect.poll(() => page.locator('.opblock-tag').count()).toBe(1);
    await page.locator('.opblock-tag').click();
    await page.locator('[data-path="/call/Function42"]').waitFor();
    await page.screenshot({ path: join(PICTURES, 'filtered.png') });
    await page.getByRole('link', { name: 'playground' }).click();
    await page.waitForURL(`${many.url}/playground*`);
  } finally {
    await page.close();
    await many.stop();
  }
});
