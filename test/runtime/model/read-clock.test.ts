import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { ReadClock } from '../../../src/runtime/model/http/exchange-clock.ts';
import { turn } from '../../support/fake-wire.ts';
import { waitUntil } from '../../support/load.ts';
import { startRequest } from '../../support/running-request.ts';

test('a window ends after some ticks without input', async () => {
  const clock = new ReadClock();
  const end = clock.open();
  expect(clock.isOpen(end)).toBe(true);
  await expect.poll(() => clock.isOpen(end)).toBe(false);
  const next = clock.open();
  expect([clock.isOpen(end), clock.isOpen(next)]).toEqual([false, true]);
});

test('a process that was busy for longer than the window first reads what has arrived', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).resetAndDestroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const clock = new ReadClock();
  const openAtTheEnd = new Promise<boolean>((resolve) => {
    socket.on('error', () => undefined).on('close', () => resolve(clock.isOpen(end)));
  });
  const end = clock.open();
  for (const until = performance.now() + 300; performance.now() < until;);
  expect(await openAtTheEnd).toBe(true);
  server.close();
});

/** Speaks HTTP/2 without TLS, and answers all paths but `/hold`. It counts its connections and the pings that it answered in `shared`. */
const OTHER_THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const counts = new Int32Array(workerData);
  const server = require('node:http2').createServer();
  server.on('session', (session) => {
    session.on('error', () => {});
    Atomics.add(counts, 0, 1);
    session.on('ping', () => setImmediate(() => {
      Atomics.add(counts, 1, 1);
      Atomics.notify(counts, 1);
    }));
  });
  server.on('stream', (stream, headers) => {
    // The client may leave while a stream is open.
    stream.on('error', () => {});
    if (headers[':path'] === '/hold') return;
    stream.respond({ ':status': 200 });
    stream.end('ok');
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('a process that was busy while the answer to a ping arrived does not take the connection for dead', async () => {
  const shared = new SharedArrayBuffer(8);
  const counts = new Int32Array(shared);
  const worker = new Worker(OTHER_THREAD, { eval: true, workerData: shared });
  const [port] = await once(worker, 'message');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const pools = new ConnectionPools();
  const send = (path: string) => startRequest(pools, `http://127.0.0.1:${port}`, { path, version: '2' });
  const [stays, leaves] = ['/hold', '/hold'].map(send);
  await waitUntil('the requests', () => leaves?.events.includes('sent') === true);
  // Longer than the time after which a silent connection is suspect.
  vi.advanceTimersByTime(600);
  leaves?.cancel();
  // The ping leaves, and its answer is due in 3 s. Nothing is read before the process is busy.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  Atomics.wait(counts, 1, 0);
  vi.advanceTimersByTime(3200);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(await send('/').done).toBe('end');
  expect(stays?.events).toEqual(['sent']);
  expect(Atomics.load(counts, 0)).toBe(1);
  await pools.close();
  await worker.terminate();
});
