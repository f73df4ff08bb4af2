import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { classRef, classType, field, functionType, programOf, string } from '../support/definitions.ts';
import { startPageServer, type PageServer } from './page-server.ts';
import { launchBrowser } from '../support/launch-browser.ts';

const KEY = 'open-sesame';
const WORDS = ['It', 'grows', 'word', 'by', 'word'];
const HOSTILE = '</script><img src=x onerror="window.hit=1"> <b>bold</b> [link](javascript:window.hit=1) `code`';

const { openapi } = programOf(
  {
    classes: [classType('Resume', [field('name', string, { description: HOSTILE })])],
    functions: [
      functionType('Extract', { text: string }, classRef('Resume'), {
        documentation: HOSTILE,
        examples: [{ name: 'first', args: { text: 'hello' } }],
      }),
    ],
  },
  { apiKey: true },
);

let browser: Browser;
const open: Array<{ close(): Promise<void> }> = [];

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface Visit {
  readonly page: Page;
  readonly server: PageServer;
  /** Requests to other servers, script errors, and violations of the content security policy. */
  readonly offences: string[];
}

async function visit(key = '', options: BrowserContextOptions = {}): Promise<Visit> {
  const server = await startPageServer(openapi, WORDS, key);
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  open.push(context, server);
  const page = await context.newPage();
  const offences: string[] = [];
  page.on('pageerror', (error) => offences.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) offences.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL('.', server.url).href) && !request.url().startsWith('data:'))
      offences.push(request.url());
  });
  await page.goto(server.url);
  return { page, server, offences };
}

const CALL = '#operations-Extract-Extract';
const STREAM = '#operations-Extract-streamExtract';

async function tryOut(page: Page, operation: string): Promise<void> {
  await page.click(`${operation} .opblock-summary-control`);
  await page.click(`${operation} .execute`);
}

async function giveKey(page: Page, key: string): Promise<void> {
  await page.fill('#key', key);
  await page.click('#key-form button');
}

test('the page asks for the key, reports a wrong one, and sends the right one with every request', async () => {
  const { page, server, offences } = await visit(KEY);
  await giveKey(page, 'wrong');
  await page.waitForFunction("document.getElementById('key-problem').textContent !== ''");
  await giveKey(page, KEY);
  await tryOut(page, CALL);
  await page.waitForSelector(`${CALL} .live-final >> text=called`);
  await tryOut(page, STREAM);
  await page.waitForSelector(`${STREAM} .live-final`);
  expect(server.keys).toEqual([KEY, KEY]);
  expect(server.missing).toEqual([]);
  expect(offences).toEqual([]);
});

test('without a key, the page shows a stream while it grows, and the whole value at its end', async () => {
  const { page, offences } = await visit();
  await page.waitForSelector(CALL);
  expect(await page.isVisible('#key-form')).toBe(false);
  expect(await page.isVisible('#change-key')).toBe(false);
  await tryOut(page, STREAM);
  await page.waitForSelector('.live-streaming');
  const shown = new Set<string | null>();
  while (!(await page.isVisible('.live-final'))) shown.add(await page.textContent('.live-value'));
  expect([...shown].some((text) => text?.startsWith('"It') === true && !text.endsWith('by word"'))).toBe(true);
  expect(await page.textContent('.live-value')).toBe('"It grows word by word"');
  expect(await page.textContent('.live-figures')).toContain('5 partials');
  await page.click(`${STREAM} .live-details >> text=Events`);
  await page.waitForSelector(`${STREAM} .live-details >> text=final_result`);
  expect(offences).toEqual([]);
});

test('the page shows an answer once, with the client, the model, the tokens and the time', async () => {
  const { page } = await visit();
  for (const operation of [CALL, STREAM]) {
    await tryOut(page, operation);
    await page.waitForSelector(`${operation} .live-final`);
    await page.locator(`${operation} .live-responses-table`).waitFor({ state: 'attached' });
    expect(await page.isVisible(`${operation} .live-responses-table`)).toBe(false);
  }
  const figures = await page.textContent(`${CALL} .live-figures`);
  expect(figures).toMatch(/^Main \(small-1\) · 12 tokens in, \? out · [\d.]+ m?s in total$/u);
  const ofStream = await page.textContent(`${STREAM} .live-figures`);
  expect(ofStream).toMatch(
    /^Main \(small-1\) · 2 attempts · 12 tokens in, 7 out · 5 partials · first after [\d.]+ m?s · [\d.]+ m?s in total$/u,
  );
});

test.each([
  ['after the first partial', 'fail midway', 'Failed'],
  ['before the first partial', 'fail before', 'Failed with 502'],
])('a stream that fails %s can be closed, repeated and collapsed', async (_, text, state) => {
  const { page, offences } = await visit();
  await page.click(`${STREAM} .opblock-summary-control`);
  await page.fill(`${STREAM} textarea`, JSON.stringify({ text }));
  for (let round = 0; round < 2; round += 1) {
    await page.click(`${STREAM} .execute`);
    await page.waitForSelector('.live-failed');
    expect(await page.textContent('.live-state')).toBe(state);
    expect(await page.textContent('.live-value')).toContain('the provider refuses the key');
    await page.click('.live-failed button');
    await page.waitForSelector('.live', { state: 'detached' });
  }
  await page.click(`${STREAM} .execute`);
  await page.waitForSelector('.live-failed');
  await page.click(`${STREAM} .opblock-summary-control`);
  await page.waitForSelector('.live', { state: 'detached' });
  await page.click(`${STREAM} .opblock-summary-control`);
  await page.waitForSelector('.live-failed');
  await page.fill(`${STREAM} textarea`, '{"text": "good"}');
  await page.click(`${STREAM} .execute`);
  await page.waitForSelector('.live-final');
  expect(await page.textContent('body')).not.toContain('Could not render');
  expect(offences).toEqual([]);
});

test('a stream can be collapsed while it runs, and is complete when the user opens it again', async () => {
  const { page, offences } = await visit();
  await tryOut(page, STREAM);
  await page.waitForSelector('.live-streaming');
  await page.click(`${STREAM} .opblock-summary-control`);
  await page.waitForSelector('.live', { state: 'detached' });
  await page.click(`${STREAM} .opblock-summary-control`);
  await page.waitForSelector('.live-final');
  expect(await page.textContent('.live-value')).toBe('"It grows word by word"');
  expect(offences).toEqual([]);
});

test('the endpoints of a function stand together, side by side, without empty parameters', async () => {
  const { page } = await visit();
  const call = await page.locator(CALL).boundingBox();
  const stream = await page.locator(STREAM).boundingBox();
  expect(call?.y).toBe(stream?.y);
  await page.click(`${CALL} .opblock-summary-control`);
  await page.waitForSelector(`${CALL} .execute`);
  expect(await page.getByText('No parameters').isVisible()).toBe(false);
});

test('the user can stop a stream', async () => {
  const { page } = await visit();
  await tryOut(page, STREAM);
  await page.click('.live-streaming button');
  await page.waitForSelector('.live-stopped');
  expect(await page.isVisible('.live-streaming')).toBe(false);
});

test('descriptions of definitions appear as plain text', async () => {
  const { page, offences } = await visit();
  await page.click(`${CALL} .opblock-summary-control`);
  await page.waitForSelector(`${CALL} .plain-text`);
  expect(await page.textContent(`${CALL} .opblock-description`)).toContain(
    '<img src=x onerror="window.hit=1"> <b>bold</b>',
  );
  expect(await page.evaluate('window.hit')).toBeUndefined();
  expect(await page.$$(`${CALL} .plain-text :is(img, a, b, script)`)).toEqual([]);
  expect(offences).toEqual([]);
});

test('the page ignores settings in its address', async () => {
  const { page, server, offences } = await visit();
  await page.goto(`${server.url}?url=https://example.com/other.json&configUrl=https://example.com/config.json`);
  await page.waitForSelector(CALL);
  expect(offences).toEqual([]);
});

test('the page is not wider than a phone', async () => {
  const { page } = await visit('', { viewport: { width: 390, height: 844 } });
  await tryOut(page, STREAM);
  await page.waitForSelector('.live-final');
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
});

test("dark and light follow the system, and the page keeps the user's choice", async () => {
  const { page, server } = await visit('', { colorScheme: 'dark' });
  const background = (): Promise<unknown> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const dark = await background();
  await page.click('#change-theme');
  const light = await background();
  expect(light).not.toBe(dark);
  await page.goto(server.url);
  expect(await background()).toBe(light);
});

test('the error responses are folded until the user shows them', async () => {
  const { page, offences } = await visit();
  await page.click(`${CALL} .opblock-summary-control`);
  const error = page.locator(`${CALL} tr.response[data-code="400"]`);
  await error.waitFor({ state: 'attached' });
  expect(await error.isVisible()).toBe(false);
  expect(await page.locator(`${CALL} tr.response[data-code="200"] .model-example`).isVisible()).toBe(true);
  await page.click(`${CALL} >> text=Show error responses`);
  expect(await error.locator('.model-example').isVisible()).toBe(true);
  expect(offences).toEqual([]);
});
