import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { proxyFor } from '../../../src/runtime/model/http/connector.ts';
import { ask, clientDefinition, makeClient, testServices, type Asked } from '../../support/ask-client.ts';
import { startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';
import { waitUntil } from '../../support/load.ts';

const ENV = {
  HTTPS_PROXY: 'http://proxy:8080',
  http_proxy: 'plain:3128',
  NO_PROXY: 'internal.example, .corp:8443 , 10.1.2.3,192.168.0.0/16 fd12::/16, [fd99::1]:444,fe99::1,10.9.0.0/99,no/8',
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
  ['http://1.10.1.2.3.example', 'http://plain:3128'],
  ['http://192.168.255.1:9', undefined],
  ['http://192.169.0.1', 'http://plain:3128'],
  ['http://10.9.0.1', 'http://plain:3128'],
  ['https://[fd12:1::1]', undefined],
  ['https://[fd13::1]', 'http://proxy:8080'],
  ['https://[fd99::1]:444', undefined],
  ['https://[fd99::1]', 'http://proxy:8080'],
  ['https://[fe99::1]:1', undefined],
  ['http://127.0.0.1:11434', undefined],
  ['http://localhost:11434', undefined],
  ['http://[::1]:1', undefined],
])('requests to %s use the proxy %s', (origin, proxy) => {
  expect(proxyFor(origin, ENV)).toBe(proxy);
});

test('no variable, an empty one, and NO_PROXY=* mean a direct connection', () => {
  expect(proxyFor('https://a.example', {})).toBeUndefined();
  expect(proxyFor('https://a.example', { HTTPS_PROXY: '' })).toBeUndefined();
  expect(proxyFor('https://a.example', { HTTPS_PROXY: 'p:1', NO_PROXY: '*' })).toBeUndefined();
  expect(proxyFor('https://a.example', { ALL_PROXY: 'p:1' })).toBe('http://p:1');
  expect(proxyFor('https://a.example', { ALL_PROXY: 'socks5://p:1' })).toBeUndefined();
});

let fake: FakeProvider;
let proxy: Server;
/** The heads of the requests that the proxy received. */
const tunnels: string[] = [];
const inProxy = new Set<Socket>();
/** The answer of the proxy; undefined: a tunnel to the fake provider, for every host. */
let refusal: string | undefined;

beforeAll(async () => {
  fake = await startFakeProvider();
  proxy = createServer((socket) => {
    inProxy.add(socket);
    socket.on('close', () => inProxy.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.once('data', (data) => {
      tunnels.push(data.toString());
      if (refusal === undefined) tunnel(socket);
      else socket.write(refusal);
    });
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
});
beforeEach(() => {
  fake.clear();
  tunnels.length = 0;
  refusal = undefined;
});
afterAll(async () => {
  proxy.close();
  await fake.close();
});

function tunnel(socket: Socket): void {
  const upstream = connect(fake.port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    upstream.pipe(socket);
    socket.pipe(upstream);
  });
  upstream.on('error', () => socket.destroy());
  socket.on('close', () => upstream.destroy());
}

/** Calls a client of the files through the proxy, and closes all connections. */
async function askByProxy(credentials = '', http = {}): Promise<Asked['result']> {
  const pools = new ConnectionPools({
    HTTP_PROXY: `http://${credentials}127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  });
  const definition = clientDefinition('openai-generic', {
    base_url: 'http://model.example/v1',
    model: 'm',
    api_key: 'k1',
    http,
  });
  const { result } = await ask(makeClient(definition, { ...testServices(), pools }));
  await pools.close();
  return result;
}

test('svc calls a client of the files through the proxy', async () => {
  const result = await askByProxy();
  expect(result.ok && result.value.text).toBe('ok');
  expect(tunnels).toHaveLength(1);
  expect(tunnels[0]).toMatch(/^CONNECT model\.example:80 HTTP\/1\.1\r\n/u);
  expect(tunnels[0]).not.toContain('k1');
  expect(fake.requests[0]?.path).toBe('/v1/chat/completions');
});

test("svc sends the proxy's credentials only to the proxy", async () => {
  expect((await askByProxy('me:p%40ss@')).ok).toBe(true);
  expect(tunnels[0]).toContain(`proxy-authorization: Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  expect(fake.requests[0]?.headers['proxy-authorization']).toBeUndefined();
});

test('a proxy that refuses is a failure of the client, without the credentials of the proxy', async () => {
  refusal = 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n';
  const result = await askByProxy('me:p4ssw0rd@');
  expect(result).toMatchObject({ ok: false, failure: { retry: 'always', failure: { code: 'client_error' } } });
  expect(JSON.stringify(result)).toContain('407');
  expect(JSON.stringify(result)).not.toMatch(/p4ssw0rd|bWU6/u);
});

test('the connect limit ends a request to a proxy that never answers, and close ends all connections', async () => {
  refusal = '';
  const result = await askByProxy('', { connect_timeout_ms: 100 });
  expect(result).toMatchObject({ ok: false, failure: { failure: { code: 'timeout', timer: 'connect' } } });
  await waitUntil('0 size', () => inProxy.size === 0);
  expect(inProxy.size).toBe(0);
});
