import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { CallObserver } from '../../../src/base/call-observer.ts';
import { CoolDowns } from '../../../src/policy/cool-downs.ts';
import { reply, status } from '../../support/fake-provider.ts';
import { waitUntil } from '../../support/load.ts';
import { startProviderSuite } from '../../support/provider-suite.ts';
import { callContext, callFunction, testRuntime } from '../../support/test-runtime.ts';

const { fake, open } = await startProviderSuite(reply('fine'));

function client(name: string, options = ''): string {
  return `client<llm> ${name} {\n  provider openai-generic\n  options {\n    model "${name}"\n    base_url "${fake.url}/x/${name}"\n    api_key env.KEY\n    ${options}\n  }\n}\n`;
}

function strategy(name: string, provider: string, list: string, policy = ''): string {
  return `client<llm> ${name} {\n  provider ${provider}\n  ${policy}\n  options {\n    strategy [${list}]\n  }\n}\n`;
}

function start(clients: string) {
  for (const name of 'BC') fake.at(name, reply('fine'));
  const clock = { now: 0 };
  const clientHealth = new CoolDowns(
    () => {},
    [],
    () => clock.now,
  );
  const functions = ['Top', 'A']
    .map((name) => `function Ask${name}() -> string {\n  client ${name}\n  prompt #"x"#\n}\n`)
    .join('');
  const runtime = testRuntime(`${clients}${functions}`, { KEY: 'k' }, { clientHealth });
  open.push(runtime);
  /** Calls a function; returns the models that were asked. */
  const call = async (name = 'AskTop', body: unknown = {}, context = callContext()): Promise<string> => {
    fake.clear();
    await callFunction(runtime, name, body, context);
    return fake.requests.map((request) => (request.json as { readonly model?: string }).model).join('');
  };
  const calls = async (count: number, name?: string, body?: unknown): Promise<readonly string[]> => {
    const asked: string[] = [];
    for (let at = 0; at < count; at += 1) asked.push(await call(name, body));
    return asked;
  };
  return { clock, clientHealth, runtime, call, calls };
}

const DOWN = status(500, {});

test('a fallback passes over a client that failed five times in a row, until an attempt after the time succeeds', async () => {
  fake.at('A', DOWN);
  const { clock, call, calls } = start(client('A') + client('B') + strategy('Top', 'fallback', 'A, B'));
  expect(await calls(7)).toEqual(['AB', 'AB', 'AB', 'AB', 'AB', 'B', 'B']);
  clock.now = 30_000;
  expect(await calls(2)).toEqual(['AB', 'B']);
  fake.at('A', reply('back'));
  clock.now = 60_000;
  expect(await calls(2)).toEqual(['A', 'A']);
  expect(await call('AskA')).toBe('A');
});

test('a client with retry-after is passed over at once; its own function still asks it', async () => {
  fake.at('A', status(429, {}, { 'retry-after': '20' }));
  const { clock, calls } = start(client('A') + client('B') + strategy('Top', 'round-robin', 'A, B'));
  expect(await calls(5)).toEqual(['A', 'B', 'B', 'B', 'B']);
  expect(await calls(2, 'AskA')).toEqual(['A', 'A']);
  fake.at('A', reply('back'));
  clock.now = 20_000;
  expect((await calls(4)).join('').match(/A/gu)).toHaveLength(2);
});

test('when the time is over, one call asks the client, and the others pass over it until that one ends', async () => {
  fake.at('A', status(429, {}, { 'retry-after': '20' }));
  const { clock, runtime, call } = start(client('A') + client('B') + strategy('Top', 'fallback', 'A, B'));
  expect(await call()).toBe('AB');
  const gate = new EventEmitter();
  const opened = once(gate, 'open');
  fake.at('A', async (request, wire) => {
    await opened;
    await reply('back')(request, wire);
  });
  clock.now = 20_000;
  fake.clear();
  const deciding = callFunction(runtime, 'AskTop', {});
  await waitUntil('the request', () => fake.requests.length === 1);
  await Promise.all(Array.from({ length: 10 }, () => callFunction(runtime, 'AskTop', {})));
  const models = () => fake.requests.map((request) => (request.json as { readonly model?: string }).model).join('');
  expect(models()).toBe(`A${'B'.repeat(10)}`);
  gate.emit('open');
  expect((await deciding).result).toMatchObject({ ok: true });
  expect(await call()).toBe('A');
});

test('faults of a request do not count, and neither do calls that their caller left', async () => {
  const { call, calls, clientHealth } = start(client('A') + client('B') + strategy('Top', 'fallback', 'A, B'));
  fake.at('A', status(400, {}));
  expect(new Set(await calls(6))).toEqual(new Set(['AB']));
  fake.at('A', () => {});
  for (let at = 0; at < 6; at += 1) {
    const cancellation = new Cancellation();
    const asked = call('AskTop', {}, callContext(undefined, cancellation));
    await waitUntil('the request', () => fake.requests.length === 1);
    cancellation.cancel('the caller left');
    expect(await asked).toBe('A');
  }
  expect(clientHealth.coolingUntil('A')).toBeUndefined();
});

test('a request with a key or client of its own neither starts a cool-down nor obeys one', async () => {
  fake.at('A', status(429, {}, { 'retry-after': '20' }));
  const { calls, call, clientHealth } = start(client('A') + client('B') + strategy('Top', 'fallback', 'A, B'));
  const ownKey = { svc_options: { env: { KEY: 'mine' } } };
  const options = { model: 'A', base_url: `${fake.url}/x/A` };
  const ownClient = {
    svc_options: { client_registry: { clients: [{ name: 'A', provider: 'openai-generic', options }] } },
  };
  expect(await calls(2, 'AskTop', ownKey)).toEqual(['AB', 'AB']);
  expect(await calls(2, 'AskTop', ownClient)).toEqual(['AB', 'AB']);
  expect(clientHealth.coolingUntil('A')).toBeUndefined();
  expect(await call()).toBe('AB');
  expect(await call()).toBe('B');
  expect(await call('AskTop', ownKey)).toBe('AB');
  expect(await call('AskTop', ownClient)).toBe('AB');
});

test('the retries of a member count as attempts, and follow even if the client begins to cool down', async () => {
  const policy =
    'retry_policy Five {\n  max_retries 5\n  strategy {\n    type constant_delay\n    delay_ms 1\n  }\n}\n';
  const retried = client('A').replace('  options', '  retry_policy Five\n  options');
  fake.at('A', DOWN);
  const { calls } = start(policy + retried + client('B') + strategy('Top', 'fallback', 'A, B'));
  expect(await calls(2)).toEqual(['AAAAAAB', 'B']);
});

test('cool_down_ms sets the time of a client, and 0 turns cool-downs of it off', async () => {
  fake.at('A', DOWN);
  const { clock, calls } = start(
    client('A', 'cool_down_ms 5000') +
      client('B', 'cool_down_ms 0') +
      client('C') +
      strategy('Top', 'fallback', 'A, B, C'),
  );
  fake.at('B', status(503, {}, { 'retry-after': '20' }));
  expect(await calls(6)).toEqual(['ABC', 'ABC', 'ABC', 'ABC', 'ABC', 'BC']);
  clock.now = 5_000;
  expect(await calls(2)).toEqual(['ABC', 'BC']);
});

test('the observer of a call hears of each client that a strategy passes over', async () => {
  fake.at('A', status(429, {}, { 'retry-after': '20' }));
  const { call } = start(client('A') + client('B') + strategy('Top', 'fallback', 'A, B'));
  const passed: string[] = [];
  const observer: CallObserver = {
    started: () => {},
    rendered: () => {},
    passedOver: (name) => passed.push(name),
    asked: () => ({ traceHeaders: () => [], firstText: () => {}, ended: () => {} }),
    parsing: () => undefined,
  };
  await call('AskTop', {}, { ...callContext(), observer });
  expect(passed).toEqual([]);
  await call('AskTop', {}, { ...callContext(), observer });
  expect(passed).toEqual(['A']);
});
