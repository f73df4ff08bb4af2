import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  answersIn,
  askedWithThreeKills,
  BATCH,
  ECHO,
  expectEachRowOnce,
  folderWithRows,
  numberIn,
  ONLY_PROGRESS,
  startBatchUntil,
} from '../support/batch-rows.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { runSvc, startServer, SVC_MAIN, type RunningServer } from '../support/running-server.ts';

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

const servers: RunningServer[] = [];
afterEach(async () => {
  provider.clear();
  await Promise.all(servers.splice(0).map((server) => server.stop('SIGKILL')));
});

/** A folder with definitions for the provider, and rows. */
function folderOf(rows: number): string {
  return folderWithRows(provider, rows);
}

// test/cluster has the same test with 10,000 rows.
test('1,500 rows that are killed three times have one answer each, and only rows in flight are asked twice', async () => {
  // Three kills with ten calls in flight each.
  expect(await askedWithThreeKills(provider, 1500)).toBeLessThanOrEqual(1530);
});

test('an interrupt finishes the calls under way and says how to continue', async () => {
  const folder = folderOf(5_000);
  const child = await startBatchUntil(folder, 10_000);
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.kill('SIGINT');
  expect((await once(child, 'close'))[0]).toBe(130);
  expect(output).toMatch(/^Stopping: waiting for .* under way\. Press Ctrl\+C again to stop at once\.\n/u);
  expect(output).toContain('Run the same command to continue.\n');
  const answered = answersIn(folder);
  expect(answered.every(({ value }) => value !== undefined)).toBe(true);
  expect(new Set(provider.requests.map(numberIn)).size).toBe(answered.length);
  expect(provider.requests).toHaveLength(answered.length);
});

test('a second interrupt stops at once', async () => {
  const folder = folderOf(3);
  const never = new Promise<void>(() => {});
  provider.at('echo', () => never);
  const child = spawn(process.execPath, [SVC_MAIN, ...BATCH], { cwd: folder, env: {}, stdio: 'pipe' });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => provider.requests.length).toBe(3);
  child.kill('SIGINT');
  await expect.poll(() => output).toContain('Stopping: waiting for the 3 calls under way.');
  child.kill('SIGINT');
  expect((await once(child, 'close'))[0]).toBe(130);
  expect(readFileSync(join(folder, 'answers.jsonl'), 'utf8')).toBe('');
});

test('a reader of the output that goes away does not stop the batch', async () => {
  const folder = folderOf(50);
  const child = spawn(process.execPath, [SVC_MAIN, ...BATCH], { cwd: folder, env: {}, stdio: 'pipe' });
  child.stdout.destroy();
  child.stderr.destroy();
  expect((await once(child, 'close'))[0]).toBe(0);
  expectEachRowOnce(folder, 50);
});

test('rows and answers in CSV', async () => {
  const folder = folderOf(0);
  writeFileSync(join(folder, 'rows.csv'), 'text,year\n"Row 1, ""first""",2024\nRow 2,\nRow 3,soon\n');
  const files = ['--in', 'rows.csv', '--out', 'answers.csv'];
  const ended = await runSvc(['batch', 'Read', ...files, '--no-dotenv'], {}, folder);
  expect(ended).toMatchObject({ code: 1, stderr: ONLY_PROGRESS });
  const rows = parse(readFileSync(join(folder, 'answers.csv')), { columns: true }) as unknown as object[];
  expect(rows).toMatchObject([
    { svc_row: '1', svc_error: '', svc_input_tokens: '7', number: '1', note: 'a, "b"' },
    { svc_row: '2', svc_error: '', number: '2' },
    { svc_row: '3', svc_error: 'invalid_argument', number: '' },
  ]);
  expect(provider.requests.map(({ body }) => body).join('\n')).toContain(
    'Row 1, \\\\\\"first\\\\\\" 2024'.replaceAll('\\\\\\', '\\'),
  );
});

test('a server answers the rows, and a batch waits while the server has too many calls', async () => {
  const folder = folderOf(30);
  const flags = ['--workers', '1', '--max-in-flight', '2', '--max-queue', '0'];
  const server = await startServer({
    from: join(folder, 'svc_src'),
    flags,
    env: { SVC_PASSWORD: 'key-of-the-server' },
  });
  servers.push(server);
  const remote = [...BATCH, '--server', server.url];
  const refused = await runSvc(remote, {}, folder);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toBe(
    'svc: the server refuses the key. Set SVC_API_KEY, or name another variable with --api-key-env.\n',
  );
  const ended = await runSvc([...remote, '--concurrency', '20'], { SVC_API_KEY: 'key-of-the-server' }, folder);
  expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  expectEachRowOnce(folder, 30);
  expect(server.output()).toContain('overloaded');
});

test('a batch through a server that is killed gets the answers that the server has, and one for each row', async () => {
  const folder = folderOf(500);
  const server = await startServer({ from: join(folder, 'svc_src'), flags: ['--workers', '1'] });
  servers.push(server);
  const remote = ['--server', server.url];
  const child = await startBatchUntil(folder, 5000, remote);
  child.kill('SIGKILL');
  await once(child, 'close');
  // The kill lost the last answers, but the server still has them.
  const path = join(folder, 'answers.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  writeFileSync(path, `${lines.slice(0, -20).join('\n')}\n`);
  const ended = await runSvc([...BATCH, ...remote], {}, folder);
  expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  expectEachRowOnce(folder, 500);
  // Only calls that had not ended at the kill can reach the model twice.
  expect(provider.requests.length).toBeLessThanOrEqual(510);
});

test('a batch outlives a restart of its server', async () => {
  const folder = folderOf(400);
  const from = join(folder, 'svc_src');
  const first = await startServer({ from, flags: ['--workers', '1'] });
  const child = spawn(process.execPath, [SVC_MAIN, ...BATCH, '--server', first.url], {
    cwd: folder,
    env: {},
    stdio: 'pipe',
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => provider.requests.length).toBeGreaterThan(100);
  await first.stop('SIGKILL');
  servers.push(await startServer({ from, flags: ['--workers', '1', '--port', String(first.port)] }));
  expect((await once(child, 'close'))[0]).toBe(0);
  expect(output).toContain('400 rows: 400 answered, 0 failed');
  expectEachRowOnce(folder, 400);
});

test('failed rows are asked again', async () => {
  const folder = folderOf(20);
  provider.at('echo', (request, wire) =>
    numberIn(request) % 5 === 0 ? reply('no idea')(request, wire) : ECHO(request, wire),
  );
  const first = await runSvc(BATCH, {}, folder);
  expect(first.code).toBe(1);
  expect(first.stdout).toContain('16 answered, 4 failed');
  expect(answersIn(folder)[4]).toMatchObject({ row: 5, error: { code: 'validation_failure' } });
  provider.at('echo', ECHO);
  provider.clear();
  expect(await runSvc([...BATCH, '--retry-failed'], {}, folder)).toMatchObject({ code: 0 });
  expect(provider.requests).toHaveLength(4);
  expectEachRowOnce(folder, 20);
});
