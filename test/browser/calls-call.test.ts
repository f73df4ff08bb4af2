import { expect, test } from 'vitest';
import { keptCall } from '../support/kept-calls.ts';
import { fakeCalls, serveFakeCalls, type FakeCalls } from './fake-calls.ts';
import { argumentsOf, PHONE, usePlayground, type Visit } from './playground-page.ts';

const { visit } = usePlayground();

const REPLY = 'Final answer:\n\n```json\n{"title": "Tea", "score": "7.5", "tags": ["hot"], "mood": "calm"}\n```\n';

const ATTEMPTS = [
  { client: 'Broken', outcome: 'client_error', upstream_status: 401, message: 'answered 401', duration_ms: 300 },
  { client: 'Chatty', outcome: 'ok', duration_ms: 900 },
];

const PROMPT = [
  { role: 'system', parts: [{ kind: 'text', text: 'Rate drinks.' }] },
  { role: 'user', parts: [{ kind: 'text', text: 'Rate tea.\nBe brief.' }] },
];

const CONTENT = {
  args: { about: 'tea' },
  value: { title: 'Tea', score: 7.5, tags: ['hot'] },
  prompt: PROMPT,
  reply: REPLY,
  attempts: ATTEMPTS,
  flags: [{ flag: 'markdown', path: '' }],
};

const CALL = keptCall({ seq: 12, tags: { user: '42' }, key: 'web', attempts: 2, content: CONTENT });

const OTHER = keptCall({
  seq: 14,
  content: {
    ...CONTENT,
    args: { about: 'coffee' },
    value: { title: 'Coffee', score: 7.5, tags: ['hot'] },
    prompt: [PROMPT[0] ?? '', { role: 'user', parts: [{ kind: 'text', text: 'Rate coffee.\nBe brief.' }] }],
  },
});

async function open(fake: FakeCalls, fragment = '#calls/12', options = {}): Promise<Visit> {
  return visit(options, fragment, serveFakeCalls(fake));
}

test('a call shows its arguments, value, reply with what svc took from it, attempts, prompt and figures', async () => {
  const { page, troubles, picture } = await open(fakeCalls({ calls: [CALL] }));
  await page.getByRole('heading', { name: 'Repaired', exact: true }).waitFor();
  expect(await page.locator('.call-facts').innerText()).toMatch(/Call 12[^]*key web[^]*request-12[^]*user: 42/u);
  expect(await page.locator('.run-facts').innerText()).toMatch(
    /Done[^]*Chatty \(small-1\)[^]*1\.5 s[^]*12[^]*7[^]*\$0\.0021/u,
  );
  expect(await page.getByRole('region', { name: 'Arguments' }).innerText()).toContain('"about": "tea"');
  expect(await page.getByRole('region', { name: 'Value' }).innerText()).toContain('"title": "Tea"');
  await page.locator('.reply .part-taken').waitFor();
  expect(await page.getByRole('region', { name: 'How svc read the reply' }).innerText()).toContain('extra-key');
  await page.getByText('The definitions have changed since this call.').waitFor();
  expect(await page.getByRole('region', { name: 'Repairs' }).innerText()).toContain('markdown');
  expect(await page.getByRole('region', { name: 'Attempts' }).innerText()).toMatch(
    /client_error[^]*Broken, status 401[^]*ok/u,
  );
  const bars = await page.evaluate(
    `[...document.querySelectorAll('.attempt-bar rect')].map((bar) => [bar.getAttribute('x'), bar.getAttribute('width')])`,
  );
  expect(bars).toEqual([
    ['0', '300'],
    ['300', '900'],
  ]);
  await page.getByText('Prompt, 2 messages').click();
  expect(await page.locator('.messages').innerText()).toContain('Rate drinks.');
  await picture('call-kept-light-1280');
  expect(troubles).toEqual([]);
});

test('a failed call shows its code and message', async () => {
  const failed = keptCall({
    seq: 12,
    error: 'client_error',
    status: 502,
    content: { args: {}, message: 'The provider is down.' },
  });
  const { page } = await open(fakeCalls({ calls: [failed] }));
  expect(await page.locator('.problem').innerText()).toMatch(/client_error[^]*The provider is down\.[^]*request-12/u);
});

test('a call can be run again: its function and arguments fill in the form', async () => {
  const { page } = await open(fakeCalls({ calls: [OTHER] }), '#calls/14');
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('heading', { name: 'Repaired', exact: true }).waitFor();
  expect(page.url()).toMatch(/#run\/Repaired$/u);
  expect(await argumentsOf(page)).toEqual({ about: 'coffee' });
  await page.goBack();
  await page.getByText('request-14').waitFor();
});

test('two calls are compared side by side, with marks at the lines that differ', async () => {
  const { page, troubles, picture } = await open(fakeCalls({ calls: [CALL, OTHER] }));
  await page.getByRole('link', { name: 'Compare with…' }).click();
  await page.getByText('Select a call to compare with call 12.').waitFor();
  await page.locator('.call-rows .call-row').click();
  await page.getByRole('heading', { name: 'Calls 12 and 14' }).waitFor();
  expect(page.url()).toMatch(/#calls\/12\?with=14$/u);
  const summaries = await page.locator('.diff summary').allInnerTexts();
  expect(summaries).toEqual([
    'Arguments: 1 line differs',
    'Prompt: 1 line differs',
    'Reply of the model: equal',
    'Value or failure: 1 line differs',
  ]);
  const marks = page.locator('.diff[open] mark');
  expect((await marks.allInnerTexts()).map((text) => text.trim())).toEqual([
    '"about": "tea"',
    '"about": "coffee"',
    'Rate tea.',
    'Rate coffee.',
    '"title": "Tea",',
    '"title": "Coffee",',
  ]);
  const boxes = [await marks.first().boundingBox(), await marks.nth(1).boundingBox()];
  expect(boxes[0]?.y).toBe(boxes[1]?.y);
  await picture('calls-compared-light-1280');
  expect(troubles).toEqual([]);
});

test('a call is saved as a test, and the page shows what the server wrote', async () => {
  const fake = fakeCalls({ calls: [CALL] });
  const { page, picture } = await open(fake);
  await page.getByRole('button', { name: 'Save as test' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as test' });
  await dialog.getByLabel('Name of the test').fill('GoodTea');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText('test GoodTea {').waitFor();
  expect(await dialog.innerText()).toMatch(/svc_src\/main\.svc[^]*svc_src\/recordings\/GoodTea\.json/u);
  expect(fake.bodies).toEqual([{ path: '/playground/calls/12/test', body: { name: 'GoodTea' } }]);
  await picture('call-saved-light-1280');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.innerText.trim()')).toBe('Save as test');
});

test('a server that cannot write definitions names the command that does', async () => {
  const { page } = await open(fakeCalls({ calls: [CALL], support: { content: 'all', canSave: false } }));
  await page.getByRole('button', { name: 'Save as test' }).click();
  expect(await page.getByRole('dialog').innerText()).toContain('svc calls save request-12 --name NAME');
});

test('feedback is sent and then shown; a value that is not JSON is not sent', async () => {
  const fake = fakeCalls({ calls: [CALL] });
  const { page } = await open(fake);
  const form = page.getByRole('form', { name: 'Add feedback' });
  await form.getByRole('button', { name: 'Send feedback' }).click();
  await form.getByText('Fill in at least one field.').waitFor();
  await form.getByLabel('Score').fill('0.5');
  await form.getByLabel('Label').fill('wrong');
  await form.getByLabel('Comment').fill('It is too low.');
  await form.getByLabel('Right value').fill('{"title": ');
  await form.getByRole('button', { name: 'Send feedback' }).click();
  await form.getByText('The right value is not valid JSON.').waitFor();
  await form.getByLabel('Right value').fill('{"title": "Tea"}');
  await form.getByRole('button', { name: 'Send feedback' }).click();
  await form.getByText('Stored').waitFor();
  const body = { score: 0.5, label: 'wrong', comment: 'It is too low.', value: { title: 'Tea' } };
  expect(fake.bodies).toEqual([{ path: '/feedback/request-12', body }]);
  await expect.poll(() => page.getByRole('region', { name: 'Feedback' }).innerText()).toContain('score 0.5');
  expect(await form.getByLabel('Label').inputValue()).toBe('');
});

test('the page states what it lacks: texts, a prompt, a call that is gone, or an answer of the server', async () => {
  const fake = fakeCalls({
    calls: [keptCall({ seq: 12, content: null })],
    support: { content: 'none', canSave: false },
  });
  const { page } = await open(fake);
  await page.getByText('The texts of this call are not kept.').waitFor();
  expect(await page.getByRole('button', { name: 'Run again' }).isDisabled()).toBe(true);
  expect(await page.getByRole('region', { name: 'Value' }).count()).toBe(0);
  fake.support = { content: 'values', canSave: true };
  fake.calls = [keptCall({ seq: 13, content: { args: { about: 'tea' }, value: 1 } })];
  await page.goto(page.url().replace('#calls/12', '#calls/13'));
  await page.getByText('Its prompt and reply are not kept.').waitFor();
  expect(await page.getByRole('region', { name: 'Reply of the model' }).innerText()).toContain('Not kept');
  await page.goto(page.url().replace('#calls/13', '#calls/99'));
  await page.getByText('Call 99 is gone.').waitFor();
  fake.failure = { status: 500, body: { error: 'internal_error', message: 'The database is locked.' } };
  await page.goto(page.url().replace('#calls/99', '#calls/13'));
  await page.getByText('The database is locked.').waitFor();
  fake.failure = undefined;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('request-13').waitFor();
  await page.getByRole('link', { name: 'All calls' }).click();
  await page.locator('.call-rows').waitFor();
});

test.each(['light', 'dark'] as const)('a call and a comparison fit a phone, in %s', async (colorScheme) => {
  const fake = fakeCalls({ calls: [CALL, OTHER] });
  const { page, picture, troubles } = await open(fake, '#calls/12', { ...PHONE, colorScheme });
  await page.locator('.reply .part-taken').waitFor();
  const width = (): Promise<unknown> =>
    page.evaluate(
      `Math.max(document.documentElement.scrollWidth, document.querySelector('.calls-scroll').scrollWidth)`,
    );
  expect(await width()).toBe(390);
  await picture(`call-kept-${colorScheme}-390`);
  await page.getByRole('region', { name: 'Feedback' }).scrollIntoViewIfNeeded();
  await picture(`call-feedback-${colorScheme}-390`);
  await page.goto(page.url().replace('#calls/12', '#calls/12?with=14'));
  await page.locator('.diff').first().waitFor();
  expect(await width()).toBe(390);
  await picture(`calls-compared-${colorScheme}-390`);
  expect(troubles).toEqual([]);
});
