import { Socket } from 'node:net';
import { Pool } from 'undici';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ConnectionPools, type Destination } from '../../../src/runtime/model/http/connection-pools.ts';
import { DEFAULT_LIMITS } from '../../../src/runtime/model/http/exchange-clock.ts';
import { Http1Pool, Http1Pools, SocketWatch } from '../../../src/runtime/model/http/http1-pool.ts';
import { HttpExchange } from '../../../src/runtime/model/http/http-exchange.ts';
import { startFakeProvider, status, type FakeProvider } from '../../support/fake-provider.ts';
import { sleep, type Behaviour } from '../../support/fake-wire.ts';
import { head } from '../../support/http1-connection.ts';
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

/** Calls the fake provider, pauses at the first chunk of the reply for this time, then continues. */
function askWithPause(
  pauseMs: number,
  to: Pick<ConnectionPools, 'to' | 'replies'> = pools,
  streamed = false,
): Promise<Ended> {
  let text = '';
  return new Promise((resolve) => {
    const call = { path: '/', headers: [], body: '{}' };
    const deadlineAt = performance.now() + 120_000;
    const exchange = new HttpExchange(
      { pools: to, destination: destinationOf(fake), call, limits: DEFAULT_LIMITS, deadlineAt, streamed },
      {
        accepted: () => {},
        data: (chunk) => {
          if (text === '') {
            exchange.pause();
            setTimeout(() => exchange.resume(), pauseMs);
          }
          text += chunk.toString();
        },
        ended: () => resolve({ outcome: 'ended', text }),
        failed: (failure) => resolve({ outcome: failure.kind, text }),
      },
    );
    exchange.start();
  });
}

function destinationOf({ url }: FakeProvider, protocol = 'http:'): Destination {
  return { origin: url.replace('http:', protocol), guard: 'none', version: '1.1' };
}

test('responses can be paused, since undici keeps its parser where SocketWatch expects it', async () => {
  fake.answer(status(200, 'hello'));
  expect((await askWithPause(1)).text).toBe('hello');
  const pool = pools.to(destinationOf(fake));
  // If this fails after an update of undici, find the replacements of the members that SocketWatch uses.
  expect(pool instanceof Http1Pools && pool.canPause).toBe(true);
});

/** The whole reply, and the end of its connection a moment later, when no bytes are left to read. */
function reply(headers: Readonly<Record<string, string>>, lastly: 'end' | 'reset'): Behaviour {
  return async (_request, wire) => {
    wire.write(`${head(200, headers)}one two`);
    await sleep(20);
    wire[lastly]();
  };
}

test('a paused reply that ends with its connection is whole', async () => {
  for (const headers of [{ connection: 'close' }, { connection: 'close', 'content-length': '7' }]) {
    fake.answer(reply(headers, 'end'));
    for (const pauseMs of [1, 100]) {
      expect(await askWithPause(pauseMs)).toEqual({ outcome: 'ended', text: 'one two' });
      expect(await askWithPause(pauseMs, pools, true)).toEqual({ outcome: 'ended', text: 'one two' });
    }
  }
});

test('a paused reply whose connection is cut is a failure', async () => {
  for (const headers of [{ connection: 'close' }, { 'content-length': '99' }]) {
    fake.answer(reply(headers, 'reset'));
    expect(await askWithPause(100)).toEqual({ outcome: 'cut', text: 'one two' });
  }
  // The last one: a stream reads its end only when it resumes, and without a length that end looks like the end of the reply.
  expect(await askWithPause(100, pools, true)).toEqual({ outcome: 'cut', text: 'one two' });
});

test('a paused stream reads nothing, and what the kernel gathered comes when it resumes', async () => {
  const sends: Array<(text: string) => void> = [];
  fake.answer((_request, wire) => {
    wire.write(`${head(200, { 'content-length': '8' })}one `);
    sends.push((text) => wire.write(text));
  });
  const chunks: string[] = [];
  await new Promise<void>((resolve) => {
    const call = { path: '/', headers: [], body: '{}' };
    const options = { pools, destination: destinationOf(fake), call, limits: DEFAULT_LIMITS, deadlineAt: Infinity };
    const exchange = new HttpExchange(
      { ...options, streamed: true },
      {
        accepted: () => {},
        data: (chunk) => {
          chunks.push(chunk.toString());
          if (chunks.length === 1) void pauseForAnotherCall(exchange).then(() => chunks.push('resumed'));
        },
        ended: resolve,
        failed: (failure) => chunks.push(failure.kind),
      },
    );
    exchange.start();
  });
  expect(chunks.slice(0, 2)).toEqual(['one ', 'resumed']);
  expect(chunks.slice(2).join('')).toBe('two.');

  /** Both sides run in this process: when the other call has its answer, the bytes that were written before it had arrived. */
  async function pauseForAnotherCall(exchange: HttpExchange): Promise<void> {
    await Promise.resolve();
    exchange.pause();
    for (const text of ['tw', 'o.']) {
      sends[0]?.(text);
      fake.answer(status(200, 'other'));
      await askWithPause(1);
    }
    exchange.resume();
  }
});

function chunkOf(text: string, extension = ''): string {
  return `${text.length.toString(16)}${extension}\r\n${text}\r\n`;
}

const LAST_CHUNK = '0\r\n\r\n';

/** Sends these pieces of a chunked body, each as soon as the last one has left. */
function chunked(pieces: readonly string[], lastly: 'keep' | 'end' | 'reset'): Behaviour {
  return async (_request, wire) => {
    wire.write(head(200, { 'transfer-encoding': 'chunked' }));
    for (const piece of pieces) {
      await sleep(2);
      wire.write(piece);
    }
    if (lastly === 'keep') return;
    await sleep(2);
    wire[lastly]();
  };
}

const WORDS = Array.from({ length: 40 }, (_, index) => `word ${index} `);
const TEXT = WORDS.join('');
const CHUNKS = WORDS.map((word) => chunkOf(word)).join('');

/** The pieces of a chunked body that svc reads as a stream, and the outcome. */
const BODIES: ReadonlyArray<[string, readonly string[], 'keep' | 'end' | 'reset', Ended]> = [
  ['at once', [`${CHUNKS}${LAST_CHUNK}`], 'keep', { outcome: 'ended', text: TEXT }],
  ['one by one', [...WORDS.map((word) => chunkOf(word)), LAST_CHUNK], 'keep', { outcome: 'ended', text: TEXT }],
  ['cut anywhere', `${CHUNKS}${LAST_CHUNK}`.match(/[^]{1,13}/gu) ?? [], 'keep', { outcome: 'ended', text: TEXT }],
  [
    'with an extension and trailers',
    [chunkOf('one '), chunkOf('two ', ';a=b'), `${chunkOf('three')}0\r\na: b\r\n\r\n`],
    'keep',
    { outcome: 'ended', text: 'one two three' },
  ],
  ['without the last one', [CHUNKS], 'end', { outcome: 'cut', text: TEXT }],
  ['reset', [CHUNKS], 'reset', { outcome: 'cut', text: TEXT }],
  ['with a wrong size', [chunkOf('one '), '3\r\nthree\r\n'], 'keep', { outcome: 'cut', text: 'one thr' }],
  ['with a size that is no number', [chunkOf('one '), 'x\r\n'], 'keep', { outcome: 'cut', text: 'one ' }],
];

test.each(BODIES)('the chunks of a stream, %s, have their outcome with and without a pause', async (_name, ...body) => {
  const [pieces, lastly, ended] = body;
  for (const pauseMs of [0, 20]) {
    fake.answer(chunked(pieces, lastly));
    expect(await askWithPause(pauseMs, pools, true)).toEqual(ended);
  }
});

test('a connection whose chunks passed undici by serves the next request', async () => {
  const own = new ConnectionPools();
  const before = fake.connections;
  for (let request = 0; request < 3; request += 1) {
    fake.answer(chunked([CHUNKS, LAST_CHUNK], 'keep'));
    expect(await askWithPause(0, own, true)).toEqual({ outcome: 'ended', text: TEXT });
    await sleep(10);
  }
  expect(fake.connections - before).toBe(1);
  await own.close();
});

function failToRead(): void {
  throw new Error('a fault of the reader');
}

test('an exception in the reader of a chunk is a failure of its reply', async () => {
  fake.answer(chunked([CHUNKS, LAST_CHUNK], 'keep'));
  const failure = await new Promise((resolve) => {
    const call = { path: '/', headers: [], body: '{}' };
    const ignored = { onSent: () => {}, onResend: () => {}, onHeaders: () => {} };
    const listener = { ...ignored, onData: failToRead, onEnd: () => resolve('end'), onFailure: resolve };
    pools.to(destinationOf(fake)).send(call, listener, true);
  });
  expect(failure).toMatchObject({ kind: 'cut', message: expect.stringContaining('a fault of the reader') });
});

test('without the parser, responses are not paused, and nothing breaks', () => {
  const watch = new SocketWatch(undefined);
  const socket = new Socket();
  watch.watch(socket, () => undefined);
  socket.on('error', () => {});
  for (const event of ['readable', 'end', 'close']) expect(() => socket.emit(event)).not.toThrow();
  expect(() => socket.emit('error', new Error('reset'))).not.toThrow();
  expect(watch.canPause).toBe(false);
  socket.destroy();
});

test('svc reads a reply that it cannot pause to its end', async () => {
  fake.answer(reply({ connection: 'close' }, 'end'));
  const connections = new Pool(fake.url);
  const unpausable = new Http1Pool(connections, { canPause: false, answering: undefined }, { stop: () => {} });
  const pool = Object.assign(unpausable, { counts: [] });
  const to = { to: () => pool, replies: pools.replies };
  expect(await askWithPause(60_000, to)).toEqual({ outcome: 'ended', text: 'one two' });
  await connections.close();
});

test('a connection attempt ends when no request waits for it, and not before', async () => {
  const own = new ConnectionPools();
  const silent = await startFakeProvider();
  const destination = destinationOf(silent, 'https:');
  const [first, second] = [0, 1].map(() => {
    const call = { path: '/', headers: [], body: '' };
    const limits = { ...DEFAULT_LIMITS, connectMs: 0 };
    const exchange = new HttpExchange(
      { pools: own, destination, call, limits, deadlineAt: Infinity, streamed: false },
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

test('closing ends the connection attempts', async () => {
  const own = new ConnectionPools();
  const silent = await startFakeProvider();
  const call = { path: '/', headers: [], body: '' };
  const failed = new Promise<string>((resolve) => {
    const exchange = new HttpExchange(
      {
        pools: own,
        destination: destinationOf(silent, 'https:'),
        call,
        limits: DEFAULT_LIMITS,
        deadlineAt: Infinity,
        streamed: false,
      },
      { accepted: () => {}, data: () => {}, ended: () => {}, failed: (failure) => resolve(failure.kind) },
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
