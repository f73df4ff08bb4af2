import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { useCluster } from './support/cluster.ts';
import { JSON_HEADERS, metricOf, storeBecomes, storeFailures } from './support/machines.ts';

const cluster = useCluster();

/** Sends a call with an idempotency key. */
function call(key: string, name: string, url = cluster().machines.url): Promise<Response> {
  const headers = { ...JSON_HEADERS, 'idempotency-key': key };
  return fetch(`${url}/call/Hi`, { method: 'POST', headers, body: JSON.stringify({ name }) });
}

/** The calls that both machines answer now. */
function inFlight(): Promise<number> {
  return metricOf(cluster().machines, 'svc_requests_in_flight{route="call"}');
}

test('of 100 concurrent calls with one key, one asks the model, on whichever machine they arrive', async () => {
  const { fake, machines } = cluster();
  fake.clear();
  const gate = new EventEmitter();
  const open = once(gate, 'open');
  // The model answers once all others wait.
  fake.answer(async (request, wire) => {
    await open;
    await reply('Hello Ada')(request, wire);
  });
  const calls = Array.from({ length: 100 }, () => call('one', 'Ada'));
  await waitUntil('the model to be asked', () => fake.requests.length > 0);
  await waitUntil('all calls to be in flight', async () => (await inFlight()) === 100);
  gate.emit('open');
  const answers = await Promise.all(calls);
  const texts = await Promise.all(answers.map((response) => response.text()));
  expect(answers.map(({ status }) => status)).toEqual(texts.map(() => 200));
  expect(new Set(texts)).toEqual(new Set(['"Hello Ada"']));
  const late = await storeFailures(machines, 'claim');
  console.log(`${fake.requests.length} calls of the model, ${late} late answers of the store`);
  expect(fake.requests.length).toBeLessThanOrEqual(1 + late);
  const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
  expect(replayed).toHaveLength(100 - fake.requests.length);
});

test('another machine replays an answer, and refuses another body', async () => {
  const { fake, machines, redis } = cluster();
  fake.clear();
  fake.answer(reply('Hello Grace'));
  const [one, two] = machines.servers;
  expect((await call('two', 'Grace', one?.url)).status).toBe(200);
  await waitUntil('the store to have the answer', () => redis.command('keys', 'svc:lock:*') === '');
  const replayed = await call('two', 'Grace', two?.url);
  expect(await replayed.text()).toBe('"Hello Grace"');
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  const other = await call('two', 'Alan', two?.url);
  expect(other.status).toBe(422);
  expect(await other.json()).toMatchObject({ error: 'idempotency_conflict' });
  expect(fake.requests).toHaveLength(1);
});

test('without the store, calls with keys are answered, and the machine that answered replays', async () => {
  const { fake, machines, redis } = cluster();
  await redis.kill();
  await storeBecomes(machines, 'down');
  fake.clear();
  const [one] = machines.servers;
  fake.answer(reply('Hello Alan'));
  expect((await call('three', 'Alan', one?.url)).status).toBe(200);
  const replayed = await call('three', 'Alan', one?.url);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  expect(fake.requests).toHaveLength(1);
  await redis.restart();
  await storeBecomes(machines, 'up');
});
