import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SwapRemoveSet } from '../../src/base/swap-remove-set.ts';
import { WrongKeys } from '../../src/server/http/wrong-keys.ts';
import { RawConnection } from './support/raw-connection.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';

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
