import { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { DEFAULT_LIMITS } from '../../../src/runtime/model/http/exchange-clock.ts';
import { HttpExchange } from '../../../src/runtime/model/http/http-exchange.ts';
import { SocketWatch } from '../../../src/runtime/model/http/socket-watch.ts';
import type { Upstream } from '../../../src/runtime/model/http/upstream.ts';
import { head, sleep, startFakeProvider, status } from '../../support/fake-provider.ts';
import type { Behaviour, FakeProvider } from '../../support/fake-provider.ts';
import { waitUntil } from '../../support/load.ts';

let fake: FakeProvider;
const pools = new ConnectionPools();

beforeAll(async () => {
  fake = await startFakeProvider();
});
beforeEach(() => fake.clear());
afterAll(async () => {
  await pools.close();
  await fake.close();
});

interface Ended {
  readonly outcome: string;
  readonly text: string;
}

/** Asks, pauses at the first piece of the reply for this long, and reads on. */
function askWithPause(to: Upstream, pauseMs: number): Promise<Ended> {
  let text = '';
  return new Promise((resolve) => {
    const call = { path: '/', headers: [], body: '{}' };
    const deadlineAt = performance.now() + 120_000;
    const exchange = new HttpExchange(
      { upstream: to, call, limits: DEFAULT_LIMITS, deadlineAt, streamed: false },
      {
        accepted: () => {},
        data: (piece) => {
          if (text === '') {
            exchange.pause();
            setTimeout(() => exchange.resume(), pauseMs);
          }
          text += piece.toString();
        },
        ended: () => resolve({ outcome: 'ended', text }),
        failed: (fault) => resolve({ outcome: fault.kind, text }),
      },
    );
    exchange.start();
  });
}

function upstream(): Upstream {
  return pools.to({ origin: fake.url, guard: 'none' });
}

test('undici keeps its parser where it is looked for, so that responses may be paused', async () => {
  fake.answer(status(200, 'hello'));
  expect((await askWithPause(upstream(), 1)).text).toBe('hello');
  // When this fails after an update of undici: look for what SocketWatch uses there, or for a mend of its own.
  expect(upstream().mayPause).toBe(true);
});

/** All of the reply, and a moment later, when nothing is left to be read, the end of its connection. */
function reply(headers: Readonly<Record<string, string>>, lastly: 'end' | 'reset'): Behaviour {
  return async (_request, wire) => {
    wire.write(`${head(200, headers)}one two`);
    await sleep(20);
    wire[lastly]();
  };
}

test('a paused reply that the end of its connection ends is whole', async () => {
  for (const headers of [{ connection: 'close' }, { connection: 'close', 'content-length': '7' }]) {
    fake.answer(reply(headers, 'end'));
    for (const pauseMs of [1, 100]) {
      expect(await askWithPause(upstream(), pauseMs)).toEqual({ outcome: 'ended', text: 'one two' });
    }
  }
});

test('a paused reply whose connection is cut is a fault', async () => {
  for (const headers of [{ connection: 'close' }, { 'content-length': '99' }]) {
    fake.answer(reply(headers, 'reset'));
    expect(await askWithPause(upstream(), 100)).toEqual({ outcome: 'cut', text: 'one two' });
  }
});

test('where the parser is not found, responses are not paused, and nothing breaks', () => {
  const watch = new SocketWatch();
  const socket = new Socket();
  watch.connector((_options, callback) => callback(null, socket))(
    { hostname: 'a', protocol: 'http:', port: '80' },
    () => {},
  );
  socket.on('error', () => {});
  for (const event of ['readable', 'end', 'close']) expect(() => socket.emit(event)).not.toThrow();
  expect(() => socket.emit('error', new Error('reset'))).not.toThrow();
  expect(watch.mayPause).toBe(false);
  socket.destroy();
});

test('a reply is read to its end where it may not be paused', async () => {
  fake.answer(reply({ connection: 'close' }, 'end'));
  const real = upstream();
  const unpausable = {
    dispatch: real.dispatch.bind(real),
    connected: () => real.connected(),
    gaveUp: () => real.gaveUp(),
    responseEnded: () => real.responseEnded(),
    mayPause: false,
    replies: real.replies,
  };
  expect(await askWithPause(unpausable as unknown as Upstream, 60_000)).toEqual({ outcome: 'ended', text: 'one two' });
});

test('a connection that nobody waits for any more is given up, one that somebody waits for is not', async () => {
  const own = new ConnectionPools();
  const silent = await startFakeProvider();
  const stuck = own.to({ origin: silent.url.replace('http:', 'https:'), guard: 'none' });
  const [first, second] = [0, 1].map(() => {
    const call = { path: '/', headers: [], body: '' };
    const limits = { ...DEFAULT_LIMITS, connectMs: 0 };
    const exchange = new HttpExchange(
      { upstream: stuck, call, limits, deadlineAt: Infinity, streamed: false },
      { accepted: () => {}, data: () => {}, ended: () => {}, failed: () => {} },
    );
    exchange.start();
    return exchange;
  });
  await waitUntil('2 openSockets', () => silent.openSockets === 2);
  expect(silent.openSockets).toBe(2);
  first?.cancel();
  await sleep(50);
  expect(silent.openSockets).toBe(2);
  second?.cancel();
  await waitUntil('0 openSockets', () => silent.openSockets === 0);
  expect(silent.openSockets).toBe(0);
  await own.close();
  await silent.close();
});

test('closing gives up what is still connecting', async () => {
  const own = new ConnectionPools();
  const silent = await startFakeProvider();
  const call = { path: '/', headers: [], body: '' };
  const failed = new Promise<string>((resolve) => {
    const exchange = new HttpExchange(
      {
        upstream: own.to({ origin: silent.url.replace('http:', 'https:'), guard: 'none' }),
        call,
        limits: DEFAULT_LIMITS,
        deadlineAt: Infinity,
        streamed: false,
      },
      { accepted: () => {}, data: () => {}, ended: () => {}, failed: (fault) => resolve(fault.kind) },
    );
    exchange.start();
  });
  await waitUntil('1 openSockets', () => silent.openSockets === 1);
  await own.close();
  expect(await failed).toBe('network');
  await waitUntil('0 openSockets', () => silent.openSockets === 0);
  expect(silent.openSockets).toBe(0);
  await silent.close();
});
