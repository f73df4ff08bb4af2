import { afterAll, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { startLoad, waitUntil } from '../support/load.ts';
import { startServer } from '../support/running-server.ts';
import { JSON_HEADERS, KEY, report, startMachines, storeBecomes, type Machines } from './support/machines.ts';
import { RedisServer } from './support/redis-server.ts';

const PASSWORD = 'canary-store-4711';

/** A round-robin client with two members, whose paths show which one answered. */
const DEFINITIONS = `
client<llm> One {
  provider openai
  options {
    base_url "URL/x/one/v1"
    api_key "sk-test"
    model "m"
  }
}
client<llm> Two {
  provider openai
  options {
    base_url "URL/x/two/v1"
    api_key "sk-test"
    model "m"
  }
}
client<llm> Both {
  provider round-robin
  options { strategy [One, Two] }
}
function Hi(name: string) -> string {
  client Both
  prompt #"Greet {{ name }}. {{ ctx.output_format }}"#
}
`;

let fake: FakeProvider;
let files: Readonly<Record<string, string>>;
let redis: RedisServer;
let machines: Machines;

beforeAll(async () => {
  fake = await startFakeProvider();
  fake.answer(reply('Hello'));
  redis = await RedisServer.start('--requirepass', PASSWORD);
  process.env['REDISCLI_AUTH'] = PASSWORD;
  files = { 'a.svc': DEFINITIONS.replaceAll('URL', fake.url) };
  const url = `redis://:${PASSWORD}@127.0.0.1:${redis.port}`;
  machines = await startMachines({ files, flags: ['--store', url] });
  await storeBecomes(machines, 'up');
});

afterAll(async () => {
  await machines.stop();
  await redis.kill();
  await fake.close();
  const output = machines.servers.map((server) => server.output()).join('');
  expect(output).not.toContain(PASSWORD);
});

function call(url = machines.url): Promise<Response> {
  return fetch(`${url}/call/Hi`, { method: 'POST', headers: JSON_HEADERS, body: '{"name": "Ada"}' });
}

function startCalls(): ReturnType<typeof startLoad> {
  return startLoad(`${machines.url}/call/Hi`, { name: 'Ada' }, 8, { authorization: `Bearer ${KEY}` });
}

test('both machines are known to each other, and ready', async () => {
  await waitUntil('both machines to see two', async () => {
    const all = await Promise.all(machines.servers.map((server) => report(server, '/_debug/status')));
    return all.every(({ store }) => typeof store === 'object' && store.machines === 2);
  });
  for (const server of machines.servers) expect(await report(server, '/readyz')).toEqual({ status: 'ok' });
});

test('turns of a round-robin client are counted over both machines', async () => {
  fake.clear();
  for (let each = 0; each < 200; each += 1) expect((await call()).status).toBe(200);
  const ofOne = fake.requests.filter(({ path }) => path.startsWith('/x/one/')).length;
  expect(Math.abs(ofOne - 100)).toBeLessThanOrEqual(10);
  // Every turn was taken from the store, whichever machine took it.
  expect(Number(redis.command('get', 'svc:turns:{Both}'))).toBeGreaterThanOrEqual(200);
});

test('the store is killed and restarted under load: no call fails, and svc uses it again within five seconds', async () => {
  const load = startCalls();
  await waitUntil('some calls', () => load.counts.served > 50);
  await redis.kill();
  await storeBecomes(machines, 'down');
  expect(await report(machines.servers[0] ?? never(), '/readyz')).toMatchObject({ status: 'degraded', store: 'down' });
  const served = load.counts.served;
  await waitUntil('calls without the store', () => load.counts.served > served + 50);
  await redis.restart();
  const back = performance.now();
  await storeBecomes(machines, 'up');
  console.log(`healed ${Math.round(performance.now() - back)} ms after the restart`);
  const { failed, refused, errors } = await load.stop();
  expect({ failed, refused, errors }).toEqual({ failed: 0, refused: 0, errors: [] });
  for (const server of machines.servers) expect(await report(server, '/readyz')).toEqual({ status: 'ok' });
});

test('a store that stops answering costs no call, and svc uses it again when it answers', async () => {
  const load = startCalls();
  await waitUntil('some calls', () => load.counts.served > 50);
  redis.pause();
  await storeBecomes(machines, 'slow', 'down');
  const served = load.counts.served;
  await waitUntil('calls without the store', () => load.counts.served > served + 50);
  redis.resume();
  await storeBecomes(machines, 'up');
  const { failed, refused, errors } = await load.stop();
  expect({ failed, refused, errors }).toEqual({ failed: 0, refused: 0, errors: [] });
});

test('a store without memory costs no call', async () => {
  const load = startCalls();
  redis.command('config', 'set', 'maxmemory', '1');
  await storeBecomes(machines, 'full');
  expect(await report(machines.servers[0] ?? never(), '/readyz')).toMatchObject({
    status: 'degraded',
    store: 'full',
    reason: 'OOM',
  });
  const served = load.counts.served;
  await waitUntil('calls without the store', () => load.counts.served > served + 50);
  redis.command('config', 'set', 'maxmemory', '0');
  await storeBecomes(machines, 'up');
  const { failed, refused, errors } = await load.stop();
  expect({ failed, refused, errors }).toEqual({ failed: 0, refused: 0, errors: [] });
});

test('metrics count the operations, their time and the state of the store', async () => {
  const text = await (await fetch(`${machines.servers[0]?.url}/metrics`, { headers: JSON_HEADERS })).text();
  expect(text).toMatch(/^svc_store_operations_total\{operation="turns"\} [1-9]/mu);
  expect(text).toMatch(/^svc_store_failures_total\{operation="turns",reason="unavailable"\} [1-9]/mu);
  expect(text).toMatch(/^svc_store_seconds_count\{operation="beat"\} [1-9]/mu);
  expect(text).toMatch(/^svc_store_state\{state="up"\} 1$/mu);
  expect(text).toMatch(/^svc_store_machines 2$/mu);
});

test('a machine that stops leaves the others at once', async () => {
  const third = await startServer({
    files,
    env: { SVC_PASSWORD: KEY, SVC_STORE: `redis://:${PASSWORD}@127.0.0.1:${redis.port}` },
  });
  const count = () => Number(redis.command('zcard', 'svc:machines:{all}'));
  await waitUntil('three machines', () => count() === 3);
  expect(await third.stop()).toBe(0);
  expect(count()).toBe(2);
});

test('a server starts without its store, and with a wrong password', async () => {
  await redis.kill();
  const alone = await startServer({
    files,
    flags: ['--store', redis.url],
  });
  expect((await call(alone.url)).status).toBe(200);
  expect(await alone.stop()).toBe(0);
  await redis.restart();
  const wrong = await startServer({
    files,
    flags: ['--store', `redis://:wrong-${PASSWORD}@127.0.0.1:${redis.port}`],
  });
  await waitUntil('the reason in the log', () => wrong.output().includes('WRONGPASS'));
  expect((await call(wrong.url)).status).toBe(200);
  expect(await wrong.stop()).toBe(0);
  expect(wrong.output()).not.toContain(PASSWORD);
});

function never(): never {
  throw new Error('there are two servers');
}
