import { EventEmitter, once } from 'node:events';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  chatEvent,
  reply,
  SSE_HEADERS,
  startFakeProvider,
  status,
  type FakeProvider,
} from '../support/fake-provider.ts';
import { chunk, head } from '../support/http1-connection.ts';
import { argumentsOf, run, selectFunction, usePlayground } from './playground-page.ts';

const { server, visit } = usePlayground();

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

/** Defines a client in the page that calls the provider. */
async function selectOwnClient(page: Page, url: string): Promise<void> {
  await page.getByLabel('Client', { exact: true }).selectOption('custom');
  await page.getByLabel('Provider').selectOption('openai-generic');
  await page.getByLabel('Model').fill('mine-1');
  await page.getByLabel('API key').fill('sk-of-this-tab');
  await page.getByLabel('Base URL').fill(url);
}

test('a call shows the value with its checks, the reply, what the parser took and repaired, and its figures', async () => {
  const { page, troubles, picture } = await visit();
  await selectFunction(page, 'Repaired');
  await page.getByText('Call', { exact: true }).click();
  await run(page);
  const value = page.getByRole('region', { name: 'Value' });
  expect(await value.innerText()).toContain('"title": "Tea"');
  expect(await value.locator('.check-passed').innerText()).toContain('positive');
  expect(await value.locator('.check-failed').innerText()).toContain('small');
  expect(await page.locator('.reply .part-taken').innerText()).toContain('"title": "Tea", // of course');
  expect(await page.locator('.reply .part-passed-over').innerText()).toContain('Example');
  const parser = page.getByRole('region', { name: 'How svc read the reply' });
  await parser.getByText('Taken').waitFor();
  expect(await parser.locator('.candidate-taken').innerText()).toMatch(/a fence[^]*comment[^]*extra-key[^]*mood/u);
  expect(await parser.locator('.candidate-passed-over').innerText()).toContain('because');
  const facts = await page.locator('.run-facts').innerText();
  expect(facts).toMatch(/Done[^]*Chatty \(offline\)[^]*\d+ ms/u);
  await page.getByText('Prompt of this run').click();
  expect(await page.locator('.sent-prompt .message').innerText()).toContain('Rate tea.');
  await picture('call-light-1280');
  expect(troubles).toEqual([]);
});

test('a stream shows the reply as it arrives beside the growing value', async () => {
  const { page, troubles, picture } = await visit({ colorScheme: 'dark' });
  const parts = ['{"title": "Grow', 'ing", "score": 2, "tags": ["a"', ', "b"]}'];
  const gates = parts.map(() => gate());
  provider.answer(async (_request, wire) => {
    wire.write(head(200, SSE_HEADERS));
    for (const [at, part] of parts.entries()) {
      wire.write(chunk(chatEvent({ content: part })));
      await gates[at]?.promise;
    }
    wire.write(chunk(chatEvent({}, 'stop')));
    wire.write(chunk('data: [DONE]\n\n'));
    wire.write(chunk(''));
  });
  await selectFunction(page, 'Repaired');
  await selectOwnClient(page, provider.url);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const shows = async (text: string, value: string): Promise<void> => {
    await expect.poll(() => page.locator('.reply').innerText()).toBe(text);
    await expect.poll(() => page.locator('.value-view').innerText()).toContain(value);
  };
  await shows(parts[0] ?? '', '"title": "Grow"');
  gates[0]?.resolve();
  await shows(parts.slice(0, 2).join(''), '"tags": [');
  await page
    .getByRole('tab', { name: /Answer/u })
    .locator('.state-streaming')
    .waitFor();
  await picture('stream-growing-dark-1280');
  gates[1]?.resolve();
  await shows(parts.join(''), '"b"');
  gates[2]?.resolve();
  await page.locator('.state-done.state').waitFor();
  expect(await page.locator('.run-facts').innerText()).toMatch(/first text[^]*partials/u);
  await picture('stream-dark-1280');
  expect(troubles).toEqual([]);
});

test('Escape stops a stream', async () => {
  const { page } = await visit();
  await page.getByLabel('text', { exact: true }).press('Control+Enter');
  await page.locator('.reply').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.state-stopped').waitFor();
  expect(await page.getByRole('button', { name: 'Run', exact: true }).isVisible()).toBe(true);
});

test('a failure shows its code and message, and each attempt of a strategy its outcome', async () => {
  const { page, picture } = await visit();
  await selectFunction(page, 'Failing');
  await run(page);
  expect(await page.locator('.problem').innerText()).toMatch(/client_error[^]*answered 401[^]*Request /u);
  await picture('failure-light-1280');
  await page.getByLabel('Client', { exact: true }).selectOption({ label: 'Backup (fallback: Broken, Brief)' });
  await run(page);
  const attempts = page.getByRole('region', { name: 'Attempts' });
  expect(await attempts.innerText()).toMatch(/client_error[^]*Broken, status 401[^]*ok[^]*Brief/u);
  await picture('attempts-light-1280');
});

test('a reply that does not match the type is explained', async () => {
  const { page, picture } = await visit({ colorScheme: 'dark' });
  await selectFunction(page, 'Repaired');
  await page.getByLabel('Client', { exact: true }).selectOption({ label: 'Words (offline)' });
  await run(page);
  expect(await page.locator('.problem').innerText()).toContain('validation_failure');
  await page.locator('.candidate-mismatch').waitFor();
  expect(await page.locator('.reply').innerText()).toContain('One word after the other');
  await picture('mismatch-dark-1280');
});

test('a missing key is asked for, sent with the run, and kept nowhere', async () => {
  const { page } = await visit();
  await selectFunction(page, 'Keyless');
  await run(page);
  expect(await page.locator('.problem').innerText()).toContain('missing_credential');
  await page.getByLabel('PLAYGROUND_TEST_KEY').fill('a-key-of-this-tab');
  await run(page);
  // Nothing listens at the address of the client.
  expect(await page.locator('.problem').innerText()).toContain('client_error');
  const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])');
  expect(stored).not.toContain('a-key-of-this-tab');
  await page.reload();
  await page.getByLabel('PLAYGROUND_TEST_KEY').waitFor();
  expect(await page.getByLabel('PLAYGROUND_TEST_KEY').inputValue()).toBe('');
});

test('another client can be defined, with a key that goes only to it', async () => {
  const { page, troubles, picture } = await visit();
  provider.clear();
  provider.answer(reply('{"title": "From my client", "score": 1, "tags": []}'));
  await selectFunction(page, 'Repaired');
  await page.getByText('Call', { exact: true }).click();
  await selectOwnClient(page, provider.url);
  await run(page);
  expect(await page.locator('.value-view').innerText()).toContain('From my client');
  expect(await page.locator('.run-facts').innerText()).toContain('mine-1');
  expect(provider.requests[0]?.headers['authorization']).toBe('Bearer sk-of-this-tab');
  await picture('custom-client-light-1280');
  provider.answer(status(401, '{"error": {"message": "sk-of-this-tab is wrong"}}'));
  await run(page);
  expect(await page.locator('.problem').innerText()).toContain('401');
  expect(await page.locator('.run').innerText()).not.toContain('sk-of-this-tab');
  expect(server().output()).not.toContain('sk-of-this-tab');
  expect(troubles).toEqual([]);
});

test('two clients run side by side, and what differs is marked', async () => {
  const { page, troubles, picture } = await visit();
  await selectFunction(page, 'Repaired');
  await page.getByLabel('Compare').check();
  await page.getByLabel('Client B').selectOption({ label: 'Brief (offline)' });
  await run(page);
  await page.locator('.comparison-summary').waitFor();
  expect(await page.locator('.comparison-summary').innerText()).toBe('The values differ in 4 places.');
  const [a, b] = await page.locator('.columns .run').all();
  expect(await a?.locator('.differs').allInnerTexts()).toEqual([
    expect.stringContaining('7.5'),
    '"green"',
    '"by": "High"',
  ]);
  expect(await b?.locator('.differs').allInnerTexts()).toEqual([expect.stringContaining('3'), '"by": null']);
  const boxes = await Promise.all([a?.boundingBox(), b?.boundingBox()]);
  expect(boxes[0]?.y).toBe(boxes[1]?.y);
  await picture('comparison-light-1280');
  expect(troubles).toEqual([]);
});

test('the history shows old runs again, compares two of them, and brings back their arguments', async () => {
  const { page, picture } = await visit();
  await selectFunction(page, 'Repaired');
  for (const [about, client] of [
    ['first', 'Brief (offline)'],
    ['second', 'Chatty (offline)'],
  ] as const) {
    await page.getByLabel('about').fill(about);
    await page.getByLabel('Client', { exact: true }).selectOption({ label: client });
    await run(page);
  }
  await page.getByRole('tab', { name: /History/u }).click();
  const rows = page.locator('.history-row');
  expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('Chatty'), expect.stringContaining('Brief')]);
  await page.getByText('Kept until you close or reload this page.').waitFor();
  await picture('history-light-1280');
  await page.getByLabel('Select run 1 to compare').check();
  expect(await page.getByRole('button', { name: 'Compare 1 of 2' }).isDisabled()).toBe(true);
  await page.getByLabel('Select run 2 to compare').check();
  await page.getByRole('button', { name: 'Compare 2 of 2' }).click();
  await page.locator('.comparison').waitFor();
  await page.getByRole('tab', { name: /History/u }).click();
  await rows.last().locator('.history-run').click();
  expect(await page.locator('.run-facts').innerText()).toContain('Brief');
  await selectFunction(page, 'Keyless');
  await page.getByRole('tab', { name: /History/u }).click();
  await rows.last().getByRole('button', { name: 'Reuse' }).click();
  expect(await argumentsOf(page)).toEqual({ about: 'first' });
});

test('another function has no answer yet, and the answer of the first one returns with it', async () => {
  const { page } = await visit();
  await selectFunction(page, 'Repaired');
  await run(page);
  expect(await page.locator('.run-facts').innerText()).toMatch(/function\s+Repaired/u);
  await selectFunction(page, 'Failing');
  await page.getByText('The answer appears here.').waitFor();
  await page.goBack();
  await page.locator('.value-view', { hasText: 'Tea' }).waitFor();
  await selectFunction(page, 'Failing');
  await page.getByRole('tab', { name: /History/u }).click();
  await page.locator('.history-run').click();
  expect(await page.locator('.run-facts').innerText()).toMatch(/function\s+Repaired/u);
});

test('a link restores the function, the arguments, the mode and the clients, and contains no key', async () => {
  const { page } = await visit({ permissions: ['clipboard-read', 'clipboard-write'] });
  await selectFunction(page, 'Keyless');
  await page.getByLabel('about').fill('a link');
  await page.getByLabel('PLAYGROUND_TEST_KEY').fill('a-key-of-this-tab');
  await page.getByText('Call', { exact: true }).click();
  await page.getByLabel('Compare').check();
  await page.getByLabel('Client B').selectOption({ label: 'Brief (offline)' });
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('Copied').first().waitFor();
  const link = String(await page.evaluate('navigator.clipboard.readText()'));
  expect(link.startsWith(`${server().url}/playground#s=`)).toBe(true);
  const other = await visit({}, new URL(link).hash);
  expect(await argumentsOf(other.page)).toEqual({ about: 'a link' });
  expect(await other.page.getByRole('radio', { name: 'Call' }).isChecked()).toBe(true);
  expect(await other.page.getByLabel('Client B').inputValue()).toBe('named:Brief');
  expect(await other.page.getByLabel('PLAYGROUND_TEST_KEY').inputValue()).toBe('');
  expect(other.page.url()).toBe(`${server().url}/playground#run/Keyless`);
});

test('the command that the page offers repeats the run', async () => {
  const { page } = await visit({ permissions: ['clipboard-read', 'clipboard-write'] });
  await selectFunction(page, 'Repaired');
  await page.getByLabel('about').fill("it's tea");
  await page.getByText('Call', { exact: true }).click();
  await run(page);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.getByText('Copied').first().waitFor();
  const command = String(await page.evaluate('navigator.clipboard.readText()'));
  expect(command).toBe(
    `curl -s '${server().url}/call/Repaired' -H 'content-type: application/json' -d '{"about":"it'\\''s tea"}'`,
  );
});

/** A promise that the test resolves. */
function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const opened = new EventEmitter();
  const promise = once(opened, 'open').then(() => undefined);
  return { promise, resolve: () => void opened.emit('open') };
}
