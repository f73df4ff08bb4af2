import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claimPort, lockFile } from '../../src/server/claim-port.ts';

it.each(['linux', 'darwin'] as const)(
  'on %s it chooses a port for 0, and holds it against a second svc',
  async (platform) => {
    const first = await claimPort('127.0.0.1', 0, platform);
    if (!first.ok) throw new Error(first.failure);
    const { port, release } = first.value;
    expect(port).toBeGreaterThan(1023);
    expect(await claimPort('127.0.0.1', port, platform)).toEqual({
      ok: false,
      failure: 'another svc process serves it',
    });
    release();
    const again = await claimPort('127.0.0.1', port, platform);
    expect(again.ok).toBe(true);
    if (again.ok) again.value.release();
  },
);

it('reports that another program uses the port', async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  const claim = await claimPort('127.0.0.1', port);
  expect(claim).toEqual({ ok: false, failure: 'another program uses the port' });
  server.close();
});

it('reports that the host is not an address of this machine', async () => {
  expect(await claimPort('192.0.2.1', 0)).toEqual({
    ok: false,
    failure:
      '"192.0.2.1" is not an address of this machine; listen on one of its addresses, or on 0.0.0.0 for all of them',
  });
});

const LOCK_NAME = `svc-lock-test-${process.pid}`;
const LOCK_PATH = join(tmpdir(), LOCK_NAME);

it('holds a lock file against others until its release', () => {
  const release = lockFile(LOCK_NAME);
  expect(release).toBeDefined();
  expect(lockFile(LOCK_NAME)).toBeUndefined();
  release?.();
  expect(existsSync(LOCK_PATH)).toBe(false);
  const again = lockFile(LOCK_NAME);
  expect(again).toBeDefined();
  again?.();
});

it('takes over the lock file of a dead process', () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  writeFileSync(LOCK_PATH, String(pid));
  const release = lockFile(LOCK_NAME);
  expect(release).toBeDefined();
  release?.();
});
