import { expect, it } from 'vitest';
import { startWarnings } from '../../src/server/primary.ts';

const OPEN = { host: '0.0.0.0', clientRegistry: 'open', allowPrivateUrls: false } as const;

it('without a password on a public address, the warnings state what anyone can do and what to set', () => {
  const [calls, clients, ...more] = startWarnings(OPEN);
  expect(calls).toBe(
    'SVC_PASSWORD is not set and svc listens on 0.0.0.0: anyone who can reach this server can call every function, paid for ' +
      'with the provider keys of this server. Set SVC_PASSWORD, or pass --host 127.0.0.1 to serve this machine only.',
  );
  expect(clients).toBe(
    'SVC_PASSWORD is not set and --client-registry is open: anyone who can reach this server can make svc send requests to ' +
      'any public address, through clients that a request defines. Set SVC_PASSWORD, or pass --client-registry known or off.',
  );
  expect(more).toEqual([]);
});

it.each(['127.0.0.1', 'localhost', '::1', '127.1.2.3'])('on %s, only the programs of this machine can call', (host) => {
  const [clients, ...more] = startWarnings({ ...OPEN, host });
  expect(clients).toContain('every program and every user of this machine can make svc send requests');
  expect(more).toEqual([]);
  expect(startWarnings({ ...OPEN, host, clientRegistry: 'known' })).toEqual([]);
});

it.each(['0.0.0.0', '::', '192.0.2.1', 'svc.example'])('%s is public', (host) => {
  expect(startWarnings({ ...OPEN, host, clientRegistry: 'off' })).toHaveLength(1);
});

it('with --allow-private-urls, requests reach private addresses too', () => {
  expect(startWarnings({ ...OPEN, allowPrivateUrls: true })[1]).toContain('to any public or private address');
});

it('with a password, there are no warnings', () => {
  expect(startWarnings({ ...OPEN, apiKey: 'k'.repeat(16) })).toEqual([]);
});
