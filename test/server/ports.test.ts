import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { claimPort, claimPorts, isHeldByThisUser, lockFile } from '../../src/server/ports.ts';

it.each(['linux', 'darwin'] as const)(
  'on %s it chooses a port for 0, and holds it against a second svc',
  async (platform) => {
    const first = await claimPort('127.0.0.1', 0, platform);
    if (!first.ok) throw new Error(first.failure);
    const { port, release } = first.value;
    expect(port).toBeGreaterThanOrEqual(10_000);
    expect(port).toBeLessThan(32_768);
    expect(await claimPort('127.0.0.1', port, platform)).toEqual({
      ok: false,
      failure: 'another svc process uses it; stop that process, or choose another port',
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
  expect(claim).toEqual({ ok: false, failure: 'another program uses it; stop that program, or choose another port' });
  server.close();
});

it('names the flag, and a port that is free at that time', async () => {
  const first = await claimPorts('127.0.0.1', [0, 0]);
  if (!first.ok) throw new Error(first.failure);
  const [port = 0, metricsPort = 0] = first.value.ports;
  const second = await claimPorts('127.0.0.1', [port]);
  const advice =
    /^Failed to bind to port \d+: another svc process uses it; .* such as "--port (\d+)", which is free\.$/u;
  const free = Number(advice.exec(second.ok ? '' : second.failure)?.[1]);
  const third = await claimPorts('127.0.0.1', [free]);
  expect(third.ok).toBe(true);
  const metrics = await claimPorts('127.0.0.1', [free + 1, metricsPort]);
  expect(metrics.ok ? '' : metrics.failure).toMatch(/ such as "--metrics-port \d+", which is free\.$/u);
  first.value.release();
  if (third.ok) third.value.release();
});

it('reports for port 0 that every selected port was in use', async () => {
  const first = await claimPort('127.0.0.1', 0);
  if (!first.ok) throw new Error(first.failure);
  const select = vi.fn(() => first.value.port);
  const claim = await claimPort('127.0.0.1', 0, process.platform, select);
  expect(claim).toEqual({
    ok: false,
    failure: 'svc selected 20 ports from 10000 to 32767, and all were in use; choose another port',
  });
  expect(select).toHaveBeenCalledTimes(20);
  first.value.release();
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

/** A copy of the part of /proc that lists the holder of the socket `\0svc-a-1`. */
function procFolder(inodeOfProcess: number): string {
  const proc = mkdtempSync(join(tmpdir(), 'svc-proc-'));
  for (const folder of ['net', '12/fd', '13/fd', 'self']) mkdirSync(join(proc, folder), { recursive: true });
  const header = 'Num       RefCount Protocol Flags    Type St Inode Path';
  const other = '0000000000000000: 00000002 00000000 00010000 0001 01 41 @svc-a-10';
  const holder = '0000000000000000: 00000002 00000000 00010000 0001 01 42 @svc-a-1@@@@@';
  writeFileSync(join(proc, 'net/unix'), `${header}\n${other}\n${holder}\n`);
  symlinkSync('/dev/null', join(proc, '12/fd/1'));
  symlinkSync(`socket:[${inodeOfProcess}]`, join(proc, '13/fd/7'));
  return proc;
}

it('detects whether a process of this user holds a socket', () => {
  expect(isHeldByThisUser('svc-a-1', procFolder(42))).toBe(true);
  expect(isHeldByThisUser('svc-a-1', procFolder(41))).toBe(false);
  expect(isHeldByThisUser('svc-a-2', procFolder(42))).toBe(false);
  expect(isHeldByThisUser('svc-a-1', join(tmpdir(), 'svc-no-proc'))).toBe(false);
});

/** Only root can start a process of another user, or give a file to one. */
const isRoot = process.platform === 'linux' && process.geteuid?.() === 0;

const NOBODY = 65_534;

it.runIf(isRoot)('another user who holds the name of a port does not keep svc from it', async () => {
  const free = await claimPort('127.0.0.1', 0);
  if (!free.ok) throw new Error(free.failure);
  const { port, release } = free.value;
  release();
  const squat = `require('node:net').createServer().listen('\\0svc-127.0.0.1-${port}', () => console.log('held'))`;
  const squatter = spawn(process.execPath, ['-e', squat], { uid: NOBODY, gid: NOBODY, cwd: '/' });
  await once(squatter.stdout, 'data');
  const claim = await claimPort('127.0.0.1', port);
  squatter.kill('SIGKILL');
  expect(claim.ok).toBe(true);
  if (claim.ok) claim.value.release();
});

it.runIf(isRoot)('the lock file of another user does not keep svc from a port', () => {
  writeFileSync(LOCK_PATH, '1');
  chownSync(LOCK_PATH, NOBODY, NOBODY);
  const release = lockFile(LOCK_NAME);
  expect(release).toBeDefined();
  release?.();
  expect(existsSync(LOCK_PATH)).toBe(true);
  rmSync(LOCK_PATH);
});
