import { afterAll, beforeEach, expect, test } from 'vitest';
import type { AddressFinder } from '../../../src/runtime/model/http/address-guard.ts';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import { startFakeProvider } from '../../support/fake-provider.ts';

const fake = await startFakeProvider();
const ADDRESSES: Readonly<Record<string, string>> = {
  'public.example': '93.184.215.14',
  'inner.example': '10.0.0.7',
  'metadata.example': '169.254.169.254',
};
const resolved: string[] = [];
const find: AddressFinder = (name, _options, callback) => {
  resolved.push(name);
  const address = ADDRESSES[name];
  if (address !== undefined) callback(null, [{ address, family: 4 }]);
  else callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);
};
const pools = [new ConnectionPools({}, find), new ConnectionPools({ HTTP_PROXY: 'http://127.0.0.1:1' }, find)] as const;
const [direct, proxied] = pools;

beforeEach(() => {
  fake.clear();
  resolved.length = 0;
});

afterAll(async () => {
  await Promise.all(pools.map((each) => each.close()));
  await fake.close();
});

interface Requester {
  readonly provider?: Provider;
  readonly privateUrls?: boolean;
  readonly options?: Readonly<Record<string, string>>;
  readonly using?: ConnectionPools;
}

/** Sends an image by this URL to a client of the definition files; returns the message of the refusal, or what became of it. */
async function send(
  url: string,
  { provider = 'openai-generic', privateUrls = false, options = {}, using = direct }: Requester = {},
): Promise<string> {
  const given = { base_url: `${fake.url}/v1`, model: 'm', api_key: 'k', ...options };
  const definition = clientDefinition(provider, given);
  const client = makeClient(definition, { ...testServices(), pools: using });
  const part = { kind: 'media', media: 'image', source: { kind: 'url', url } } as const;
  const messages: readonly Message[] = [{ role: 'user', parts: [part] }];
  return new Promise((resolve) => {
    client.ask(
      {
        functionName: 'Fn',
        args: {},
        messages,
        streamed: false,
        deadlineAt: performance.now() + 60_000,
        privateUrls,
      },
      {
        text: () => undefined,
        ended: (result) => {
          const sent = JSON.stringify(fake.requests.map(({ json }) => json)).includes(JSON.stringify(url).slice(1, -1));
          const failure = result.ok ? undefined : result.failure.failure;
          resolve(failure?.code === 'invalid_argument' ? failure.message : sent ? 'sent' : 'not sent');
        },
      },
    );
  });
}

test.each([
  'file:///etc/passwd',
  'FILE:///etc/passwd',
  '/etc/passwd.png',
  '../secret.png',
  'ftp://public.example/a.png',
  'unix:/run/docker.sock',
  'gopher://127.0.0.1:6379/_INFO',
  ' http://127.0.0.1/',
  'http://public.example\\@127.0.0.1/',
  'http://public.example/ http://127.0.0.1/',
  'http:127.0.0.1',
  '',
])('no caller can send the URL %j', async (url) => {
  expect(await send(url)).toBe(
    'The arguments are not allowed: a media URL has to begin with http://, https:// or data:, and contain no space and no backslash',
  );
  expect(fake.requests).toEqual([]);
});

test.each([
  ['http://169.254.169.254/latest/meta-data/', '169.254.169.254 is a link-local or metadata address'],
  ['http://metadata.google.internal/x', '169.254.169.254 is a link-local or metadata address'],
  ['http://127.0.0.1:6379/', '127.0.0.1 is a private address'],
  ['HTTP://2130706433/', '127.0.0.1 is a private address'],
  ['https://user@localhost/', '127.0.0.1 is a private address'],
  ['http://[::ffff:10.0.0.1]/', '::ffff:a00:1 is a private address'],
  ['http://inner.example/a.png', 'inner.example: 10.0.0.7 is a private address'],
  ['http://metadata.example/', 'metadata.example: 169.254.169.254 is a link-local'],
  ['http://redis:6379/', 'getaddrinfo ENOTFOUND redis'],
])('a self-hosted provider does not receive %s', async (url, reason) => {
  expect(await send(url)).toContain(reason);
  expect(fake.requests).toEqual([]);
});

test.each([
  'https://public.example/a.png?x=1#y',
  'data:text/plain,hi',
  'gs://bucket/a.png',
  's3://bucket/a.png',
  'file-abc123',
  'files/abc-123',
])('%s still reaches it', async (url) => {
  expect(await send(url)).toBe(url.startsWith('data:') ? 'not sent' : 'sent');
  expect(fake.requests).toHaveLength(1);
});

test('with --allow-private-urls, only link-local addresses stay closed', async () => {
  for (const url of ['http://127.0.0.1:6379/', 'http://inner.example/', 'http://redis:6379/', 'file:///a.png']) {
    expect(await send(url, { privateUrls: true }), url).toBe('sent');
  }
  expect(await send('http:169.254.169.254', { privateUrls: true })).toContain('has to begin with http://');
  for (const url of ['http://169.254.169.254/', 'http://metadata.example/']) {
    expect(await send(url, { privateUrls: true }), url).toContain('is a link-local or metadata address');
  }
});

test("svc resolves no names for a server behind a proxy, and none for the provider's own service", async () => {
  const origin = 'http://model.example';
  expect(await direct.refusalOf('inner.example', 'public-only', origin)).toContain('10.0.0.7');
  expect(await proxied.refusalOf('inner.example', 'public-only', origin)).toBeUndefined();
  resolved.length = 0;
  await send('http://inner.example/a.png', { provider: 'openai', options: { base_url: 'https://api.openai.com/v1' } });
  expect(resolved).toEqual(['api.openai.com']);
});
