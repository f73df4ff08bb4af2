import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/clients/http/connection-pools.ts';
import { proxyFor } from '../../../src/runtime/clients/http/proxy-settings.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import { startFakeProvider } from '../../support/fake-provider.ts';
import type { FakeProvider } from '../../support/fake-provider.ts';

const ENV = {
  HTTPS_PROXY: 'http://proxy:8080',
  http_proxy: 'plain:3128',
  NO_PROXY: 'internal.example, .corp:8443 , 10.1.2.3',
};

test.each<[string, string | undefined]>([
  ['https://api.openai.com', 'http://proxy:8080'],
  ['http://api.openai.com', 'http://plain:3128'],
  ['https://internal.example', undefined],
  ['https://a.internal.example', undefined],
  ['https://notinternal.example', 'http://proxy:8080'],
  ['https://a.corp:8443', undefined],
  ['https://a.corp', 'http://proxy:8080'],
  ['http://10.1.2.3', undefined],
  ['http://127.0.0.1:11434', undefined],
  ['http://localhost:11434', undefined],
  ['http://[::1]:1', undefined],
])('%s goes by %s', (origin, proxy) => {
  expect(proxyFor(origin, ENV)).toBe(proxy);
});

test('no variable, an empty one, and NO_PROXY=* mean a direct connection', () => {
  expect(proxyFor('https://a.example', {})).toBeUndefined();
  expect(proxyFor('https://a.example', { HTTPS_PROXY: '' })).toBeUndefined();
  expect(proxyFor('https://a.example', { HTTPS_PROXY: 'p:1', NO_PROXY: '*' })).toBeUndefined();
  expect(proxyFor('https://a.example', { ALL_PROXY: 'p:1' })).toBe('http://p:1');
});

let fake: FakeProvider;
let proxy: Server;
const tunnels: string[] = [];

beforeAll(async () => {
  fake = await startFakeProvider();
  // Whatever host is asked for, the tunnel leads to the fake provider.
  proxy = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (data) => {
      tunnels.push(data.toString().split('\r\n')[0] ?? '');
      const upstream = connect(fake.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket);
        socket.pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(async () => {
  proxy.close();
  await fake.close();
});

test('a client of the files is asked through the proxy', async () => {
  const env = { HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  const pools = new ConnectionPools(env);
  const definition = clientDefinition('openai-generic', { base_url: 'http://model.example/v1', model: 'm' });
  const { result } = await ask(makeClient(definition, { ...testServices(), pools }));
  expect(result.ok && result.value.text).toBe('ok');
  expect(tunnels).toEqual(['CONNECT model.example:80 HTTP/1.1']);
  expect(fake.requests[0]?.path).toBe('/v1/chat/completions');
  await pools.close();
});
