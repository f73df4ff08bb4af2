import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import type { KeptCall } from '../../src/schema/kept-call.ts';
import { keptCall } from '../support/kept-calls.ts';
import { fakeCalls, serveFakeCalls, type FakeCalls } from './fake-calls.ts';
import { PHONE, usePlayground, type Visit } from './playground-page.ts';

const { visit } = usePlayground();

/** Calls with everything that a row can show. */
const CALLS: readonly KeptCall[] = [
  keptCall({ seq: 1, at: Date.now() - 90_000_000 }),
  keptCall({
    seq: 2,
    error: 'client_error',
    status: 502,
    ms: 62_000,
    cost: null,
    inputTokens: null,
    outputTokens: null,
  }),
  keptCall({ seq: 3, lossy: true, tags: { user: '42', plan: 'free' }, label: 'wrong', score: 0.2 }),
  keptCall({ seq: 4, cache: 'hit', client: null, model: null, ms: 1 }),
  keptCall({ seq: 5, functionName: 'Everything', client: 'Words', inputTokens: 123_456, outputTokens: 9_876 }),
];

async function open(fake: FakeCalls, fragment = '#calls', options = {}): Promise<Visit> {
  return visit(options, fragment, serveFakeCalls(fake));
}

test('the list shows the newest calls first, with their outcome, figures and marks', async () => {
  const { page, troubles, picture } = await open(fakeCalls({ calls: CALLS, dropped: 3 }));
  const rows = page.locator('.call-rows .call-row');
  await expect.poll(() => rows.count()).toBe(5);
  const texts = await rows.allInnerTexts();
  expect(texts[0]).toMatch(/Everything[^]*Words · small-1[^]*200[^]*1\.5 s[^]*123,456 \/ 9,876[^]*\$0\.0021/u);
  expect(texts[1]).toMatch(/1 ms[^]*cached/u);
  expect(texts[2]).toMatch(/lossy[^]*wrong 0\.2[^]*user: 42[^]*plan: free/u);
  expect(texts[3]).toMatch(/client_error[^]*62\.0 s/u);
  await page.getByText('3 calls could not be kept').waitFor();
  await picture('calls-light-1280');
  expect(troubles).toEqual([]);
});

test('new calls appear at the top while the user sees it, and not while the user reads further down', async () => {
  const many = Array.from({ length: 50 }, (_, at) => keptCall({ seq: at + 1 }));
  const fake = fakeCalls({ calls: many });
  const { page } = await open(fake);
  const first = page.locator('.call-rows .call-row').first();
  await page.getByText('Live', { exact: true }).waitFor();
  fake.calls = [...fake.calls, keptCall({ seq: 51, functionName: 'Newest' })];
  await first.getByText('Newest').waitFor();
  await page.evaluate(`document.querySelector('.calls-scroll').scrollTo(0, 400)`);
  await page.getByRole('button', { name: 'Show the newest' }).waitFor();
  fake.calls = [...fake.calls, keptCall({ seq: 52, functionName: 'Unseen' })];
  const asked = fake.queries.length;
  await page.getByRole('button', { name: 'Show the newest' }).click();
  await first.getByText('Unseen').waitFor();
  expect(fake.queries.length).toBeGreaterThan(asked);
});

test('filters are part of the address, and an address with filters fills in the form', async () => {
  const fake = fakeCalls({ calls: CALLS });
  const { page } = await open(fake);
  const rows = page.locator('.call-rows .call-row');
  await page.getByRole('combobox', { name: 'Function' }).selectOption('Repaired');
  await expect.poll(() => rows.count()).toBe(4);
  await page.getByLabel('Slower than').fill('2000');
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByLabel('Tag').fill('no value');
  await page.getByRole('combobox', { name: 'Time' }).selectOption('hour');
  expect(page.url()).toMatch(/#calls\?function=Repaired&slow=2000$/u);
  await page.getByLabel('Tag').fill('user:42 ');
  await expect.poll(() => page.url()).toMatch(/tag=user%3A42&range=hour$/u);
  expect(await page.getByLabel('Tag').inputValue()).toBe('user:42 ');
  await expect
    .poll(() => fake.queries.at(-1))
    .toMatch(/^function=Repaired&slow=2000&tag=user%3A42&since=\d+&limit=50$/u);
  const shared = await open(fake, new URL(page.url()).hash);
  await expect.poll(() => shared.page.getByLabel('Tag').inputValue()).toBe('user:42');
  expect(await shared.page.getByRole('combobox', { name: 'Time' }).inputValue()).toBe('hour');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect.poll(() => rows.count()).toBe(5);
  expect(await page.getByRole('combobox', { name: 'Function' }).inputValue()).toBe('');
  expect(page.url()).toMatch(/#calls$/u);
});

test('a search that found nothing yet names the time that it reached, and continues', async () => {
  const calls = Array.from({ length: 120 }, (_, at) => keptCall({ seq: at + 1, lossy: at < 2 }));
  const { page } = await open(fakeCalls({ calls }), '#calls?lossy=1');
  await page.getByText('No call fits these filters so far.').waitFor();
  await page.getByText(/Searched back to \d/u).waitFor();
  const further = page.getByRole('button', { name: 'Search further back' });
  await further.click();
  await further.click();
  await expect.poll(() => page.locator('.call-rows .call-row').count()).toBe(2);
  await further.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Show the newest' }).click();
  await page.getByText('No call fits these filters so far.').waitFor();
});

test('Back returns from a call to the place in the list where the user was', async () => {
  const calls = Array.from({ length: 90 }, (_, at) => keptCall({ seq: at + 1 }));
  const { page } = await open(fakeCalls({ calls }));
  await page.getByRole('button', { name: 'Search further back' }).click();
  const rows = page.locator('.call-rows .call-row');
  await expect.poll(() => rows.count()).toBe(90);
  await rows.nth(80).click();
  await page.getByRole('heading', { name: 'Repaired', exact: true }).waitFor();
  expect(page.url()).toMatch(/#calls\/10$/u);
  expect(await page.evaluate('document.activeElement.id')).toBe('content');
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(90);
  expect(await page.evaluate(`document.querySelector('.calls-scroll').scrollTop`)).toBeGreaterThan(500);
});

test('a row is a link that a keyboard reaches', async () => {
  const { page } = await open(fakeCalls({ calls: CALLS }));
  await page.locator('.call-rows .call-row').first().focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toMatch(/#calls\/4$/u);
});

test('the page states why there are no calls: they are off, none was kept, none fits, or the server fails', async () => {
  const fake = fakeCalls({ support: { off: 'This server has no folder for calls.' } });
  const { page, picture } = await open(fake);
  await page.getByText('This server has no folder for calls.').waitFor();
  await picture('calls-off-light-1280');
  fake.support = { content: 'none', canSave: false };
  await page.getByText('No call was kept yet.').waitFor();
  expect(await page.getByLabel('Text').count()).toBe(0);
  fake.calls = CALLS;
  await page.locator('.call-rows').waitFor();
  await page.getByRole('combobox', { name: 'Function' }).selectOption('Keyless');
  await page.getByText('No call fits these filters.').waitFor();
  fake.failure = { status: 500, body: { error: 'internal_error', message: 'The database is full.' } };
  await page.getByText('The database is full.').waitFor();
  fake.failure = undefined;
  await page.getByText('The database is full.').waitFor({ state: 'detached' });
});

test('a server that takes long is named, and its answer appears when it comes', async () => {
  const gate = new EventEmitter();
  const { page } = await open(fakeCalls({ calls: CALLS, delay: once(gate, 'open').then(() => undefined) }));
  await page.getByText('The server has not answered yet.').waitFor();
  expect(await page.locator('.call-rows').count()).toBe(0);
  gate.emit('open');
  await page.locator('.call-rows').waitFor();
  await page.getByText('The server has not answered yet.').waitFor({ state: 'detached' });
});

test('a window of any width has room for the list', async () => {
  const { page, picture } = await open(fakeCalls({ calls: CALLS }), '#calls', { colorScheme: 'dark' });
  await page.locator('.call-rows').waitFor();
  await picture('calls-dark-1280');
  for (const width of [320, 390, 640, 899, 900, 1024, 1099, 1100, 1920]) {
    await page.setViewportSize({ width, height: 700 });
    const overflow = await page.evaluate(`Math.max(
      document.documentElement.scrollWidth - innerWidth,
      ...[...document.querySelectorAll('.calls-scroll, .filters, .call-row')].map((part) => part.scrollWidth - part.clientWidth),
    )`);
    expect(overflow, String(width)).toBe(0);
  }
});

test.each(['light', 'dark'] as const)('the list and its filters fit a phone, in %s', async (colorScheme) => {
  const { page, picture, troubles } = await open(fakeCalls({ calls: CALLS }), '#calls', { ...PHONE, colorScheme });
  await page.locator('.call-rows').waitFor();
  await picture(`calls-${colorScheme}-390`);
  await page.getByText('Filters', { exact: true }).click();
  await picture(`calls-filters-${colorScheme}-390`);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(troubles).toEqual([]);
});
