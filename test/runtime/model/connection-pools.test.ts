import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import { chatCompletion, reply, startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';
import { sleep } from '../../support/fake-wire.ts';
import { head } from '../../support/http1-connection.ts';
import { waitUntil } from '../../support/load.ts';

let fake: FakeProvider;
const pools = new ConnectionPools();

beforeAll(async () => {
  fake = await startFakeProvider();
});
afterAll(() => fake.close());

test('a pool that is replaced completes its calls and closes its connections', async () => {
  fake.answer(reply('fine', { latencyMs: 300 }));
  const definition = clientDefinition('openai-generic', { base_url: `${fake.url}/v1`, model: 'm' });
  const client = makeClient(definition, { ...testServices(), pools });
  const call = ask(client);
  await waitUntil('1 length', () => fake.requests.length === 1);
  const first = pools.to({ origin: fake.url, guard: 'none' });
  for (let at = 0; at < 300; at += 1) pools.to({ origin: `http://other-${at}.example`, guard: 'none' });
  expect(pools.to({ origin: fake.url, guard: 'none' })).not.toBe(first);
  expect((await call).result.ok).toBe(true);
  await waitUntil('0 openSockets', () => fake.openSockets === 0);
  expect(fake.openSockets).toBe(0);
  expect((await ask(client)).result.ok).toBe(true);
});

test('a pool in use is not replaced', () => {
  const used = pools.to({ origin: 'http://used.example', guard: 'none' });
  for (let at = 0; at < 600; at += 1) {
    pools.to({ origin: `http://more-${at}.example`, guard: 'none' });
    expect(pools.to({ origin: 'http://used.example', guard: 'none' })).toBe(used);
  }
});

test('one origin has a pool for each guard', () => {
  const origin = 'http://one.example';
  const guards = ['none', 'public-only', 'not-link-local'] as const;
  expect(new Set(guards.map((guard) => pools.to({ origin, guard }))).size).toBe(3);
});

test.each(['destroy', 'resetAndDestroy'] as const)(
  'kept connections that all end at once, as a call begins, do not fail it (%s)',
  async (end) => {
    const sockets: Socket[] = [];
    let requests = 0;
    const text = JSON.stringify(chatCompletion('fine'));
    const server = createServer((socket) => {
      sockets.push(socket);
      socket
        .on('error', () => {})
        .on('data', () => {
          requests += 1;
          setTimeout(() => socket.write(head(200, { 'content-length': String(text.length) }) + text), 30);
        });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const definition = clientDefinition('openai-generic', { base_url: url, model: 'm' });
    const client = makeClient(definition, { ...testServices(), pools });
    await Promise.all(Array.from({ length: 12 }, () => ask(client)));
    await sleep(20);
    expect(sockets).toHaveLength(12);
    for (const socket of sockets) socket[end]();
    expect((await ask(client)).result.ok).toBe(true);
    expect(requests).toBe(13);
    server.close();
  },
);

test('after close(), every call fails at once', async () => {
  await pools.close();
  const definition = clientDefinition('openai-generic', { base_url: `${fake.url}/v1`, model: 'm' });
  const { result } = await ask(makeClient(definition, { ...testServices(), pools }));
  expect(result.ok).toBe(false);
  await waitUntil('0 openSockets', () => fake.openSockets === 0);
  expect(fake.openSockets).toBe(0);
});
