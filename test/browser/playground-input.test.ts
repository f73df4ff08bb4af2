import { expect, test } from 'vitest';
import { argumentsOf, selectFunction, typeJson, usePlayground } from './playground-page.ts';

const { visit } = usePlayground();

const TYPICAL = {
  text: 'Hello',
  person: { name: 'Ada', age: 36, addresses: [{ street: "St James's Square 12", city: 'London' }] },
  level: 'High',
  tags: ['first', 'second'],
  scores: { maths: 10 },
  shape: { kind: 'square', side: 2.5 },
  choice: 7,
  flag: true,
};

/** A PNG of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('the form begins with the first test, and shows its values for every kind of type', async () => {
  const { page, troubles, picture } = await visit();
  expect(await argumentsOf(page)).toEqual(TYPICAL);
  expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Ada');
  expect(await page.getByLabel('level', { exact: true }).inputValue()).toBe('High');
  expect(await page.getByLabel('side', { exact: true }).inputValue()).toBe('2.5');
  expect(await page.getByLabel('Type of shape').innerText()).toContain('Square');
  expect(await page.getByLabel('Key 1 of scores').inputValue()).toBe('maths');
  await picture('form-light-1280');
  expect(troubles).toEqual([]);
});

test('the form edits nested classes, lists, maps, unions and optional values', async () => {
  const { page, troubles } = await visit();
  await page.getByLabel('name', { exact: true }).fill('Grace');
  await page.getByLabel('age', { exact: true }).fill('85');
  await page.getByRole('button', { name: 'Add person.email' }).click();
  await page.getByRole('textbox', { name: 'email', exact: true }).fill('grace@example.org');
  await page.getByRole('button', { name: 'Remove person.addresses[0].city' }).click();
  await page.getByRole('button', { name: 'Add Address' }).click();
  await page.locator('[id="field-person.addresses[1].street"]').fill('Second Street');
  await page.getByRole('button', { name: 'Move person.addresses[1] up' }).click();
  await page.getByRole('button', { name: 'Add string', exact: true }).click();
  await page.locator('[id="field-tags[2]"]').fill('third');
  await page.getByRole('button', { name: 'Remove tags[0]' }).click();
  await page.getByRole('button', { name: 'Add entry' }).click();
  await page.getByLabel('Key 2 of scores').fill('physics');
  await page.locator('[id="field-scores.physics"]').fill('9');
  await page.getByRole('button', { name: 'Add perLevel' }).click();
  await page.getByRole('button', { name: 'Add entry' }).nth(1).click();
  await page.getByLabel('Key 1 of perLevel').selectOption('High');
  await page.locator('[id="field-perLevel.High"]').fill('top');
  await page.getByLabel('Type of shape').selectOption({ label: 'Circle' });
  await page.getByLabel('radius').fill('1.5');
  await page.getByLabel('Type of choice').selectOption({ label: 'string' });
  await page.getByLabel('flag').uncheck();
  expect(await argumentsOf(page)).toEqual({
    text: 'Hello',
    person: {
      name: 'Grace',
      age: 85,
      email: 'grace@example.org',
      addresses: [{ street: 'Second Street' }, { street: "St James's Square 12" }],
    },
    level: 'High',
    tags: ['second', 'third'],
    scores: { maths: 10, physics: 9 },
    perLevel: { High: 'top' },
    shape: { kind: 'circle', radius: 1.5 },
    choice: '7',
    flag: false,
  });
  expect(troubles).toEqual([]);
});

test('a key that another entry has is refused', async () => {
  const { page } = await visit();
  await page.getByRole('button', { name: 'Add entry' }).click();
  await page.getByLabel('Key 2 of scores').fill('maths');
  await page.getByText('Another entry has this key.').waitFor();
  expect(await argumentsOf(page)).toMatchObject({ scores: { maths: 10, key2: 0 } });
});

test('media comes from a URL or a file, and its content is shown without a request to another server', async () => {
  const { page, troubles, picture } = await visit();
  await page.getByRole('button', { name: 'Add picture' }).click();
  await page.locator('#field-picture').fill('https://images.example/cat.png');
  await page.locator('.message code', { hasText: 'https://images.example/cat.png' }).waitFor();
  await page.locator('.media-input').getByText('File').click();
  await page
    .locator('#field-picture')
    .setInputFiles({ name: 'cat.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') });
  await page.locator('.message img').waitFor();
  expect(await page.evaluate(`document.querySelector('.message img').naturalWidth`)).toBe(1);
  await picture('media-light-1280');
  expect(await argumentsOf(page)).toMatchObject({ picture: { base64: PIXEL, media_type: 'image/png' } });
  expect(troubles).toEqual([]);
});

test('a file that is too large for a request is refused', async () => {
  const { page } = await visit();
  await page.getByRole('button', { name: 'Add picture' }).click();
  await page.locator('.media-input').getByText('File').click();
  const buffer = Buffer.alloc(8_000_000);
  await page.locator('#field-picture').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer });
  await page.getByText('svc accepts at most 7.0 MB').waitFor();
  expect(await argumentsOf(page)).toMatchObject({ picture: { url: '' } });
});

test('the JSON view edits the same arguments, and reports a text that is not JSON', async () => {
  const { page, troubles, picture } = await visit({ colorScheme: 'dark' });
  await page.getByText('JSON', { exact: true }).click();
  await typeJson(page, JSON.stringify({ ...TYPICAL, text: 'from JSON' }));
  await page.locator('.message', { hasText: 'from JSON' }).waitFor();
  await typeJson(page, '{"text": ');
  await page.getByText('This is not valid JSON.').waitFor();
  await picture('json-dark-1280');
  await page.getByText('Form', { exact: true }).click();
  expect(await page.getByLabel('text', { exact: true }).inputValue()).toBe('from JSON');
  await page.getByText('JSON', { exact: true }).click();
  await typeJson(page, '[1]');
  await page.getByText('The arguments have to be a JSON object.').waitFor();
  expect(troubles).toEqual([]);
});

test('arguments that are not valid JSON do not run', async () => {
  const { page } = await visit();
  await selectFunction(page, 'Repaired');
  await page.getByText('JSON', { exact: true }).click();
  await typeJson(page, '{"about": ');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Correct the arguments to run the function.').waitFor();
  expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
  expect(await page.locator('.run').count()).toBe(0);
  await typeJson(page, '{"about": "milk"}');
  await page.keyboard.press('Control+Enter');
  await page.locator('.run').waitFor();
  await page.getByText('Prompt of this run').click();
  expect(await page.locator('.sent-prompt .message').innerText()).toContain('Rate milk.');
});

test('the prompt and its tokens follow the arguments while the user types', async () => {
  const { page, picture } = await visit();
  await page.locator('.role-user', { hasText: 'Ada is 36. Hello' }).waitFor();
  const tokens = async (): Promise<number> =>
    Number((await page.getByRole('tab', { name: /Prompt/u }).innerText()).replace(/\D/gu, ''));
  const before = await tokens();
  await page.getByLabel('text', { exact: true }).pressSequentially(' and many more words');
  await page.locator('.role-user', { hasText: 'Hello and many more words' }).waitFor();
  expect(await tokens()).toBe(before + 4);
  expect(await page.locator('.message .role').allInnerTexts()).toEqual(['system', 'user']);
  await picture('prompt-light-1280');
});

test('what the server reports about an argument is beside its field, and the last prompt stays', async () => {
  const { page, picture } = await visit();
  await page.locator('.role-user', { hasText: 'Ada' }).waitFor();
  await page.getByLabel('age', { exact: true }).fill('old');
  await page.locator('.field .error', { hasText: 'expected an int, got a string' }).waitFor();
  expect(await page.getByLabel('age', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator('.prompt.stale .role-user').innerText()).toContain('Ada is 36');
  await picture('invalid-light-1280');
  await page.getByLabel('age', { exact: true }).fill('37');
  await page.locator('.role-user', { hasText: 'Ada is 37' }).waitFor();
  await page.locator('.field .error').waitFor({ state: 'detached' });
});

test('an example fills the form, and it can be emptied', async () => {
  const { page } = await visit();
  await selectFunction(page, 'Repaired');
  await page.getByLabel('about').fill('coffee');
  expect(await page.getByLabel('Example').locator('option:checked').innerText()).toBe('Load an example…');
  await page.getByLabel('Example').selectOption({ label: 'Tea' });
  expect(await argumentsOf(page)).toEqual({ about: 'tea' });
  await page.getByLabel('Example').selectOption({ label: 'Empty' });
  expect(await argumentsOf(page)).toEqual({ about: '' });
});

test('a reload of the tab keeps the arguments, and each function has its own', async () => {
  const { page } = await visit();
  await page.getByLabel('text', { exact: true }).fill('kept');
  await selectFunction(page, 'Repaired');
  await page.getByLabel('about').fill('coffee');
  await page.locator('.message', { hasText: 'Rate coffee.' }).waitFor();
  await page.reload();
  expect(await page.getByLabel('about').inputValue()).toBe('coffee');
  await selectFunction(page, 'Everything');
  expect(await page.getByLabel('text', { exact: true }).inputValue()).toBe('kept');
});
