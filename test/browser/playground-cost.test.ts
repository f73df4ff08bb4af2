import { afterAll, expect, test } from 'vitest';
import { reply, startFakeProvider } from '../support/fake-provider.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { run, selectFunction, usePlayground } from './playground-page.ts';

/** Each reply takes 7 tokens in and 3 out. */
const provider = await startFakeProvider();
provider.answer(reply('the answer'));
afterAll(() => provider.close());

function client(name: string, prices: string): string {
  return `client<llm> ${name} {
  provider openai-generic
  options {
    model "m"
    base_url "${provider.url}/v1"
    ${prices}
  }
}
`;
}

const from = temporaryFolder({
  'main.svc': `function Say(about: string) -> string {
  client Cheap
  prompt #"{{ about }}"#
}
${client('Cheap', 'prices { input 1, output 2 }')}${client('Dear', 'prices { input 100000, output 20000.5 }')}${client('Free', '')}`,
});
const { visit } = usePlayground({ command: 'dev', from });

test('a run shows its cost beside its tokens if the client states prices, and a comparison shows both', async () => {
  const { page, troubles, picture } = await visit();
  await selectFunction(page, 'Say');
  await run(page);
  expect(await page.locator('.run-facts').innerText()).toMatch(
    /tokens in\s+7\s+tokens out\s+3\s+cost\s+\$0\.000013\s/u,
  );
  await page.getByLabel('Compare').check();
  await page.getByLabel('Client B').selectOption({ label: 'Dear (openai-generic, m)' });
  await run(page);
  await page.locator('.comparison-summary').waitFor();
  const facts = await page.locator('.columns .run-facts').allInnerTexts();
  expect(facts.map((text) => /\$[\d.]+/u.exec(text)?.[0])).toEqual(['$0.000013', '$0.76']);
  await picture('cost-light-1280');
  await page.getByLabel('Client B').selectOption({ label: 'Free (openai-generic, m)' });
  await run(page);
  await page.locator('.comparison-summary').waitFor();
  expect(await page.locator('.columns .run-facts').last().innerText()).not.toMatch(/cost|\$/u);
  expect(troubles).toEqual([]);
});
