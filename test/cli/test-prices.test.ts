import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { startProviderSuite } from '../support/provider-suite.ts';
import { inEmptyDirectory, svc, timeless } from './command-line.ts';

const { fake } = await startProviderSuite(reply('7', { usage: { prompt_tokens: 1000, completion_tokens: 100 } }));

inEmptyDirectory();

function client(name: string, model: string): string {
  return `client<llm> ${name} {
  provider openai-generic
  options {
    model "${model}"
    base_url "${fake.url}"
  }
}
`;
}

const FUNCTION = `function Count() -> int {
  client Priced
  prompt #"{{ _.role("user") }}How many?"#
}
test One {
  functions [Count]
}
test Two {
  functions [Count]
}
`;

const PRICES = `- model: priced-*
  input: 2
  output: 10
`;

beforeEach(() => {
  mkdirSync('svc_src');
  writeFileSync('svc_src/count.svc', client('Priced', 'priced-1') + client('Other', 'other') + FUNCTION);
  writeFileSync('prices.yaml', PRICES);
});

test('the summary states the cost of all runs', async () => {
  const ended = await svc('test', '--prices', 'prices.yaml');
  expect(ended).toMatchObject({ code: 0, error: '' });
  expect(timeless(ended)).toContain('2 tests: 2 passed, 0 failed, in 0 ms, cost $0.006\n');
  expect(timeless(await svc('test'))).toContain('2 passed, 0 failed, in 0 ms\n');
});

test('the documented summary is a real one', async () => {
  const documented = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8');
  const { out } = await svc('test', '--prices', 'prices.yaml', '--client', 'Priced', '--client', 'Other');
  const [summary = ''] = /^4 tests: .*$/mu.exec(out) ?? [];
  expect(timeless({ code: 0, out, error: '' })).toMatch(/^cost +\$0\.006 +-$/mu);
  expect(summary).toContain('cost $0.006 (known for 2 of 4 runs)');
  expect(documented).toContain(`\n${summary.replace(/in [\d.]+ m?s/u, 'in 1.2 s')}\n`);
});

test('the JSON report has the cost of each run and of all', async () => {
  const { out } = await svc('test', '--prices', 'prices.yaml', '--format', 'json');
  expect(JSON.parse(out)).toMatchObject({
    cost: 0.006,
    tests: [{ runs: [{ cost: 0.003 }] }, { runs: [{ cost: 0.003 }] }],
  });
  const bare = JSON.parse((await svc('test', '--format', 'json')).out) as object;
  expect(bare).not.toHaveProperty('cost');
});

test('the JUnit report has the cost of each case and suite as a property', async () => {
  const { out } = await svc('test', '--prices', 'prices.yaml', '--format', 'junit');
  expect([...out.matchAll(/<property name="cost" value="(.*?)"\/>/gu)].map(([, cost]) => cost)).toEqual([
    '0.006',
    '0.003',
    '0.003',
  ]);
  expect((await svc('test', '--format', 'junit')).out).not.toContain('propert');
});

test('recorded replies cost nothing', async () => {
  await svc('test', '--record', 'replies');
  const ended = await svc('test', '--replay', 'replies', '--prices', 'prices.yaml');
  expect(timeless(ended)).toContain('2 tests: 2 passed, 0 failed, in 0 ms\n');
});

test('prices that match no model are reported once, and all of them as a problem of names', async () => {
  writeFileSync('prices.yaml', `${PRICES}- model: gpt-9\n  input: 1\n  output: 1\n`);
  const some = await svc('test', '--prices', 'prices.yaml');
  expect(some.error).toBe('svc: 1 of 2 prices in "prices.yaml" match no model of the definitions: "gpt-9"\n');
  writeFileSync('prices.yaml', '- model: pricd-1\n  input: 1\n  output: 1\n');
  writeFileSync('rows.jsonl', '{}\n{}\n');
  const none =
    'svc: no price in "prices.yaml" matches a model of the definitions ("priced-1", "other"), so svc cannot compute what their calls cost\n';
  expect((await svc('test', '--prices', 'prices.yaml')).error).toBe(none);
  const batch = await svc('batch', 'Count', '--in', 'rows.jsonl', '--out', 'answers.jsonl', '--prices', 'prices.yaml');
  expect(batch).toMatchObject({ code: 0, error: none });
});

test('a price matches the clients that --client names, and any model in a variable that is not set', async () => {
  writeFileSync('prices.yaml', '- model: gpt-9\n  input: 1\n  output: 1\n');
  const named = await svc('test', '--prices', 'prices.yaml', '--client', 'openai-generic/gpt-9', '--list');
  expect(named.error).toBe('');
  writeFileSync('svc_src/later.svc', client('Later', 'x').replace('"x"', 'env.LATER_MODEL'));
  expect((await svc('test', '--prices', 'prices.yaml', '--list')).error).toBe('');
});
