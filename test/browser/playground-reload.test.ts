import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/running-server.ts';
import { run, selectFunction, usePlayground } from './playground-page.ts';

const GOOD = `client<llm> Fixed {
  provider offline
  options { reply "fixed" }
}
function Say(about: string) -> string {
  client Fixed
  prompt #"{{ about }}"#
}
`;

const TYPO = `${GOOD}class Resume {
  name strng
}
`;

const MORE = `${GOOD}function Shout(about: string, times: int) -> string {
  client Fixed
  prompt #"{{ about }} {{ times }}"#
}
`;

const from = temporaryFolder({ 'main.svc': GOOD });
const { server, visit } = usePlayground({ command: 'dev', from });

function save(text: string): void {
  writeFileSync(join(from, 'main.svc'), text);
}

test('errors appear with their lines while the last good definitions keep serving, and new definitions appear by themselves', async () => {
  const { page, troubles, picture } = await visit();
  await page.getByLabel('about').fill('kept');
  save(TYPO);
  const banner = page.locator('.problem-banner');
  await banner.waitFor();
  expect(await banner.innerText()).toMatch(
    /The definitions have an error\.[^]*main\.svc:10:8[^]*10 \|[^]*name strng[^]*\^{5}/u,
  );
  await picture('problem-light-1280');
  await run(page);
  expect(await page.locator('.value-view').innerText()).toBe('"fixed"');
  save(MORE);
  await banner.waitFor({ state: 'detached' });
  await page.getByText('Definitions reloaded').waitFor();
  expect(await page.getByLabel('about').inputValue()).toBe('kept');
  await selectFunction(page, 'Shout');
  expect(await page.getByLabel('times').inputValue()).toBe('0');
  expect(troubles).toEqual([]);
});

test('a page whose server has stopped says so, and keeps what the user typed', async () => {
  const { page } = await visit();
  await page.getByLabel('about').fill('kept');
  await server().stop();
  await page.locator('.server-status', { hasText: 'The server does not answer.' }).waitFor();
  await run(page);
  expect(await page.locator('.run .problem').innerText()).toContain('network');
  expect(await page.getByLabel('about').inputValue()).toBe('kept');
});
