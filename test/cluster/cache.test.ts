import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { useCluster } from './support/cluster.ts';
import { JSON_HEADERS, storeBecomes, storeFailures } from './support/machines.ts';

const cluster = useCluster({ client: 'cache { ttl "10m" }', flags: ['--cache'] });

function call(name: string, url = cluster().machines.url): Promise<Response> {
  return fetch(`${url}/call/Hi`, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify({ name }) });
}

test('of equal calls at the same time, one asks the model, and the other machine gets its value', async () => {
  const { fake, machines } = cluster();
  const gate = new EventEmitter();
  const open = once(gate, 'open');
  fake.answer(async (request, wire) => {
    await open;
    await reply('Hello Ada')(request, wire);
  });
  const calls = Array.from({ length: 20 }, () => call('Ada'));
  await waitUntil('the model to be asked', () => fake.requests.length > 0);
  gate.emit('open');
  const answers = await Promise.all(calls);
  const texts = await Promise.all(answers.map((response) => response.text()));
  expect(new Set(texts)).toEqual(new Set(['"Hello Ada"']));
  const late = await storeFailures(machines, 'claim');
  console.log(`${fake.requests.length} calls of the model, ${late} late answers of the store`);
  expect(fake.requests.length).toBeLessThanOrEqual(1 + late);
  const outcomes = answers.map(({ headers }) => headers.get('x-svc-cache'));
  expect(outcomes.filter((outcome) => outcome === 'miss')).toHaveLength(fake.requests.length);
  expect(outcomes.filter((outcome) => outcome === 'hit')).toHaveLength(20 - fake.requests.length);
  for (const { url } of machines.servers) expect((await call('Ada', url)).headers.get('x-svc-cache')).toBe('hit');
});

test('without the store, each machine has a cache of its own', async () => {
  const { fake, machines, redis } = cluster();
  fake.clear();
  fake.answer(reply('Hello Grace'));
  await redis.kill();
  await storeBecomes(machines, 'down');
  const urls = machines.servers.flatMap(({ url }) => [url, url]);
  const outcomes = [];
  for (const url of urls) outcomes.push((await call('Grace', url)).headers.get('x-svc-cache'));
  expect(outcomes).toEqual(['miss', 'hit', 'miss', 'hit']);
  expect(fake.requests).toHaveLength(2);
});
