import { expect, test } from 'vitest';
import { DEFINITIONS, PHONE, run, usePlayground } from './playground-page.ts';

const KEY = 'the-password-of-this-test';

const { server, visit } = usePlayground({
  from: DEFINITIONS,
  flags: ['--playground', '--base-path', '/llm', '--workers', '1'],
  env: { SVC_PASSWORD: KEY },
});

test('the page asks for the key of the server, reports a wrong one, and sends the right one', async () => {
  const { page, troubles, picture } = await visit({ colorScheme: 'dark' });
  await page.getByText('This server requires a key').waitFor();
  await picture('key-dark-1280');
  await page.getByLabel('API key').fill('wrong');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('The server does not accept this key.').waitFor();
  await page.getByLabel('API key').fill(KEY);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Everything' }).waitFor();
  await run(page);
  await page.locator('.state-done.state').waitFor();
  expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(KEY);
  expect(troubles).toEqual([]);
});

test('the form for the key fits a phone', async () => {
  const { page, picture } = await visit(PHONE);
  const form = await page.locator('.key-form').boundingBox();
  expect((form?.x ?? 0) + (form?.width ?? Infinity)).toBeLessThan(390);
  await picture('key-light-390');
});

test('svc serve --playground prints its address, and serves the page under a path prefix', async () => {
  await expect.poll(server().output).toContain(`playground at http://localhost:${server().port}/llm/playground`);
  const { page, troubles } = await visit();
  await page.goto(`${server().url}/llm/playground`);
  await page.getByLabel('API key').fill(KEY);
  await page.getByRole('button', { name: 'Continue' }).click();
  await run(page);
  await page.locator('.state-done.state').waitFor();
  expect(troubles).toEqual([]);
});
