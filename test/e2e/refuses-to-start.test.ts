import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findSqlite } from '../../src/calls/sqlite-calls.ts';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { childrenOf, waitUntil } from '../support/load.ts';
import { runSvc, startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';

const servers: RunningServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
});

test('an unknown flag ends with exit code 2, one line, and the nearest flag', async () => {
  const run = await runSvc(['serve', '--prot', '1']);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('--port');
  expect(run.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
});

test('a bad value ends with exit code 2 and states the allowed values', async () => {
  const run = await runSvc(['serve', '--workers', '0']);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('--workers is "0", but must be a whole number from 1 to 256');
  expect(run.stderr).not.toMatch(/\n\s+at /u);
});

test.skipIf(findSqlite().ok)('without SQLite, --calls ends with exit code 1 and says how to get it', async () => {
  const from = temporaryFolder({ 'a.svc': HI_FUNCTION });
  const run = await runSvc(['serve', '--from', from, '--port', '0', '--no-dotenv', '--calls', 'sqlite:calls.db']);
  expect(run.code).toBe(1);
  expect(run.stderr).toContain('npm install better-sqlite3');
  const listed = await runSvc(['calls', 'list', '--calls', `sqlite:${join(from, 'a.svc')}`]);
  expect([listed.code, listed.stderr]).toEqual([1, expect.stringContaining('npm install better-sqlite3') as string]);
});

test('broken definitions end with exit code 1 and list all problems with file, line, column and frame, and svc binds no port', async () => {
  const from = temporaryFolder({
    'a.svc': 'class Person {\n  name strng\n}\n',
    'b.svc': `${HI_FUNCTION}\nfunction Bye(name: string) -> Persn {\n  client Offline\n  prompt #"bye {{ name }}"#\n}\n`,
  });
  const run = await runSvc(['serve', '--from', from, '--port', '0', '--no-dotenv']);
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/a\.svc:2:8/u);
  expect(run.stderr).toContain('"string"');
  expect(run.stderr).toMatch(/b\.svc:\d+:\d+/u);
  expect(run.stderr).toContain('"Person"');
  expect(run.stderr).toContain('^');
  expect(run.stdout).not.toContain('listening');
});

test('workers load while the definitions compile, and end with a start that fails', async () => {
  const seen = new Set<number>();
  let look: NodeJS.Timeout | undefined;
  const onSpawn = (child: ChildProcess): void => {
    look = setInterval(() => {
      if (child.exitCode === null) for (const pid of childrenOf(child.pid ?? 0)) seen.add(pid);
    }, 1);
  };
  const files = { 'a.svc': `${HI_FUNCTION}class Person {\n  name strng\n}\n` };
  await expect(startServer({ files, onSpawn })).rejects.toThrow('svc ended with 1 before it listened');
  clearInterval(look);
  expect(seen.size).toBeGreaterThan(0);
  await waitUntil('no worker is left', () => [...seen].every((pid) => !existsSync(`/proc/${pid}`)));
});

test('a folder that does not exist or contains no definitions is reported', async () => {
  for (const command of ['serve', 'dev']) {
    const missing = await runSvc([command, '--from', '/nonexistent/definitions', '--no-dotenv']);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('/nonexistent/definitions');
  }
  const empty = await runSvc(['serve', '--from', temporaryFolder({ 'README.txt': 'nothing' }), '--no-dotenv']);
  expect(empty.code).toBe(1);
  expect(empty.stderr).not.toMatch(/\n\s+at /u);
});

test.each([['--port'], ['--port', '0', '--metrics-port']])(
  'a port that another program listens on is refused (%s)',
  async (...flags) => {
    const other = createServer().listen(0, '0.0.0.0');
    await once(other, 'listening');
    const port = (other.address() as AddressInfo).port;
    const run = await runSvc([
      'serve',
      '--from',
      temporaryFolder({ 'a.svc': HI_FUNCTION }),
      ...flags,
      String(port),
      '--no-dotenv',
    ]);
    other.close();
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(`Failed to bind to port ${port}`);
  },
);

test('a port that another svc serves is refused, and the first continues', async () => {
  const from = temporaryFolder({ 'a.svc': HI_FUNCTION });
  const first = await startServer({ from, flags: ['--workers', '1'] });
  servers.push(first);
  const run = await runSvc(['serve', '--from', from, '--port', String(first.port), '--no-dotenv']);
  expect(run.code).toBe(1);
  expect(run.stderr).toContain(`Failed to bind to port ${first.port}`);
  expect((await fetch(`${first.url}/_debug/ping`)).status).toBe(200);
});

test('without a folder for temporary files, the message names the variable that sets one', async () => {
  const from = temporaryFolder({ 'a.svc': HI_FUNCTION });
  const run = await runSvc(['serve', '--from', from, '--port', '0', '--no-dotenv'], { TMPDIR: join(from, 'nowhere') });
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(
    /could not start: the compiled program cannot be written to a temporary folder .* set TMPDIR/u,
  );
});
