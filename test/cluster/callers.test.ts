import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { chatCompletion, reply } from '../support/fake-provider.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { keyOf, useCluster, writeKeys } from './support/cluster.ts';

const KEYS = join(temporaryFolder({}), 'keys.yaml');
const tokens = '    limits: {tokens_per_minute: 100000}\n';
writeKeys(KEYS, {
  ended: tokens,
  refused: tokens,
  attacker: '    limits: {in_flight: 100, cost_per_day: 10}\n',
  victim: '    limits: {tokens_per_minute: 100000, cost_per_day: 10, in_flight: 100}\n',
});

const cluster = useCluster({ flags: ['--keys', KEYS, '--allow-private-urls'] });

/** The addresses of both machines. */
let here: string;
let there: string;

beforeEach(() => {
  const { fake, machines } = cluster();
  fake.answer(reply('Hi', { usage: { prompt_tokens: 7, completion_tokens: 3 } }));
  [here = '', there = ''] = machines.servers.map(({ url }) => url);
});

async function call(url: string, key: string, body: object = { name: 'Ada' }): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${keyOf(key)}` };
  const { status } = await fetch(`${url}/call/Hi`, { method: 'POST', headers, body: JSON.stringify(body) });
  return status;
}

/** Calls one after another, `count` times. */
async function calls(count: number, ...args: Parameters<typeof call>): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  for (let each = 0; each < count; each += 1) statuses.add(await call(...args));
  return statuses;
}

/** Calls again and again during `work`. Returns the statuses. */
async function callDuring<T>(
  work: () => Promise<T>,
  ...args: Parameters<typeof call>
): Promise<[T, ReadonlySet<number>]> {
  const statuses = new Set<number>();
  let done = false;
  const loop = async (): Promise<void> => {
    while (!done) {
      statuses.add(await call(...args));
      await sleep(20);
    }
  };
  const looping = loop();
  const result = await work();
  done = true;
  await looping;
  return [result, statuses];
}

const SERVED = new Set([200]);
const REFUSED = new Set([429]);

/** Needs more than the limit. */
const LARGE = { name: 'word '.repeat(150_000) };

test('what a large call reserved and did not use is free on another machine at once', async () => {
  expect(await call(here, 'ended', LARGE)).toBe(200);
  expect(await callDuring(() => calls(31, there, 'ended'), here, 'ended')).toEqual([SERVED, SERVED]);
});

test('large calls that are refused on one machine take nothing from small calls on another', async () => {
  expect(await call(there, 'refused')).toBe(200);
  expect(await call(here, 'refused', LARGE)).toBe(429);
  expect(await callDuring(() => calls(31, there, 'refused'), here, 'refused', LARGE)).toEqual([SERVED, REFUSED]);
});

test('a cost above 2^63 units reaches the store: both machines refuse the key until midnight, and serve every other', async () => {
  const { fake } = cluster();
  const most = Number.MAX_SAFE_INTEGER;
  fake.answer((_request, wire) => {
    const body = JSON.stringify(chatCompletion('Hi', { usage: { prompt_tokens: most, completion_tokens: most } }));
    wire.head(200, { 'content-type': 'application/json', 'content-length': String(body.length) });
    wire.body(body);
    wire.finish();
  });
  const options = { base_url: `${fake.url}/v1`, api_key: 'k', model: 'm', prices: { input: most, output: most } };
  const clients = [{ name: 'Mine', provider: 'openai-generic', options }];
  const attack = { name: 'Ada', svc_options: { client_registry: { primary: 'Mine', clients } } };
  expect(await call(here, 'attacker', attack)).toBe(200);
  fake.answer(reply('Hi'));
  // The store learns of the cost with the next question of this machine.
  await calls(8, here, 'attacker');
  expect(await calls(8, there, 'attacker')).toEqual(REFUSED);
  const victims = [here, there].flatMap((url) => Array.from({ length: 40 }, () => call(url, 'victim')));
  expect(new Set(await Promise.all(victims))).toEqual(SERVED);
});
