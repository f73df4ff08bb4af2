import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { storeAddress } from '../../src/config/store-address.ts';

const PLAIN = { tls: false, cluster: false, database: 0, prefix: 'svc' };

test.each([
  ['redis://cache', { ...PLAIN, hosts: [{ host: 'cache', port: 6379 }] }],
  ['valkey://10.0.0.1:7000/3', { ...PLAIN, hosts: [{ host: '10.0.0.1', port: 7000 }], database: 3 }],
  [
    'rediss://ann:p%40ss@[::1]:6380/0?prefix=team:a',
    { ...PLAIN, hosts: [{ host: '::1', port: 6380 }], tls: true, username: 'ann', password: 'p@ss', prefix: 'team:a' },
  ],
  ['valkeys://:secret@cache', { ...PLAIN, hosts: [{ host: 'cache', port: 6379 }], tls: true, password: 'secret' }],
  [
    'redis://a,b:26380/1?sentinel=main&sentinel_password=other',
    {
      ...PLAIN,
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 26_380 },
      ],
      sentinel: 'main',
      sentinelPassword: 'other',
      database: 1,
    },
  ],
  [
    'redis://a:7000,b:7001?cluster=true',
    {
      ...PLAIN,
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 7001 },
      ],
      cluster: true,
    },
  ],
])('%s', (url, address) => {
  expect(storeAddress(url)).toEqual({ ok: true, value: address });
});

test.each([
  '',
  'cache:6379',
  'http://cache',
  'redis://',
  'redis://cache:0',
  'redis://cache:65536',
  'redis://a,b',
  'redis://a/x',
  'redis://a/1?cluster=true',
  'redis://a?cluster=maybe',
  'redis://a?cluster=true&sentinel=main',
  'redis://a?sentinel=',
  'redis://a?prefix={x}',
  'redis://a?db=1',
  'redis://u:%zz@a',
  'redis://u:p@ss@a',
])('"%s" is refused', (url) => {
  const parsed = storeAddress(url);
  expect(!parsed.ok && parsed.failure.startsWith('a URL such as redis://host:6379')).toBe(true);
});

function load(url: string): ReturnType<typeof loadConfig> {
  return loadConfig({ dotenv: false }, { variables: { SVC_STORE: url }, limits: { cores: 2 } });
}

test('the password of the URL is a secret, and a wrong URL is never quoted', () => {
  const loaded = load('redis://ann:p%40ss%20word@cache');
  expect(loaded.ok && loaded.value.config.secrets).toContain('p@ss word');
  const refused = load('redis://ann:canary-4711@cache:x');
  expect(!refused.ok && refused.failure.message).toMatch(/^SVC_STORE must be a URL such as/u);
  expect(JSON.stringify(refused)).not.toContain('canary');
});
