import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { claimPort } from '../../src/server/claim-port.ts';

it.each(['linux', 'darwin'] as const)(
  'on %s it chooses a port for 0, and holds it against a second svc',
  async (platform) => {
    const first = await claimPort('127.0.0.1', 0, platform);
    if (!first.ok) throw new Error(first.failure);
    const { port, release } = first.value;
    expect(port).toBeGreaterThan(1023);
    expect(await claimPort('127.0.0.1', port, platform)).toEqual({ ok: false, failure: 'another svc serves on it' });
    release();
    const again = await claimPort('127.0.0.1', port, platform);
    expect(again.ok).toBe(true);
    if (again.ok) again.value.release();
  },
);

it('says that another program uses the port', async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  const claim = await claimPort('127.0.0.1', port);
  expect(claim).toEqual({ ok: false, failure: 'the port is in use by another program' });
  server.close();
});

it('says that the host is not of this machine', async () => {
  expect(await claimPort('192.0.2.1', 0)).toEqual({
    ok: false,
    failure: '"192.0.2.1" is no address of this machine',
  });
});
