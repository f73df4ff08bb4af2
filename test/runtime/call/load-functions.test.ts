import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  ClientRegistry,
  DefinitionError,
  loadFunctions,
  type FunctionLibrary,
  type PriceEntry,
} from '../../../src/index.ts';
import type { CallMeta, CallSettings, FunctionEvent } from '../../../src/runtime/call/function-library.ts';
import { reply, startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';
import { waitUntil } from '../../support/load.ts';
import { runOnOwnClock } from '../../support/own-clock.ts';

let fake: FakeProvider;
let functions: FunctionLibrary;
const directory = mkdtempSync(join(tmpdir(), 'svc-library-'));

const FILE = `
client<llm> Main {
  provider openai
  options {
    model "main"
    base_url env.URL
    api_key env.KEY
  }
}
class Person {
  name string
}
retry_policy Correcting {
  on_invalid_reply 1
}
client<llm> Again {
  provider openai
  retry_policy Correcting
  options {
    model "again"
    base_url env.URL
    api_key env.KEY
  }
}
function Count(text: string) -> int[] {
  client Main
  prompt #"{{ text }}"#
}
function Extract(text: string) -> Person {
  client Main
  prompt #"{{ text }}{% if ctx.tags.team %} for team {{ ctx.tags.team }}{% endif %}"#
}
`;

beforeAll(async () => {
  fake = await startFakeProvider();
  writeFileSync(join(directory, 'main.svc'), FILE);
  functions = loadFunctions({ from: directory, env: { URL: fake.url, KEY: 'k' } });
});
beforeEach(() => {
  fake.clear();
  fake.answer(reply('{"name": "Ada Lovelace"}', { delayMs: 4 }));
});
afterAll(async () => {
  await functions.close();
  await fake.close();
  rmSync(directory, { recursive: true });
});
runOnOwnClock(() => fake.traffic);

function modelAndKey(): string {
  const [request] = fake.requests;
  const body = request?.json as { readonly model: string } | undefined;
  return `${body?.model ?? '-'} ${request?.headers['authorization'] ?? '-'}`;
}

test('a client that is asked again corrects its reply; a failure lists its attempts', async () => {
  const invalid = reply('{"surname": "Lovelace"}');
  fake.script(invalid);
  expect(await functions.call('Extract', { text: 'x' }, { client: 'Again' })).toEqual({ name: 'Ada Lovelace' });
  expect(fake.requests).toHaveLength(2);
  fake.script(invalid, invalid);
  await expect(functions.call('Extract', { text: 'x' }, { client: 'Again' })).rejects.toMatchObject({
    code: 'validation_failure',
    failure: { attempts: [{ outcome: 'validation_failure' }, { outcome: 'validation_failure', reask: true }] },
  });
});

test('the metadata of a call contains its cost if the prices of its model are known, from a list or a file', async () => {
  const entry = { model: 'main', input: 100, output: 1000 };
  const file = join(directory, 'prices.json');
  writeFileSync(file, JSON.stringify([entry]));
  for (const prices of [[entry], file, undefined]) {
    const priced = loadFunctions({ from: directory, env: { URL: fake.url, KEY: 'k' }, ...(prices && { prices }) });
    const metas: CallMeta[] = [];
    await priced.call('Extract', { text: 'x' }, { onMeta: (meta) => void metas.push(meta) });
    const cost = prices === undefined ? undefined : (7 * 100 + 3 * 1000) / 1e6;
    expect(metas.map((meta) => [meta.client, meta.usage, meta.cost])).toEqual([
      ['Main', { inputTokens: 7, outputTokens: 3 }, cost],
    ]);
    await priced.close();
  }
});

/** The error of a library with these prices. */
function priceFaults(prices: string | readonly PriceEntry[]): unknown {
  try {
    return loadFunctions({ from: directory, env: {}, prices });
  } catch (error) {
    return error;
  }
}

test('wrong prices are errors of the definitions', () => {
  const message = '"output" is -1. Write US dollars per million tokens, 0 or more, such as 2.5.';
  expect(priceFaults([{ model: 'a', input: 1, output: -1 }])).toMatchObject({
    code: 'definition_error',
    problems: [`the option "prices", entry 1 ("a"): ${message}`],
  });
  expect(priceFaults('none.yaml')).toMatchObject({
    problems: ['"none.yaml" cannot be read: it does not exist. Pass an existing file.'],
  });
});

test('call returns the value', async () => {
  expect(functions.functionNames).toEqual(['Count', 'Extract']);
  const person = await functions.call<{ readonly name: string }>('Extract', { text: 'x' });
  expect(person.name).toBe('Ada Lovelace');
});

test('an int that JavaScript cannot keep exactly fails the call instead of becoming another number', async () => {
  fake.answer(reply('[1, 9007199254740993]'));
  await expect(functions.call('Count', { text: 'x' })).rejects.toMatchObject({
    code: 'validation_failure',
    failure: {
      details: [
        {
          path: '[1]',
          message:
            '9007199254740993 is beyond ±9007199254740991, the bounds within which JavaScript keeps integers exact',
        },
      ],
    },
  });
});

test('stream yields growing partials, then the final value', async () => {
  const events: Array<FunctionEvent<unknown>> = [];
  for await (const event of functions.stream('Extract', { text: 'x' })) events.push(event);
  expect(events.length).toBeGreaterThan(1);
  expect(events.slice(0, -1).every((event) => event.type === 'partial')).toBe(true);
  expect(events.at(-1)).toEqual({ type: 'final', value: { name: 'Ada Lovelace' } });
});

test('leaving the loop cancels the request', async () => {
  fake.answer(reply('{"name": "Ada Lovelace"}', { delayMs: 100 }));
  for await (const event of functions.stream('Extract', { text: 'x' })) {
    expect(event.type).toBe('partial');
    break;
  }
  await waitUntil('the end of the request', () => fake.abandoned.length === 1);
});

test('a registry selects its primary for one call and builds no chain', async () => {
  const clientRegistry = new ClientRegistry()
    .addLlmClient('Mine', 'openai-generic', { model: 'mine', base_url: fake.url })
    .addLlmClient('Unused', 'openai-generic', { model: 'unused', base_url: fake.url })
    .setPrimary('Mine');
  await functions.call('Extract', { text: 'x' }, { clientRegistry });
  expect(modelAndKey()).toBe('mine -');
  expect(fake.requests).toHaveLength(1);
});

test('a call can set variables and a client', async () => {
  await functions.call('Extract', { text: 'x' }, { env: { KEY: 'mine' }, client: 'Main' });
  expect(modelAndKey()).toBe('main Bearer mine');
});

test('a call can pass tags to the prompt', async () => {
  await functions.call('Extract', { text: 'x' }, { tags: { team: 'blue' } });
  expect(JSON.stringify(fake.requests[0]?.json)).toContain('x for team blue');
  const wrong = functions.call('Extract', { text: 'x' }, { tags: JSON.parse('{"team": 7}') });
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_options' });
});

test('a call can have a route key', async () => {
  await functions.call('Extract', { text: 'x' }, { routeKey: 'user-1' });
  expect(fake.requests).toHaveLength(1);
  const wrong = functions.call('Extract', { text: 'x' }, { routeKey: '' });
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_options' });
});

test('a signal ends the call', async () => {
  fake.answer(reply('x', { latencyMs: 600_000 }));
  const call = functions.call('Extract', { text: 'x' }, { signal: AbortSignal.timeout(50) });
  await expect(call).rejects.toMatchObject({ name: 'CallError', code: 'cancelled' });
});

test('a timeout ends the call', async () => {
  fake.answer(reply('x', { latencyMs: 600_000 }));
  const call = functions.call('Extract', { text: 'x' }, { timeoutMs: 50 });
  await expect(call).rejects.toMatchObject({ code: 'timeout' });
});

test('arguments, names and replies that do not match fail with their own codes', async () => {
  await expect(functions.call('Extract', {})).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(functions.call('Nope', {})).rejects.toMatchObject({ code: 'function_not_found' });
  expect(() => functions.stream('Extract', {})).toThrow('text');
  fake.answer(reply('nothing'));
  await expect(functions.call('Extract', { text: 'x' })).rejects.toMatchObject({ code: 'validation_failure' });
});

test('errors in definitions are thrown with their positions', () => {
  const broken = mkdtempSync(join(tmpdir(), 'svc-library-'));
  writeFileSync(join(broken, 'main.svc'), 'class A {\n  b Nope\n}\n');
  expect(() => loadFunctions({ from: broken, env: {} })).toThrow(/main\.svc:2:5: .*Nope/u);
  rmSync(broken, { recursive: true });
  expect(() => loadFunctions({ from: broken, env: {} })).toThrow(broken.split('/').at(-1));
});

/** The problems that `loadFunctions` reports about options that no compiler has checked. */
function problemsOf(options: unknown): unknown {
  try {
    return Reflect.apply(loadFunctions, undefined, [options]);
  } catch (error) {
    return error instanceof DefinitionError ? error.problems : error;
  }
}

const USAGE = `Write loadFunctions({ from: './svc_src', env: process.env }).`;
const FROM = `Pass the path of the definition files, such as './svc_src'; fileURLToPath of node:url turns a URL into a path.`;
const ENV = 'Pass process.env, or an object with the variables that the definitions and the keys of providers read.';

test.each([
  [
    './x',
    'loadFunctions takes an object with options, not a string. Write loadFunctions({ from: "./x", env: process.env }).',
  ],
  [new URL('file:///x'), `loadFunctions takes an object with options, not a URL. ${USAGE}`],
  [undefined, `loadFunctions takes an object with options, not undefined. ${USAGE}`],
  [null, `loadFunctions takes an object with options, not null. ${USAGE}`],
  [[directory], `loadFunctions takes an object with options, not a list. ${USAGE}`],
  [{ from: directory }, `the option "env" is missing. ${ENV}`],
  [{ from: directory, env: 'production' }, `the option "env" is a string. ${ENV}`],
  [{ from: directory, env: { KEY: 'secret', PORT: 80 } }, 'the variable "PORT" in "env" is a number. Pass a string.'],
  [{ env: {} }, `the option "from" is missing. ${FROM}`],
  [{ from: new URL('file:///x'), env: {} }, `the option "from" is a URL. ${FROM}`],
  [{ from: directory, env: {}, onloss: 'refuse' }, 'unknown option "onloss". Did you mean "onLoss"?'],
  [{ from: directory, env: {}, onLoss: 'ignore' }, 'the option "onLoss" is a string. Pass one of "accept", "refuse".'],
  [
    { from: directory, env: {}, logger: console },
    'the option "logger" is an object. Pass an object with the functions enabled, error, warn, info, debug.',
  ],
])('wrong options are reported in words: %j', (options, problem) => {
  expect(problemsOf(options)).toEqual([problem]);
});

test('all mistakes in options are reported at once', () => {
  expect(problemsOf({ form: directory })).toEqual([
    'unknown option "form". Did you mean "from"?',
    `the option "from" is missing. ${FROM}`,
    `the option "env" is missing. ${ENV}`,
  ]);
});

test.each([
  [{ timeoutMS: 1000 }, 'timeoutMS: unknown setting. Did you mean "timeoutMs"?'],
  [{ timeoutMs: '1000' }, 'timeoutMs: expected a number of milliseconds above 0'],
  ['Main', 'settings: expected an object with the settings of a call'],
])('wrong settings of a call fail it: %j', async (settings, message) => {
  await expect(functions.call('Extract', { text: 'x' }, settings as CallSettings)).rejects.toMatchObject({
    code: 'invalid_options',
    message: `The options of the request are not valid. ${message}`,
  });
  expect(fake.requests).toHaveLength(0);
});
