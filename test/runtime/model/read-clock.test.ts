import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ReadClock } from '../../../src/runtime/model/http/exchange-clock.ts';

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
