import { afterAll, afterEach, expect, test } from 'vitest';
import { countSteps } from '../../support/count-steps.ts';
import { callFunction, testRuntime } from '../../support/test-runtime.ts';

const runtime = testRuntime(`
retry_policy Often {
  max_retries 9
  strategy {
    type constant_delay
    delay_ms 0
  }
}
client<llm> Failing {
  provider offline
  options {
    fail_status 500
  }
}
client<llm> Persistent {
  provider offline
  retry_policy Often
  options {
    fail_status 500
  }
}
client<llm> Wide {
  provider fallback
  options {
    strategy [${Array.from({ length: 120 }, () => 'Failing').join(', ')}]
  }
}
function F() -> string {
  client "offline/x"
  prompt #"hi"#
}
function G() -> string {
  client Wide
  prompt #"hi"#
}
`);

afterAll(() => runtime.close());

function faultsOf(options: unknown): readonly string[] {
  const prepared = runtime.prepare('F', { svc_options: options }, { local: false });
  if (prepared.ok) return [];
  if (prepared.failure.code !== 'invalid_options') return [prepared.failure.code];
  return prepared.failure.details.map((fault) => `${fault.path}: ${fault.message}`);
}

function client(options: object, provider = 'openai-generic'): object {
  const own = provider === 'openai-generic' ? { base_url: 'http://127.0.0.1:9/v1', model: 'm' } : {};
  return { client_registry: { primary: 'C', clients: [{ name: 'C', provider, options: { ...own, ...options } }] } };
}

function texts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `user${at}`);
}

function members(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(texts(count).map((name) => [name, 'v']));
}

const OF_CLIENT = 'svc_options.client_registry.clients[0].options';

/** Every map and list of the options, with the number of entries that it can have. */
const PLACES: readonly (readonly [string, number, (count: number) => unknown])[] = [
  ['svc_options.env', 100, (count) => ({ env: members(count) })],
  ['svc_options.tags', 100, (count) => ({ tags: members(count) })],
  ['svc_options.include', 100, (count) => ({ include: Array.from({ length: count }, () => 'warnings') })],
  [
    'svc_options.client_registry.clients',
    100,
    (count) => ({ client_registry: { clients: texts(count).map((name) => ({ name, provider: 'offline' })) } }),
  ],
  [
    `${OF_CLIENT}.strategy`,
    100,
    (count) => client({ strategy: Array.from({ length: count }, () => 'Failing') }, 'fallback'),
  ],
  ...['headers', 'query_params', 'remap_roles'].map(
    (key) => [`${OF_CLIENT}.${key}`, 100, (count: number) => client({ [key]: members(count) })] as const,
  ),
  ...['allowed_roles', 'finish_reason_deny_list', 'allowed_role_metadata'].map(
    (key) => [`${OF_CLIENT}.${key}`, 100, (count: number) => client({ [key]: texts(count) })] as const,
  ),
  [`${OF_CLIENT}.tools`, 1000, (count) => client({ tools: texts(count).map((name) => ({ name })) })],
  [`${OF_CLIENT}.logit_bias`, 1000, (count) => client({ logit_bias: members(count) })],
  [`${OF_CLIENT}.response_format.schema`, 1000, (count) => client({ response_format: { schema: members(count) } })],
];

test.each(PLACES)('%s has at most %d entries', (path, most, options) => {
  expect(faultsOf(options(most))).toEqual([]);
  expect(faultsOf(options(most + 1))).toContainEqual(`${path}: has more than ${most} entries`);
});

function fallbackOf(count: number): object {
  return { client_registry: { fallback: copies('Failing', count) } };
}

function elevenLists(count: number): object {
  return client(Object.fromEntries(texts(11).map((name) => [name, texts(count)])));
}

function nestedStrategies(count: number): object {
  return registry(strategy('Top', copies('Inner', 10)), strategy('Inner', copies('Failing', count)));
}

test('a fallback list has at most 100 entries, and one less beside the client of the function', () => {
  expect(faultsOf(fallbackOf(99))).toEqual([]);
  expect(faultsOf(fallbackOf(101))).toEqual(['svc_options.client_registry.fallback: has more than 100 entries']);
});

test('all maps and lists of the options together have at most 10,000 entries', () => {
  expect(faultsOf(elevenLists(900))).toEqual([]);
  expect(faultsOf(elevenLists(910))).toEqual(['svc_options: has more than 10000 entries in all its maps and lists']);
});

test('the strings of the options have at most 1,048,576 characters together, keys included', () => {
  expect(faultsOf({ tags: { a: 'x'.repeat(1_000_000) } })).toEqual([]);
  const fault = ['svc_options: has more than 1048576 characters in all its strings'];
  expect(faultsOf({ tags: { a: 'x'.repeat(600_000), b: 'x'.repeat(600_000) } })).toEqual(fault);
  expect(faultsOf({ tags: { ['x'.repeat(1_100_000)]: '' } })).toEqual(fault);
});

test.each([
  ['an integer that JSON parsers round', 9_007_199_254_740_992, 'is an integer beyond ±9007199254740991'],
  ['an integer of 300,000 digits', JSON.parse('1'.repeat(300_000)) as number, 'is a number out of range'],
  ['a float out of range', JSON.parse('-1e999') as number, 'is a number out of range'],
])('%s is refused wherever it is in the options', (_what, number, message) => {
  expect(faultsOf(client({ seed: number }))).toEqual([`${OF_CLIENT}.seed: ${message}`]);
  expect(faultsOf(client({ tools: [{ n: [number] }] }))).toEqual([`${OF_CLIENT}.tools[0].n[0]: ${message}`]);
  expect(faultsOf(client({ reply: { n: number } }, 'offline'))).toEqual([`${OF_CLIENT}.reply.n: ${message}`]);
});

test('numbers within the bounds pass', () => {
  expect(faultsOf(client({ seed: -9_007_199_254_740_991, temperature: 0.3, tiny: 5e-324 }))).toEqual([]);
});

// --- requests of one call ------------------------------------------------------------------------------------------

function strategy(name: string, list: readonly string[], more: object = {}): object {
  return { name, provider: 'fallback', options: { strategy: list }, ...more };
}

function copies(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, () => name);
}

function registry(...clients: readonly object[]): object {
  return { client_registry: { primary: 'Top', clients } };
}

test('nested strategies of a request list at most 100 clients', () => {
  expect(faultsOf(nestedStrategies(10))).toEqual([]);
  expect(faultsOf(nestedStrategies(11))).toEqual([
    'svc_options.client_registry.clients[0].options.strategy: The client "Top" can ask 110 clients: a call with its own clients makes at most 100 requests to models',
  ]);
});

test('a fallback list and the strategies in it name at most 100 clients', () => {
  const options = {
    client_registry: { fallback: copies('Inner', 10), clients: [strategy('Inner', copies('Failing', 10))] },
  };
  expect(faultsOf(options)).toEqual([
    'svc_options.client_registry.fallback: can ask 101 clients: a call with its own clients makes at most 100 requests to models',
  ]);
});

async function attemptsOf(functionName: string, options?: object): Promise<readonly [number, string]> {
  const { result, report } = await callFunction(
    runtime,
    functionName,
    options === undefined ? {} : { svc_options: options },
  );
  return [report.attempts.length, result.ok ? '' : result.failure.message];
}

test('members and retries of a call with clients of its own make at most 100 requests', async () => {
  const [attempts, message] = await attemptsOf('F', registry(strategy('Top', copies('Persistent', 90))));
  expect(attempts).toBe(100);
  expect(message).toMatch(/a call with its own clients makes at most 100 requests to models$/u);
  expect(message.length).toBeLessThan(2000);
});

test('retries of strategies within strategies count as well', async () => {
  const inner = strategy('Inner', copies('Failing', 5), { retry_policy: 'Often' });
  const [attempts] = await attemptsOf(
    'F',
    registry(strategy('Top', copies('Inner', 5), { retry_policy: 'Often' }), inner),
  );
  expect(attempts).toBe(100);
});

test('the clients of the definition files are asked as often as they define it', async () => {
  expect((await attemptsOf('G'))[0]).toBe(120);
  expect((await attemptsOf('F', { client: 'Wide' }))[0]).toBe(120);
});

test('attempts that fail at once leave turns of the event loop to others', async () => {
  let turns = 0;
  let running = true;
  const count = (): void => {
    turns += 1;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  await attemptsOf('F', registry(strategy('Top', copies('No', 50)), { name: 'No', provider: 'openai', options: {} }));
  running = false;
  expect(turns).toBeGreaterThanOrEqual(49);
});

// --- steps ---------------------------------------------------------------------------------------------------------

/** Steps of a whole call that fails at once, because the prompt of its function is small and its client needs a key. */
function prepareSteps(options: unknown): number {
  const run = (): unknown => runtime.prepare('F', { svc_options: options }, { local: false });
  run();
  return countSteps(run);
}

afterEach(() => expect.hasAssertions());

test.each(PLACES)('%s costs a bounded number of steps for each entry', (_path, most, options) => {
  const [few, many] = [prepareSteps(options(most / 4)), prepareSteps(options(most / 2))];
  expect(many).toBeLessThan(2.3 * few);
});

test('a hundred clients whose strategies list each other cost few steps', () => {
  const all = texts(100);
  const lists = all.map((name, at) => strategy(name, at === 99 ? ['Failing'] : [all[at + 1] ?? '']));
  expect(prepareSteps({ client_registry: { clients: lists.slice(-10) } })).toBeLessThan(20_000);
  const wide = all.map((name, at) => strategy(name, at < 10 ? copies('Failing', 10) : copies(`user${at % 10}`, 10)));
  expect(prepareSteps({ client_registry: { clients: wide } })).toBeLessThan(400_000);
});

/** The steps that a refusal takes, and the faults. */
function refusal(options: unknown): { readonly faults: readonly string[]; readonly steps: number } {
  let faults: readonly string[] = [];
  const steps = countSteps(() => (faults = faultsOf(options)));
  return { faults, steps };
}

test.each([
  ['unknown members', numbers(200_000), 'svc_options'],
  [
    'unknown members of a client',
    registry({ name: 'A', provider: 'openai', ...numbers(200_000) }),
    'svc_options.client_registry.clients[0]',
  ],
  ['entries of a map', { env: numbers(200_000) }, 'svc_options.env'],
  ['entries of http', client({ http: numbers(200_000) }), `${OF_CLIENT}.http`],
  ['entries of media_url_handler', client({ media_url_handler: numbers(200_000) }), `${OF_CLIENT}.media_url_handler`],
])('svc does not go through 200,000 %s', (_what, options, path) => {
  const { faults, steps } = refusal(options);
  expect(faults).toEqual([`${path}: has more than 100 entries`]);
  // One pass of a built-in function counts them.
  expect(steps).toBeLessThan(250_000);
});

test('svc lists a hundred faults of all clients together', () => {
  const options = { headers: numbers(90) };
  const faults = faultsOf(registry(...texts(100).map((name) => ({ name, provider: 'openai', options }))));
  expect(faults).toHaveLength(101);
  expect(faults.at(-1)).toBe(': and more: these are the first 100');
});

test('strategies with too many members are refused at their path in few steps', () => {
  const { faults, steps } = refusal(registry(...texts(100).map((name) => strategy(name, copies('C', 20_000)))));
  expect(faults[0]).toBe(`${OF_CLIENT}.strategy: has more than 100 entries`);
  expect(steps).toBeLessThan(100_000);
});

test('long names cost no more steps than short ones', () => {
  const name = 'x'.repeat(5_000);
  const clients = [{ name, provider: 'offline' }, strategy('List', [`z${name}`])];
  const { faults, steps } = refusal({ client_registry: { primary: `${name}y`, clients } });
  expect(faults).toHaveLength(2);
  expect(steps).toBeLessThan(100_000);
});

function numbers(count: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, at]));
}
