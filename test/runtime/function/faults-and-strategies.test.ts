import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { FunctionRuntime } from '../../../src/runtime/function/runtime.ts';
import {
  SSE_HEADERS,
  chatEvent,
  chunk,
  head,
  reply,
  sleep,
  startFakeProvider,
  status,
} from '../../support/fake-provider.ts';
import type { Behaviour, FakeProvider } from '../../support/fake-provider.ts';
import { callFunction, streamFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

let fake: FakeProvider;
let runtime: FunctionRuntime;

function client(name: string, more = ''): string {
  return `client<llm> ${name} {\n  provider openai-generic\n  ${more}\n  options {\n    model "${name}"\n    base_url env.URL\n    http {\n      request_timeout_ms 600\n      idle_timeout_ms 400\n    }\n  }\n}\n`;
}

const FILES = `
retry_policy Once {
  max_retries 1
  strategy {
    type constant_delay
    delay_ms 5
  }
}
${client('Plain')}${client('Retrying', 'retry_policy Once')}${client('Second')}
client<llm> Falling {
  provider fallback
  options {
    strategy [Plain, Second]
  }
}
${['Plain', 'Retrying', 'Falling'].map((name) => `function F${name}() -> string {\n  client ${name}\n  prompt #"x"#\n}\n`).join('')}`;

beforeAll(async () => {
  fake = await startFakeProvider();
  runtime = testRuntime(FILES, { URL: fake.url });
});
beforeEach(() => fake.clear());
afterAll(() => fake.close());

const stall: Behaviour = async (_request, wire) => {
  while (!wire.gone) await sleep(10);
};
const cutStream: Behaviour = async (_request, wire) => {
  wire.write(head(200, SSE_HEADERS));
  wire.write(chunk(chatEvent({ content: 'half' })));
  await sleep(10);
  wire.reset();
};
const cut: Behaviour = async (_request, wire) => {
  wire.write(head(200, { 'content-type': 'application/json', 'content-length': '100' }));
  await sleep(5);
  wire.reset();
};

/** A fault of the first answer; the second one is good. What comes of it: alone, with a retry, with a fallback. */
const TABLE: ReadonlyArray<readonly [string, Behaviour, readonly [string, string, string]]> = [
  ['never answers', stall, ['timeout', 'fine', 'fine']],
  ['cut after the headers', cut, ['client_error', 'fine', 'fine']],
  ['cut in the middle of a stream', cutStream, ['client_error', 'fine', 'fine']],
  ['400', status(400, {}), ['client_error', 'client_error', 'fine']],
  ['401', status(401, {}), ['client_error', 'client_error', 'fine']],
  ['408', status(408, {}), ['client_error', 'fine', 'fine']],
  ['429', status(429, {}, { 'retry-after': '0' }), ['client_error', 'fine', 'fine']],
  ['500', status(500, '<html>'), ['client_error', 'fine', 'fine']],
  ['529', status(529, {}), ['client_error', 'fine', 'fine']],
  ['307', status(307, '', { location: '/' }), ['client_error', 'client_error', 'fine']],
  ['not JSON', status(200, 'hello', { 'content-type': 'application/json' }), ['client_error', 'client_error', 'fine']],
  [
    'an error in the reply',
    status(200, { error: { message: 'x', type: 'server_error' } }),
    ['client_error', 'fine', 'fine'],
  ],
];

const CASES = TABLE.flatMap(([fault, behaviour, outcomes]) =>
  ['FPlain', 'FRetrying', 'FFalling'].flatMap((name, index) =>
    ['call', 'stream'].map((mode) => ({ fault, behaviour, name, mode, outcome: outcomes[index] ?? '' })),
  ),
);

test('the table has all its rows', () => {
  expect(CASES).toHaveLength(72);
});

test.each(CASES)('$mode $name: $fault -> $outcome', async ({ behaviour, name, mode, outcome }) => {
  fake.answer(reply('fine'));
  fake.script(behaviour);
  const ended =
    mode === 'call' ? await callFunction(runtime, name, {}) : (await streamFunction(runtime, name, {})).outcome;
  expect(valueOf(ended)).toBe(outcome);
  expect(ended.report.attempts).toHaveLength(fake.requests.length);
});

test('afterwards no timer is left, and closing leaves no connection', async () => {
  await runtime.close();
  await sleep(60);
  expect(fake.openSockets).toBe(0);
  const timers = process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout');
  // The test runner has one for this test.
  expect(timers.length).toBeLessThanOrEqual(2);
});
