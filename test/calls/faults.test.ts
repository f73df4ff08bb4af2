import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { findSqlite } from '../../src/calls/sqlite-calls.ts';
import { openCalls } from '../../src/calls/open-calls.ts';
import type { CallsAddress } from '../../src/config/calls-address.ts';
import { reply, startFakeProvider } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';
import { idsOf, POSTGRES, PostgresServer, SQLITE_PATH } from './databases.ts';

const SOURCE = `client<llm> Fast {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
    model "small"
  }
}

function Echo(text: string) -> string {
  client Fast
  prompt #"{{ text }}"#
}
`;

const fake = await startFakeProvider();
fake.answer(reply('yes'));
afterAll(() => fake.close());

interface Served {
  readonly server: RunningServer;
  /** Sends a call with this text as its id. All of them have to be answered. */
  readonly call: (id: string) => Promise<void>;
  readonly metric: (outcome: 'kept' | 'dropped') => Promise<number>;
}

async function serve(calls: string): Promise<Served> {
  const server = await startServer({
    files: { 'echo.svc': SOURCE },
    flags: ['--workers', '1'],
    env: { PROVIDER_URL: `${fake.url}/v1`, SVC_CALLS: calls, ...SQLITE_PATH },
  });
  onTestFinished(async () => void (await server.stop()));
  return {
    server,
    call: async (id) => {
      const headers = { 'content-type': 'application/json', 'x-request-id': id };
      const answer = await fetch(`${server.url}/call/Echo`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ text: id }),
      });
      expect([answer.status, await answer.json()]).toEqual([200, 'yes']);
    },
    metric: async (outcome) => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return Number(new RegExp(`^svc_kept_calls_total\\{outcome="${outcome}"\\} (\\d+)$`, 'mu').exec(text)?.[1] ?? 0);
    },
  };
}

async function allIds(address: CallsAddress): Promise<readonly string[]> {
  const calls = await openCalls(address, { readOnly: true });
  const ids = await idsOf(calls, {});
  await calls.close();
  return ids.toReversed();
}

function sqliteIn(folder: string): { readonly kind: 'sqlite'; readonly path: string } {
  return { kind: 'sqlite', path: join(folder, 'calls.db') };
}

test('a locked file holds up no call, and gets them all later', async () => {
  const address = sqliteIn(temporaryFolder({}));
  const { call, metric, server } = await serve(`sqlite:${address.path}`);
  await call('before');
  await waitUntil('calls are kept', async () => (await metric('kept')) === 1);
  const sqlite = findSqlite();
  if (!sqlite.ok) throw new Error(sqlite.failure);
  const other = sqlite.value(address.path, false);
  other.exec('BEGIN EXCLUSIVE');
  await call('during');
  await waitUntil('does not work', () => server.output().includes('does not work'));
  expect(await metric('kept')).toBe(1);
  other.exec('COMMIT');
  other.close();
  await waitUntil('calls are kept', async () => (await metric('kept')) === 2);
  expect(server.output()).toContain('works again');
  expect(await allIds(address)).toEqual(['before', 'during']);
});

test('a folder that cannot be written is tried again', async () => {
  const folder = temporaryFolder({});
  // Where the folder of the database should be, there is a file.
  writeFileSync(join(folder, 'data'), '');
  const { call, metric, server } = await serve(`sqlite:${join(folder, 'data/calls.db')}`);
  await call('one');
  await waitUntil('does not work', () => server.output().includes('does not work'));
  execFileSync('rm', [join(folder, 'data')]);
  await waitUntil('calls are kept', async () => (await metric('kept')) === 1);
  expect(await allIds(sqliteIn(join(folder, 'data')))).toEqual(['one']);
});

const CAN_MOUNT = process.getuid?.() === 0;

test.skipIf(!CAN_MOUNT)('a full disk loses what does not fit in memory, and nothing else', async () => {
  const folder = join(temporaryFolder({}), 'small');
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder]);
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  const address = sqliteIn(folder);
  const { call, metric, server } = await serve(`sqlite:${address.path}`);
  await call('first');
  await waitUntil('calls are kept', async () => (await metric('kept')) === 1);
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize - 100_000));
  let sent = 1;
  while (!server.output().includes('does not work')) {
    await call(`call-${sent}`);
    sent += 1;
  }
  execFileSync('mount', ['-o', 'remount,size=16m', folder]);
  await waitUntil('calls are kept', async () => (await metric('kept')) === sent);
  expect(await metric('dropped')).toBe(0);
  expect(await allIds(address)).toHaveLength(sent);
});

test('tables of a newer svc are left alone', async () => {
  const address = sqliteIn(temporaryFolder({}));
  await (await openCalls(address, { readOnly: false })).close();
  const sqlite = findSqlite();
  if (!sqlite.ok) throw new Error(sqlite.failure);
  const other = sqlite.value(address.path, false);
  other.exec('PRAGMA user_version = 999');
  const { call, server } = await serve(`sqlite:${address.path}`);
  await call('one');
  await waitUntil('use the newer svc', () => server.output().includes('use the newer svc'));
  // The migration is undone while the server runs.
  other.exec('PRAGMA user_version = 1');
  other.close();
  await waitUntil('works again', () => server.output().includes('works again'));
  expect(server.output()).toContain('does not work');
  await waitUntil('the call is kept', async () => (await allIds(address)).length === 1);
});

test.skipIf(POSTGRES === undefined)('a Postgres that dies, is slow or comes late gets every call', async () => {
  const postgres = await PostgresServer.start();
  onTestFinished(() => postgres.stop());
  const { address } = postgres;
  const { call, metric, server } = await serve(address.kind === 'postgres' ? address.url : '');
  await call('before');
  await waitUntil('calls are kept', async () => (await metric('kept')) === 1);
  await postgres.kill();
  await call('dead-1');
  await call('dead-2');
  await waitUntil('does not work', () => server.output().includes('does not work'));
  expect(server.output()).not.toContain('secret-of-postgres');
  await postgres.resume();
  await waitUntil('calls are kept', async () => (await metric('kept')) === 3);
  const other = new (await import('pg')).default.Client({
    connectionString: address.kind === 'postgres' ? address.url : '',
  });
  await other.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE svc_calls IN EXCLUSIVE MODE');
  await call('waits');
  expect(await metric('kept')).toBe(3);
  await other.query('COMMIT');
  await other.end();
  await waitUntil('calls are kept', async () => (await metric('kept')) === 4);
  expect(await allIds(address)).toEqual(['before', 'dead-1', 'dead-2', 'waits']);
});

test.skipIf(POSTGRES === undefined)('a server starts while its Postgres is down', async () => {
  const postgres = await PostgresServer.start();
  onTestFinished(() => postgres.stop());
  const { address } = postgres;
  await postgres.kill();
  const { call, metric } = await serve(address.kind === 'postgres' ? address.url : '');
  await call('early');
  await postgres.resume();
  await waitUntil('calls are kept', async () => (await metric('kept')) === 1);
  expect(await allIds(address)).toEqual(['early']);
});
