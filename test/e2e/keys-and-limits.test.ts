import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { runSvc, startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';

const DEFINITIONS = `
client<llm> Fast {
  provider offline
  options { reply "hello" }
}
client<llm> Slow {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
    model "fake"
    api_key "none"
  }
}
function Greet(name: string) -> string {
  client Fast
  prompt #"Greet {{ name }}"#
}
function Wait(name: string) -> string {
  client Slow
  prompt #"Greet {{ name }}"#
}
`;

const PASSWORD = 'correct-horse-battery';

let fake: FakeProvider;
/** The key file of three teams, and their keys. */
let teams: KeyFile;
/** A server with a password and limits. */
let server: RunningServer;
const servers: RunningServer[] = [];

beforeAll(async () => {
  fake = await startFakeProvider();
  teams = await createKeys(['team-a'], ['team-b', '--functions', 'Gr*'], ['team-c']);
  const logs = ['--log-level', 'debug', '--log-content', 'full'];
  server = await start(['--keys', limitedKeys(), '--workers', '3', ...logs], { SVC_PASSWORD: PASSWORD });
});

afterEach(() => fake.clear());

afterAll(async () => {
  await Promise.all(servers.map((each) => each.stop()));
  await fake.close();
});

interface KeyFile {
  readonly file: string;
  readonly keys: readonly string[];
}

/** Creates keys with the command line. Returns the file and the keys in their order. */
async function createKeys(...commands: ReadonlyArray<readonly string[]>): Promise<KeyFile> {
  const file = join(temporaryFolder({}), 'keys.yaml');
  const keys: string[] = [];
  for (const args of commands) {
    const { code, stdout, stderr } = await runSvc(['keys', 'create', ...args, '--keys', file]);
    expect(stderr.includes(stdout.trim())).toBe(false);
    expect(code).toBe(0);
    keys.push(stdout.trim());
  }
  return { file, keys };
}

const LIMIT = 100;

/** A copy of the key file, which a test can change. */
function keyFile(text = readFileSync(teams.file, 'utf8')): string {
  return join(temporaryFolder({ 'keys.yaml': text }), 'keys.yaml');
}

function limitedKeys(): string {
  const text = readFileSync(teams.file, 'utf8')
    .replace('- name: team-a', '- limits: {in_flight: 4}\n    name: team-a')
    .replace('- name: team-c', `- limits: {requests_per_minute: ${LIMIT}}\n    name: team-c`);
  return keyFile(text);
}

async function start(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
  const started = await startServer({
    files: { 'main.svc': DEFINITIONS },
    flags,
    env: { PROVIDER_URL: `${fake.url}/v1`, ...env },
  });
  servers.push(started);
  return started;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function ask(of: RunningServer, path: string, key: string | undefined): Promise<Answered> {
  const isCall = path.startsWith('/call') || path.startsWith('/stream');
  const response = await fetch(of.url + path, {
    method: isCall ? 'POST' : 'GET',
    headers: {
      'content-type': 'application/json',
      // Each request has its own connection, so that the kernel spreads them over the workers.
      connection: 'close',
      ...(key !== undefined && { 'x-svc-api-key': key }),
    },
    ...(isCall && { body: '{"name":"Ada"}' }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
}

test('each key has its functions, its name and its idempotency keys, and no log line contains a key', async () => {
  const [a = '', b = ''] = teams.keys;
  expect(await ask(server, '/call/Greet', undefined)).toMatchObject({ status: 403, body: { error: 'Unauthorized' } });
  expect(await ask(server, '/call/Greet', `${a}x`)).toMatchObject({ status: 403, body: { error: 'Unauthorized' } });
  for (const key of [a, b, PASSWORD]) {
    expect(await ask(server, '/call/Greet', key)).toMatchObject({ status: 200 });
  }
  expect(await ask(server, '/call/Wait', b)).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
  const whole = JSON.stringify((await ask(server, '/openapi.json', a)).body);
  const own = JSON.stringify((await ask(server, '/openapi.json', b)).body);
  expect([whole.includes('/call/Wait'), own.includes('/call/Greet'), own.includes('Wait')]).toEqual([
    true,
    true,
    false,
  ]);
  const replayed = async (key: string): Promise<string | null> => {
    const headers = { 'content-type': 'application/json', 'x-svc-api-key': key, 'idempotency-key': 'job-1' };
    const response = await fetch(`${server.url}/call/Greet`, { method: 'POST', headers, body: '{"name":"Ada"}' });
    expect([response.status, await response.text()]).toEqual([200, '"hello"']);
    return response.headers.get('idempotency-replayed');
  };
  const replays = [await replayed(a), await replayed(b), await replayed(a), await replayed(b)];
  expect(replays).toEqual([null, null, 'true', 'true']);
  // A caller can put its key where the log repeats it.
  await ask(server, `/call/Greet${b}`, b);
  await fetch(`${server.url}/call/Greet?key=${a}`, {
    method: 'POST',
    body: JSON.stringify({ name: a }),
    headers: { 'content-type': 'application/json', 'x-svc-api-key': a },
  });
  const metrics = String((await ask(server, '/metrics', a)).body);
  expect(metrics).toContain('svc_key_requests_total{key="team-b",status="403"}');
  await waitUntil('the log lines', () => (server.output().match(/"keyName":"team-a"/gu) ?? []).length >= 2);
  expect(server.output()).toContain('"keyName":"default"');
  for (const key of [a, b, PASSWORD]) {
    expect(server.output()).not.toContain(key);
    expect(metrics).not.toContain(key);
  }
});

test('a changed key file reaches all workers without a dropped call, and a mistake keeps the old keys', async () => {
  const file = keyFile();
  const [a = '', b = ''] = teams.keys;
  const own = await start(['--keys', file, '--workers', '2']);
  const pids = async (): Promise<unknown> =>
    ((await ask(own, '/_debug/status', b)).body as { workers: Array<{ pid: number; state: string }> }).workers
      .filter(({ state }) => state === 'serving')
      .map(({ pid }) => pid)
      .toSorted((x, y) => x - y);
  const before = await pids();
  const gate = new AbortController();
  const opened = once(gate.signal, 'abort');
  fake.answer(async (request, wire) => {
    await opened;
    await reply('hello')(request, wire);
  });
  const running = Array.from({ length: 8 }, () => ask(own, '/call/Wait', a));
  await waitUntil('the calls run', () => fake.requests.length === 8);
  const disabled = readFileSync(file, 'utf8').replace('- name: team-a', '- disabled: true\n    name: team-a');
  writeFileSync(`${file}.new`, disabled);
  renameSync(`${file}.new`, file);
  await waitUntil('the key is disabled in every worker', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(own, '/_debug/status', a)));
    return answers.every(({ status }) => status === 403);
  });
  const refused = await ask(own, '/call/Greet', a);
  expect(refused).toMatchObject({
    status: 403,
    body: { error: 'Unauthorized', message: expect.stringContaining('disabled') },
  });
  gate.abort();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  expect(await ask(own, '/call/Greet', b)).toMatchObject({ status: 200 });
  writeFileSync(file, 'keys: [{name: b}]');
  await waitUntil('the mistake is reported', () =>
    own.output().includes('the key file has a mistake; the old keys stay'),
  );
  writeFileSync(file, 'default: {}');
  await waitUntil('the file without keys is refused', () => own.output().includes('has no list \\"keys\\"'));
  expect(await ask(own, '/call/Greet', b)).toMatchObject({ status: 200 });
  expect(await ask(own, '/call/Greet', undefined)).toMatchObject({ status: 403 });
  expect(await pids()).toEqual(before);
});

/** The seconds until the end of the window, from the header of an answer. */
function secondsLeft({ headers }: Answered): number {
  return Number(/"requests_per_minute";r=\d+;t=(\d+)/u.exec(headers.get('ratelimit') ?? '')?.[1]);
}

test('a limit counts over all workers, exactly', async () => {
  const [, , c = ''] = teams.keys;
  const answers: Answered[] = [];
  const loop = async (): Promise<void> => {
    while (answers.length < 3 * LIMIT) answers.push(await ask(server, '/call/Greet', c));
  };
  await Promise.all(Array.from({ length: 16 }, loop));
  // On a machine that is much too busy, a minute ends during the test: then the answers of a second window follow.
  const left = answers.map(secondsLeft);
  const windows = 1 + left.filter((seconds, index) => seconds > (left[index - 1] ?? 60) + 30).length;
  const allowed = answers.filter(({ status }) => status === 200).length;
  expect(allowed).toBeLessThanOrEqual(windows * LIMIT);
  expect(allowed).toBeGreaterThanOrEqual(0.98 * LIMIT);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body).toMatchObject({ error: 'rate_limited', limit_name: 'requests_per_minute' });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(refused?.headers.get('ratelimit-policy')).toBe(`"requests_per_minute";q=${LIMIT};qu="requests";w=60`);
  expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
  expect((await ask(server, '/call/Greet', PASSWORD)).headers.get('ratelimit')).toBeNull();
  expect(String((await ask(server, '/metrics', PASSWORD)).body)).toMatch(
    /svc_rate_limited_total\{key="team-c",limit="requests_per_minute"\} \d/u,
  );
});

test('/_debug/keys lists each key with its limits, what it used of them and its last use, and no key', async () => {
  const [a = '', b = ''] = teams.keys;
  const file = keyFile(
    readFileSync(teams.file, 'utf8')
      .replace('- name: team-a', '- limits: {requests_per_minute: 50, in_flight: 4, cost_per_day: 2}\n    name: team-a')
      .replace('- name: team-c', '- expires: 2020-01-31\n    name: team-c'),
  );
  const own = await start(['--keys', file, '--workers', '2'], { SVC_PASSWORD: PASSWORD });
  const before = Date.now();
  for (let call = 0; call < 5; call += 1) await ask(own, '/call/Greet', a);
  const keys = async (): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
    ((await ask(own, '/_debug/keys', PASSWORD)).body as { keys: [] }).keys;
  const used = async (): Promise<boolean> => (await keys()).slice(0, 2).every((key) => key['last_use'] !== null);
  await waitUntil('the heartbeats with the uses of both keys', used);
  const listed = await keys();
  expect(listed).toEqual([
    { name: 'default', state: 'active', functions: null, expires: null, last_use: expect.any(String), limits: {} },
    {
      name: 'team-a',
      state: 'active',
      functions: null,
      expires: null,
      last_use: expect.any(String),
      limits: {
        requests_per_minute: { limit: 50, used: 5, resets_in_seconds: expect.any(Number) },
        in_flight: { limit: 4, used: 0 },
        cost_per_day: { limit: 2, used: expect.any(Number), resets_in_seconds: expect.any(Number) },
      },
    },
    { name: 'team-b', state: 'active', functions: ['Gr*'], expires: null, last_use: null, limits: {} },
    {
      name: 'team-c',
      state: 'expired',
      functions: null,
      expires: '2020-02-01T00:00:00.000Z',
      last_use: null,
      limits: {},
    },
  ]);
  expect(Date.parse(String(listed[1]?.['last_use']))).toBeGreaterThanOrEqual(before);
  expect(JSON.stringify(listed)).not.toContain('sha256');
  expect(await ask(own, '/_debug/keys', b)).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
  expect(await ask(own, '/_debug/keys', undefined)).toMatchObject({ status: 403, body: { error: 'Unauthorized' } });
});

test('calls in flight count over all workers, and those of a worker that dies are free again', async () => {
  const [a = ''] = teams.keys;
  const gate = new AbortController();
  const opened = once(gate.signal, 'abort');
  fake.answer(async (request, wire) => {
    await opened;
    await reply('hello')(request, wire);
  });
  const statuses: number[] = [];
  const call = async (): Promise<void> => {
    const status = await ask(server, '/call/Wait', a).then(
      (answer) => answer.status,
      () => 0,
    );
    statuses.push(status);
  };
  const calls = Array.from({ length: 20 }, call);
  await waitUntil('all but four are refused', () => statuses.length === 16);
  expect(statuses).toEqual(Array.from({ length: 16 }, () => 429));
  await waitUntil('the model to be asked by the four', () => fake.requests.length === 4);
  const state = (await ask(server, '/_debug/status', PASSWORD)).body as {
    workers: Array<{ pid: number; state: string }>;
  };
  for (const { pid } of state.workers.filter((worker) => worker.state === 'serving')) process.kill(pid, 'SIGKILL');
  await waitUntil('the calls of the dead workers end', () => statuses.length === 20);
  expect(statuses.slice(16)).toEqual([0, 0, 0, 0]);
  fake.clear();
  fake.answer(reply('hello'));
  await waitUntil('all four places are free', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 4 }, () => ask(server, '/call/Wait', a)));
    return answers.every((answer) => answer.status === 'fulfilled' && answer.value.status === 200);
  });
  gate.abort();
  await Promise.all(calls);
});
