import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';

const SVC_MAIN = fileURLToPath(new URL('../../dist/bin/svc.js', import.meta.url));
const SAMPLES = fileURLToPath(new URL('../../svc_src', import.meta.url));
/** A multiple of the calls at the same time. */
const CALLS = 48;

let server: RunningServer | undefined;
let lone: ChildProcess | undefined;
/** A server whose output two tests read, with every detail but the content. */
let shared: RunningServer;

beforeAll(async () => {
  const flags = ['--workers', '1', '--log-level', 'debug', '--log-content', 'none', '--slow', '1ms'];
  shared = await startServer({ from: SAMPLES, flags });
});

afterAll(() => shared.stop());

afterEach(async () => {
  await server?.stop();
  server = undefined;
  if (lone === undefined) return;
  const closed = once(lone, 'exit');
  lone.kill('SIGTERM');
  await closed;
  lone = undefined;
});

function call(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const body = JSON.stringify({ resume: 'Ada Lovelace, ada@example.com' });
  return fetch(`${url}/call/ExtractResume`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

/** Sends all calls, eight at once; resolves to the number of answers with status 200. */
async function served(url: string): Promise<number> {
  let count = 0;
  for (let at = 0; at < CALLS; at += 8) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(url)));
    count += answers.filter((answer) => answer.status === 200).length;
    await Promise.all(answers.map((answer) => answer.text()));
  }
  return count;
}

async function droppedLines(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = /^svc_log_lines_dropped_total (\d+)$/mu.exec(text);
  if (line === null) throw new Error(`no such metric:\n${text}`);
  return Number(line[1]);
}

/** Starts a server whose output goes to an open file; the test cannot read its start line. */
async function startOnto(descriptor: number): Promise<string> {
  const port = await freePort();
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const args = [SVC_MAIN, 'serve', '--from', SAMPLES, '--port', String(port), '--workers', '1', '--no-dotenv'];
  lone = spawn(process.execPath, args, { env, stdio: ['ignore', descriptor, descriptor] });
  const url = `http://127.0.0.1:${port}`;
  const ready = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntil('the server to be ready', ready);
  return url;
}

test('on a full disk, svc loses log lines and no call', async () => {
  const full = openSync('/dev/full', 'w');
  const url = await startOnto(full);
  closeSync(full);
  expect(await served(url)).toBe(CALLS);
  await waitUntil('the lost lines to be counted', async () => (await droppedLines(url)) >= CALLS);
});

test('with a closed stdout, svc loses log lines and no call', async () => {
  server = await startServer({ from: SAMPLES, flags: ['--workers', '1'] });
  const { url, child } = server;
  child.stdout?.destroy();
  expect(await served(url)).toBe(CALLS);
  await waitUntil('the lost lines to be counted', async () => (await droppedLines(url)) > 0);
  expect(await served(url)).toBe(CALLS);
});

/** Their lines are larger than the buffers between two processes. */
const TURNS = 6;

test('a stalled reader of the log delays no call, and receives every line when it continues', async () => {
  server = await startServer({ from: SAMPLES, flags: ['--workers', '1', '--log-level', 'debug'] });
  const { url, child, output } = server;
  child.stdout?.pause();
  for (let turn = 0; turn < TURNS; turn += 1) expect(await served(url)).toBe(CALLS);
  child.stdout?.resume();
  const lines = () =>
    output()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"')).length;
  await waitUntil('every line to arrive', () => lines() === TURNS * CALLS);
  expect(await droppedLines(url)).toBe(0);
});

test('every line about a request has its id, whatever its outcome', async () => {
  const { url, output } = shared;
  const before = output().length;
  const lines = (): readonly string[] => output().slice(before).split('\n').slice(0, -1);
  const given = { 'x-request-id': 'asked-for-1' };
  const json = { 'content-type': 'application/json' };
  const requests = [
    call(url, given),
    fetch(`${url}/stream/ExtractResume`, { method: 'POST', headers: json, body: '{"resume":"Ada"}' }),
    fetch(`${url}/call/ExtractResume`, { method: 'POST', headers: json, body: '{"resume":1}' }),
    fetch(`${url}/call/ExtractResume`, { method: 'POST', headers: json, body: '{' }),
    fetch(`${url}/call/Nothing`, { method: 'POST', headers: json, body: '{}' }),
    fetch(`${url}/call/ExtractResume`, { method: 'POST', body: 'text' }),
  ];
  const answers = await Promise.all(requests);
  await Promise.all(answers.map((answer) => answer.text()));
  const ids = answers.map((answer) => answer.headers.get('x-request-id') ?? '');
  expect(ids[0]).toBe('asked-for-1');
  expect(new Set(ids).size).toBe(ids.length);
  const logged = () => ids.filter((id) => lines().some((line) => line.includes(`"requestId":"${id}"`)));
  await waitUntil('all of them to be logged', () => logged().length === ids.length);
  const entries = lines()
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly requestId?: string });
  const aboutRequests = entries.filter(({ msg }) => msg === 'request' || msg === 'model');
  expect(aboutRequests.length).toBeGreaterThanOrEqual(ids.length + 2);
  expect(aboutRequests.filter(({ requestId }) => requestId === undefined || !ids.includes(requestId))).toEqual([]);
});

test('svc logs prints the lines of a running server, one for each call', async () => {
  const { url, output } = shared;
  await (await call(url, { 'x-request-id': 'slow-1' })).text();
  await waitUntil('the line of the call', () => /^(?=.*"requestId":"slow-1").*"msg":"request".*\n/mu.test(output()));
  const logs = spawn(process.execPath, [SVC_MAIN, 'logs'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  logs.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  logs.stdin.end(output());
  await once(logs, 'close');
  expect(text).toMatch(/^svc: listening on .*$/mu);
  expect(text).toMatch(
    /^\d\d:\d\d:\d\d info  serving; request lines contain neither arguments nor answers transport=\w+/mu,
  );
  const times = 'time: body .*, queue .*, render .*, model .*, parse .*, rest .*, attempts \\(Offline ok .*\\)';
  expect(text).toMatch(
    new RegExp(
      `^\\d\\d:\\d\\d:\\d\\d warn  200 \\w+ /call/ExtractResume .*\n +id: slow-1\n(?: +\\w+: .*\n)* +${times}$`,
      'mu',
    ),
  );
});
