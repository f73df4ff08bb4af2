import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createModelClient } from '../../../src/runtime/model/create-model-client.ts';
import {
  hostRefusal,
  type AddressFinder,
  addressKind,
  type AddressKind,
} from '../../../src/runtime/model/http/address-guard.ts';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import type { ModelClient } from '../../../src/runtime/model/model-client.ts';
import { ask, clientDefinition, testServices, type Asked } from '../../support/ask-client.ts';
import { startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';

test.each<[AddressKind, readonly string[]]>([
  ['public', ['8.8.8.8', '172.15.0.1', '172.32.0.1', '100.63.0.1', '192.169.0.1', '2606:4700::1111', '::ffff:8.8.8.8']],
  ['public', ['64:ff9b::808:808', '2002:808:808::1', '::8.8.8.8']],
  ['private', ['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255']],
  ['private', ['192.168.0.1', '192.0.0.8', '198.18.0.1', '100.64.0.1', '224.0.0.1', '255.255.255.255', '::', '::1']],
  ['private', ['fc00::1', 'fd00::', 'fdff::1', 'fec0::1', 'ff02::1', '100::1', '64:ff9b:1::1', '2001::1']],
  ['private', ['::ffff:10.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:127.0.0.1', '::ffff:0:127.0.0.1', '::127.0.0.1']],
  ['private', ['64:ff9b::10.0.0.1', '2002:7f00:1::']],
  ['link-local', ['169.254.169.254', '169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fd00:ec2::254']],
  ['link-local', ['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::', '::a9fe:a9fe']],
  [
    'link-local',
    ['100.100.100.200', '192.0.0.192', '::ffff:100.100.100.200', '168.63.129.16', 'fd00:ec2::23', 'fd20:ce::254'],
  ],
])('%s: %j', (kind, addresses) => {
  for (const address of addresses) expect(addressKind(address), address).toBe(kind);
});

/** Spellings of 127.0.0.1 or of this machine in a URL. */
test.each([
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '0',
  '0x0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[0000:0000:0000:0000:0000:FFFF:7F00:0001]',
  '[::]',
  '１２７.0.0.1',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
])('http://%s/ is this machine', (host) => {
  expect(hostRefusal(new URL(`http://${host}/`).hostname, 'public-only')).toContain('private address');
  expect(hostRefusal(new URL(`http://${host}/`).hostname, 'not-link-local')).toBeUndefined();
});

/** Spellings of the address of metadata services. */
test.each([
  '169.254.169.254.',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '169.254.43518',
  '[::ffff:a9fe:a9fe]',
])('http://%s/ is a metadata service', (host) => {
  for (const guard of ['public-only', 'not-link-local'] as const) {
    expect(hostRefusal(new URL(`http://${host}/`).hostname, guard)).toContain('metadata');
  }
});

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});
beforeEach(() => fake.clear());
afterAll(() => fake.close());

/** Resolves every name to these addresses, and counts. */
class Names {
  readonly pools: ConnectionPools;
  asked = 0;

  constructor(...addresses: readonly string[]) {
    const find: AddressFinder = (_name, _options, callback) => {
      this.asked += 1;
      const found: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
      setTimeout(() => callback(null, found), 1);
    };
    this.pools = new ConnectionPools({ HTTP_PROXY: 'http://127.0.0.1:1' }, find);
  }
}

/** A client that a request defines, with a host name that is resolved when it connects. */
function clientOfRequest(pools: ConnectionPools, privateUrls: boolean): ModelClient {
  const definition = clientDefinition('openai-generic', {
    base_url: `http://name.example:${fake.port}/v1`,
    model: 'm',
  });
  const requester = { environment: { server: {} }, privateUrls };
  const made = createModelClient({ definition, from: 'request' }, requester, { ...testServices(), pools });
  if (!made.ok) throw new Error(JSON.stringify(made.failure));
  return made.value.client;
}

async function askAt(addresses: readonly string[], privateUrls: boolean): Promise<Asked['result']> {
  const { pools } = new Names(...addresses);
  const { result } = await ask(clientOfRequest(pools, privateUrls));
  await pools.close();
  return result;
}

test.each([
  ['127.0.0.1'],
  ['0.0.0.0'],
  ['::ffff:10.0.0.1'],
  ['fd00::1'],
  ['::1'],
  ['8.8.8.8', '10.0.0.1'],
  ['169.254.169.254'],
  ['2606:4700::1111', 'fe80::1'],
])('svc does not connect a remote caller to a name that resolves to %s', async (...addresses) => {
  const result = await askAt(addresses, false);
  expect(result).toMatchObject({ ok: false, failure: { retry: 'never', failure: { code: 'client_error' } } });
  expect(!result.ok && result.failure.failure.message).toMatch(
    /"Tested" must not be contacted: name\.example: .* address/u,
  );
  expect(fake.connections).toBe(0);
});

test.each([['169.254.169.254'], ['127.0.0.1', '::ffff:169.254.169.254'], ['fd00:ec2::254']])(
  'svc connects to no name that leads to %s, for any caller',
  async (...addresses) => {
    const result = await askAt(addresses, true);
    expect(!result.ok && result.failure.failure.message).toContain('metadata address');
  },
);

test('svc connects a local caller to a name of this machine, without the proxy, and resolves it once', async () => {
  const names = new Names('127.0.0.1');
  const { result } = await ask(clientOfRequest(names.pools, true));
  expect(result.ok).toBe(true);
  expect(names.asked).toBe(1);
  expect(fake.requests).toHaveLength(1);
  await names.pools.close();
});

test('svc checks a name again if it resolves to another address', async () => {
  const addresses = ['127.0.0.1'];
  const find: AddressFinder = (_name, _options, callback) =>
    callback(
      null,
      addresses.splice(0, 1, '169.254.169.254').map((address) => ({ address, family: 4 })),
    );
  const pools = new ConnectionPools({}, find);
  const client = clientOfRequest(pools, true);
  const [first, second] = await Promise.all([ask(client), ask(client)]);
  expect(first.result.ok).toBe(true);
  expect(!second.result.ok && second.result.failure.failure.message).toContain('metadata address');
  await pools.close();
});

test('the connect limit ends a name that never resolves; svc connects to one that resolves late', async () => {
  for (const { delayMs, outcome } of [
    { delayMs: 100_000, outcome: 'timeout' },
    { delayMs: 100, outcome: 'ok' },
  ]) {
    let timer: NodeJS.Timeout | undefined;
    const pools = new ConnectionPools({}, (_name, _options, callback) => {
      timer = setTimeout(() => callback(null, [{ address: '127.0.0.1', family: 4 }]), delayMs);
    });
    const base = `http://name.example:${fake.port}/v1`;
    const http = { connect_timeout_ms: delayMs > 1000 ? 150 : 0 };
    const definition = clientDefinition('openai-generic', { base_url: base, model: 'm', http });
    const made = createModelClient(
      { definition, from: 'files' },
      { environment: { server: {} }, privateUrls: false },
      { ...testServices(), pools },
    );
    const { result } = made.ok ? await ask(made.value.client) : { result: made };
    expect(result.ok ? 'ok' : JSON.stringify(result.failure)).toContain(outcome);
    clearTimeout(timer);
    await pools.close();
  }
});

test.each(['http://good.example@127.0.0.1/', 'http://127.0.0.1%2f@good.example/', 'http://a:b@good.example/'])(
  '%s: user names in a URL are refused',
  (url) => {
    const definition = clientDefinition('openai-generic', { base_url: url, model: 'm' });
    const requester = { environment: { server: {} }, privateUrls: true };
    expect(createModelClient({ definition, from: 'request' }, requester, testServices())).toMatchObject({
      ok: false,
      failure: { code: 'invalid_options', details: [{ path: 'options.base_url' }] },
    });
  },
);
