import { expect, test } from 'vitest';
import type { FunctionRuntime } from '../../../src/runtime/call/runtime.ts';
import type { ModelPrices } from '../../../src/schema/price-list.ts';
import { chatCompletion, reply, status } from '../../support/fake-provider.ts';
import { startProviderSuite } from '../../support/provider-suite.ts';
import { callFunction, streamFunction, testRuntime } from '../../support/test-runtime.ts';

const USAGE = { prompt_tokens: 1000, completion_tokens: 100 };
const VALID = reply('7', { usage: USAGE });
const INVALID = reply('none', { usage: USAGE });
const { fake, open } = await startProviderSuite(VALID);

function client(name: string, options = ''): string {
  return `client<llm> ${name} {
  provider openai-generic
  retry_policy Again
  options {
    model "${name.toLowerCase()}-1"
    base_url env.URL
    ${options}
  }
}
`;
}

const DEFINITIONS = `${client('Listed')}${client('Unlisted')}${client('Own', 'prices { input 1, output 2, cached_input 0.1 }')}
retry_policy Again {
  on_invalid_reply 1
}
client<llm> Chain {
  provider fallback
  options {
    strategy [Listed, Own]
  }
}
client<llm> Partly {
  provider fallback
  options {
    strategy [Listed, Unlisted]
  }
}
function F() -> int {
  client Listed
  prompt #"Which number?"#
}
`;

function entry(pattern: string, input: number, output: number): ModelPrices {
  return { provider: 'openai-generic', pattern, input, output, cached_input: undefined };
}

const PRICES = [entry('listed-*', 10, 20), entry('own-*', 1000, 1000)];

function program(prices: readonly ModelPrices[] | undefined = PRICES): FunctionRuntime {
  const runtime = testRuntime(DEFINITIONS, { URL: fake.url }, { prices });
  open.push(runtime);
  return runtime;
}

function by(name: string): object {
  return { svc_options: { client: name } };
}

test('a call and a stream cost their tokens at the prices of the list', async () => {
  const { report } = await callFunction(program(), 'F', {});
  expect(report.cost).toBe(0.012);
  expect(report.attempts).toMatchObject([{ cost: 0.012 }]);
  expect((await streamFunction(program(), 'F', {})).outcome.report.cost).toBe(0.012);
});

test('the prices of a client win over the list', async () => {
  expect((await callFunction(program(), 'F', by('Own'))).report.cost).toBe(0.0012);
});

test('a model that is not listed has no cost, and without a list no client has one', async () => {
  const unlisted = (await callFunction(program(), 'F', by('Unlisted'))).report;
  const off = (await callFunction(program([]), 'F', {})).report;
  for (const report of [unlisted, off]) {
    expect(report).not.toHaveProperty('cost');
    expect(report.attempts[0]).not.toHaveProperty('cost');
  }
});

test('attempts whose replies do not fit cost as much as those that fit, each at the prices of its client', async () => {
  fake.script(INVALID, INVALID, VALID);
  const { report } = await callFunction(program(), 'F', by('Chain'));
  expect(report.attempts.map(({ client: name, cost }) => [name, cost])).toEqual([
    ['Listed', 0.012],
    ['Listed', 0.012],
    ['Own', 0.0012],
  ]);
  expect(report.cost).toBe(0.0252);
});

test('the cost of a call is unknown if that of a reply is', async () => {
  fake.script(INVALID, INVALID, VALID);
  const { report } = await callFunction(program(), 'F', by('Partly'));
  expect(report.attempts.map(({ cost }) => cost)).toEqual([0.012, 0.012, undefined]);
  expect(report).not.toHaveProperty('cost');
});

test('a call that fails states the cost of its replies', async () => {
  fake.script(INVALID, INVALID);
  const { result, report } = await callFunction(program(), 'F', {});
  expect(result).toMatchObject({ ok: false, failure: { code: 'validation_failure' } });
  expect(report.cost).toBe(0.024);
});

test('an attempt without a reply costs nothing', async () => {
  fake.script(status(401, { error: { message: 'no' } }), VALID);
  const { report } = await callFunction(program(), 'F', by('Chain'));
  expect(report.attempts.map(({ client: name, cost }) => [name, cost])).toEqual([
    ['Listed', undefined],
    ['Own', 0.0012],
  ]);
  expect(report.cost).toBe(0.0012);
});

test('the cached part of a prompt has a price of its own, or else that of the prompt', async () => {
  const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 600 } };
  fake.answer(status(200, { ...chatCompletion('7'), usage }));
  expect((await callFunction(program(), 'F', by('Own'))).report.cost).toBe(0.00066);
  expect((await callFunction(program(), 'F', {})).report.cost).toBe(0.012);
});

test('a reply without a count of tokens has no cost', async () => {
  fake.answer(status(200, { ...chatCompletion('7'), usage: { prompt_tokens: 1000 } }));
  expect((await callFunction(program(), 'F', {})).report).not.toHaveProperty('cost');
});

test('a cost that no reply has counts as a million dollars', async () => {
  for (const price of [1e300, Number.MAX_VALUE]) {
    expect((await callFunction(program([entry('*', price, 0)]), 'F', {})).report.cost).toBe(1e6);
  }
});
