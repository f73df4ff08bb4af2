import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import type { KeyEntry } from '../../src/config/key-file.ts';
import { Authenticator, Caller, type ServerKeys, WrongKeys } from '../../src/server/http/auth.ts';
import { SwapRemoveSet } from '../../src/base/swap-remove-set.ts';
import { RawConnection } from './support/raw-connection.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';

function entry(name: string, key: string, more: Partial<KeyEntry> = {}): KeyEntry {
  return { name, sha256: hash('sha256', key), ...more };
}

function authenticator(keys: ServerKeys, now = 1_000) {
  return new Authenticator(keys, { now: () => now });
}

/** The name of the caller, or the reason for the refusal. */
function identify(server: Authenticator, key: string | undefined, header = 'x-svc-api-key'): string | undefined {
  const found = server.identify({ header: (name) => (name === header ? key : undefined) });
  return found instanceof Caller ? `caller ${found.name}` : found;
}

const A = entry('a', 'key of a');
const B = entry('b', 'kéy of b', { functions: ['Chat*', 'Extract'] });

test('each key has its caller, in each of the three headers', () => {
  const server = authenticator({ file: { keys: [A, B] } });
  expect(identify(server, 'key of a')).toBe('caller a');
  expect(identify(server, 'key of a', 'x-baml-api-key')).toBe('caller a');
  expect(identify(server, 'Bearer key of a', 'authorization')).toBe('caller a');
  expect(identify(server, 'key of b')).toBe('wrong');
  expect(identify(server, undefined)).toBe('missing');
});

test('a key that is not ASCII is found in both encodings of headers', () => {
  const server = authenticator({ file: { keys: [A, B] } });
  expect(identify(server, 'kéy of b')).toBe('caller b');
  expect(identify(server, Buffer.from('kéy of b').toString('latin1'))).toBe('caller b');
});

test('the password is the key with the name "default", beside those of a file', () => {
  expect(identify(authenticator({ password: 'open sesame' }), 'open sesame')).toBe('caller default');
  const both = authenticator({ password: 'open sesame', file: { keys: [A] } });
  expect([identify(both, 'open sesame'), identify(both, 'key of a')]).toEqual(['caller default', 'caller a']);
});

test('a server without keys asks for none, and one with an empty list accepts none', () => {
  expect(identify(authenticator({}), undefined)).toBeUndefined();
  expect(identify(authenticator({ file: { defaultLimits: {} } }), 'any')).toBeUndefined();
  const empty = authenticator({ file: { keys: [] } });
  expect([empty.required, identify(empty, 'any'), identify(empty, undefined)]).toEqual([true, 'wrong', 'missing']);
});

test('a disabled key and an expired key are refused with their reason', () => {
  const keys = [
    entry('a', 'a', { disabled: true }),
    entry('b', 'b', { expiresAt: 1_000 }),
    entry('c', 'c', { expiresAt: 1_001 }),
  ];
  const server = authenticator({ file: { keys } });
  expect(['a', 'b', 'c'].map((key) => identify(server, key))).toEqual(['disabled', 'expired', 'caller c']);
});

test('the keys of a new file replace the old ones, and the password stays', () => {
  const server = authenticator({ password: 'open sesame', file: { keys: [A] } });
  server.replace({ keys: [B] });
  expect(['open sesame', 'key of a', 'kéy of b'].map((key) => identify(server, key))).toEqual([
    'caller default',
    'wrong',
    'caller b',
  ]);
});

test('the text of a key becomes known when it is first used, so that logs can mask it', () => {
  const known: string[] = [];
  const server = new Authenticator({ file: { keys: [A, B] } }, { onKey: (key) => known.push(key) });
  for (const key of ['key of a', 'wrong', 'key of a', 'kéy of b']) identify(server, key);
  expect(known).toEqual(['key of a', 'kéy of b']);
});

test('the patterns of a key decide which functions it can call', () => {
  const caller = new Caller(B);
  const names = ['Chat', 'ChatMore', 'Extract', 'ExtractMore', 'MyChat', 'chat'];
  expect(names.filter((name) => caller.mayCall(name))).toEqual(['Chat', 'ChatMore', 'Extract']);
  expect([caller.callsAll, new Caller(A).callsAll, new Caller(A).mayCall('Any')]).toEqual([false, true, true]);
});

test('a key without limits has the default ones, and an empty map means none', () => {
  const limits = { inFlight: 3 };
  expect(new Caller(A, limits).limits).toBe(limits);
  expect(new Caller(entry('x', 'x', { limits: {} }), limits).limits).toEqual({});
});

it('answers three wrong keys at once, and each further one after twice the time, up to 5 s', () => {
  const keys = new WrongKeys(new SwapRemoveSet());
  const delays = Array.from({ length: 11 }, (_, index) => keys.count('10.0.0.1', index));
  expect(delays).toEqual([0, 0, 0, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  expect(keys.count('10.0.0.2', 11)).toBe(0);
});

it('starts again after a minute without a wrong key', () => {
  const keys = new WrongKeys(new SwapRemoveSet());
  for (let count = 0; count < 5; count += 1) keys.count('10.0.0.1', 0);
  expect(keys.count('10.0.0.1', 59_999)).toBe(400);
  expect(keys.count('10.0.0.1', 119_999)).toBe(0);
});

it('remembers ten thousand addresses, and forgets the one with the oldest wrong key first', () => {
  const keys = new WrongKeys(new SwapRemoveSet());
  for (let count = 0; count < 5; count += 1) keys.count('guesser', 0);
  for (let index = 0; index < 9_998; index += 1) keys.count(`address ${index}`, 1);
  expect(keys.count('guesser', 2)).toBe(400);
  for (let index = 0; index < 50_000; index += 1) keys.count(`further ${index}`, 3);
  expect(keys.addresses).toBe(10_000);
  expect(keys.count('guesser', 4)).toBe(0);
});

const CONFIG = { apiKey: 'open sesame' };

const RIGHT = 'x-svc-api-key: open sesame';

const WRONG = 'x-svc-api-key: guess';

/** Longer than any test takes: a drain ends the wait. */
const HOUR_MS = 3_600_000;

describe.each(TRANSPORTS)('the %s transport', (name) => {
  let server: TestServer;
  const connections: RawConnection[] = [];

  beforeEach(async () => {
    server = await startServer(name, CONFIG);
    vi.spyOn(server.services.wrongKeys, 'count').mockImplementation((network) =>
      network === '127.0.0.1' ? HOUR_MS : 0,
    );
  });

  afterEach(() => {
    for (const connection of connections.splice(0)) connection.end();
    server.close();
  });

  function ask(path: string, header: string, from?: string): RawConnection {
    const connection = new RawConnection(server.port, from);
    connections.push(connection);
    const method = path.startsWith('/call') ? 'POST' : 'GET';
    const length = method === 'POST' ? 'content-length: 0\r\n' : '';
    connection.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\n${length}${header}\r\n\r\n`);
    return connection;
  }

  /** Sends wrong keys until so many answers wait. */
  async function guess(times = 1): Promise<readonly RawConnection[]> {
    const guesses = Array.from({ length: times }, () => ask('/openapi.json', WRONG));
    await guesses[0]?.until(() => server.services.wrongKeys.waiting === times);
    return guesses;
  }

  it('answers a right key while wrong ones of the same address wait', async () => {
    await guess();
    expect((await ask('/openapi.json', RIGHT).answer()).status).toBe(200);
    expect(server.services.wrongKeys.waiting).toBe(1);
  });

  it('answers another address, and requests without a key, at once', async () => {
    await guess();
    expect((await ask('/openapi.json', WRONG, '127.0.0.2').answer()).status).toBe(403);
    expect((await ask('/openapi.json', 'accept: */*').answer()).status).toBe(403);
    expect(server.services.wrongKeys.waiting).toBe(1);
  });

  it.each(['/openapi.json', '/metrics', '/_debug/status', '/nothing', '/call/Greet'])(
    'delays the answer that reveals whether a key is right at %s',
    async (path) => {
      const connection = ask(path, 'authorization: Bearer guess');
      await connection.until(() => server.services.wrongKeys.waiting === 1);
      expect(connection.text).toBe('');
      for (const request of server.services.active.list()) request.drain();
      expect((await connection.answer()).status).toBe(path === '/nothing' ? 404 : 403);
      expect(server.services.wrongKeys.waiting).toBe(0);
    },
  );

  it('forgets a waiting answer whose caller left', async () => {
    const [first] = await guess(3);
    for (const connection of connections) connection.end();
    await first?.until(() => server.services.wrongKeys.waiting === 0);
    expect(server.services.active.size).toBe(0);
  });

  it('lets 64 answers of one address wait, and cuts further connections', async () => {
    await guess(64);
    const further = ask('/openapi.json', WRONG);
    await further.until(() => further.closed);
    expect([further.text, server.services.wrongKeys.waiting]).toEqual(['', 64]);
    expect((await ask('/openapi.json', RIGHT).answer()).status).toBe(200);
  });
});
