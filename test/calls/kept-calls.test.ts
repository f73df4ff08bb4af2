import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { CallPage, KeptCall } from '../../src/schema/kept-call.ts';
import { reply, startFakeProvider, status, type FakeProvider } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import {
  runSvc,
  startServer,
  temporaryFolder,
  type RunningServer,
  type ServerOptions,
} from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';
import { SQLITE_PATH } from './databases.ts';

const SOURCE = `class Invoice {
  total float
  items string[]
}

client<llm> Fast {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
    model "small"
    api_key env.OPENAI_API_KEY
  }
}

function ReadInvoice(text: string) -> Invoice {
  client Fast
  prompt #"Read {{ text }} {{ ctx.output_format }}"#
}
`;

const ANSWER = '{"total": 12.5, "items": ["paper"]}';
const KEY = 'sk-of-the-provider-0123456789';

async function serve(
  options: ServerOptions = {},
): Promise<{ fake: FakeProvider; server: RunningServer; file: string }> {
  const fake = await startFakeProvider();
  fake.answer(reply(ANSWER, { usage: { prompt_tokens: 50, completion_tokens: 8 } }));
  const folder = temporaryFolder({ 'svc_src/invoice.svc': SOURCE });
  const file = join(folder, 'calls.db');
  const server = await startServer({
    cwd: folder,
    ...options,
    flags: [
      ...(options.command === 'dev' ? [] : ['--workers', '1', '--playground']),
      '--calls',
      `sqlite:${file}`,
      '--host',
      '127.0.0.1',
      ...(options.flags ?? []),
    ],
    env: { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: KEY, ...SQLITE_PATH, ...options.env },
  });
  onTestFinished(async () => {
    await server.stop();
    await fake.close();
  });
  return { fake, server, file };
}

const as = (name: string) => ({ 'x-svc-api-key': `key-of-${name}-0123456789` });

function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const init = { 'content-type': 'application/json', ...headers };
  return fetch(url, { method: 'POST', headers: init, body: JSON.stringify(body) });
}

async function page(server: RunningServer, query = ''): Promise<CallPage> {
  return (await (await fetch(`${server.url}/playground/calls${query}`)).json()) as CallPage;
}

/** Waits until so many calls are kept, and returns them in full, the oldest first. */
async function kept(server: RunningServer, count: number): Promise<readonly KeptCall[]> {
  let calls: CallPage['calls'] = [];
  await waitUntil('calls are kept', async () => {
    ({ calls } = await page(server));
    return calls.length >= count;
  });
  const full = calls.map(async ({ seq }) => (await fetch(`${server.url}/playground/calls/${seq}`)).json());
  return ((await Promise.all(full)) as KeptCall[]).toReversed();
}

test('keeps calls, streams, failures and refusals, without credentials', async () => {
  const { fake, server, file } = await serve();
  await post(
    `${server.url}/call/ReadInvoice`,
    { text: `of ${KEY}`, svc_options: { tags: { customer: '42' } } },
    { 'x-request-id': 'one' },
  );
  await readStream(`${server.url}/stream/ReadInvoice`, { text: 'two' });
  fake.answer(status(500, { error: { message: 'down' } }));
  await post(`${server.url}/call/ReadInvoice`, { text: 'three' });
  await post(`${server.url}/call/ReadInvoice`, { txt: 'four' });
  await post(`${server.url}/call/Unknown`, {});
  const [called, streamed, failed, refused, ...more] = await kept(server, 4);
  expect(more).toEqual([]);
  expect(called).toMatchObject({
    requestId: 'one',
    functionName: 'ReadInvoice',
    route: 'call',
    status: 200,
    error: null,
    client: 'Fast',
    model: 'small',
    attempts: 1,
    inputTokens: 50,
    outputTokens: 8,
    tags: { customer: '42' },
    feedback: [],
  });
  expect(called?.content).toMatchObject({
    value: { total: 12.5, items: ['paper'] },
    reply: ANSWER,
    finishReason: 'stop',
    attempts: [{ client: 'Fast', outcome: 'ok', input_tokens: 50, output_tokens: 8 }],
  });
  expect(JSON.stringify(called?.content?.prompt)).toContain('Read of');
  expect(JSON.stringify(called?.content?.args)).toContain('of ');
  expect(streamed).toMatchObject({ route: 'stream', status: 200, firstTextMs: expect.any(Number) as number });
  expect(streamed?.content).toMatchObject({ args: { text: 'two' }, value: { total: 12.5, items: ['paper'] } });
  expect(failed).toMatchObject({
    status: 502,
    error: 'client_error',
    content: { args: { text: 'three' }, message: expect.stringContaining('500') as string },
  });
  expect(failed?.content).not.toHaveProperty('value');
  expect(refused).toMatchObject({
    status: 400,
    error: 'invalid_argument',
    attempts: 0,
    content: { args: { txt: 'four' } },
  });
  await server.stop();
  expect(readFileSync(file).includes(KEY)).toBe(false);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.each([
  ['none', null],
  ['values', { args: { text: 'x' }, value: { total: 12.5, items: ['paper'] } }],
])('--calls-content %s keeps no more than that', async (content, expected) => {
  const { server } = await serve({ flags: ['--calls-content', content] });
  await post(`${server.url}/call/ReadInvoice`, { text: 'x' });
  const [call] = await kept(server, 1);
  expect(call?.content).toEqual(expected);
  expect(call).toMatchObject({ functionName: 'ReadInvoice', inputTokens: 50 });
});

test('feedback is stored with the newest call of this id, and refused for others', async () => {
  const { server } = await serve();
  await post(`${server.url}/call/ReadInvoice`, { text: 'x' }, { 'x-request-id': 'rated' });
  // At once: the call can still be on its way.
  const stored = await post(`${server.url}/feedback/rated`, {
    score: 0,
    label: 'bad',
    comment: 'the total',
    value: { total: 13 },
  });
  expect([stored.status, await stored.json()]).toEqual([200, { stored: true }]);
  expect((await post(`${server.url}/feedback/other`, { score: 0 })).status).toBe(404);
  for (const body of [{}, { score: 'good' }, { scores: 1 }, { label: '' }, { comment: 'x'.repeat(20_001) }]) {
    const refused = await post(`${server.url}/feedback/rated`, body);
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([400, 'invalid_argument']);
  }
  expect((await fetch(`${server.url}/feedback/rated`)).status).toBe(405);
  const [call] = await kept(server, 1);
  const { at } = call?.feedback[0] ?? { at: 0 };
  expect(call).toMatchObject({ score: 0, label: 'bad' });
  expect(call?.feedback).toEqual([
    { at, key: null, score: 0, label: 'bad', comment: 'the total', value: { total: 13 } },
  ]);
});

test('pages of other origins reach no kept call', async () => {
  const { server } = await serve({ command: 'dev' });
  await post(`${server.url}/call/ReadInvoice`, { text: 'x' }, { 'x-request-id': 'own' });
  const [call] = await kept(server, 1);
  const origin = { origin: 'https://attacker.example' };
  const seq = call?.seq;
  expect((await fetch(`${server.url}/playground/calls`, { headers: origin })).status).toBe(403);
  expect((await fetch(`${server.url}/playground/calls/${seq}`, { headers: origin })).status).toBe(403);
  expect((await post(`${server.url}/playground/calls/${seq}/test`, { name: 'x' }, origin)).status).toBe(403);
  expect((await post(`${server.url}/feedback/own`, { score: 1 }, origin)).status).toBe(403);
  const name = '../x';
  expect((await post(`${server.url}/playground/calls/${seq}/test`, { name })).status).toBe(400);
});

test('a key reads and rates only what it may', async () => {
  const keys = ['team-a', 'team-b', 'all'].map((name) => ({
    name,
    sha256: hash('sha256', `key-of-${name}-0123456789`),
    ...(name !== 'all' && { functions: ['Read*'] }),
  }));
  const file = join(temporaryFolder({ 'keys.json': JSON.stringify({ keys }) }), 'keys.json');
  const { server } = await serve({ flags: ['--keys', file] });
  await post(`${server.url}/call/ReadInvoice`, { text: 'x' }, { ...as('team-a'), 'x-request-id': 'of-a' });
  expect((await post(`${server.url}/feedback/of-a`, { score: 1 }, as('team-b'))).status).toBe(404);
  expect((await post(`${server.url}/feedback/of-a`, { score: 1 }, as('team-a'))).status).toBe(200);
  expect((await post(`${server.url}/feedback/of-a`, { score: 1 })).status).toBe(403);
  expect((await fetch(`${server.url}/playground/calls`)).status).toBe(403);
  expect((await fetch(`${server.url}/playground/calls`, { headers: as('team-a') })).status).toBe(403);
  const listed = await fetch(`${server.url}/playground/calls`, { headers: as('all') });
  expect(((await listed.json()) as CallPage).calls).toMatchObject([{ requestId: 'of-a', key: 'team-a', score: 1 }]);
});

test('pages are filtered, and charts are sums', async () => {
  const { server } = await serve();
  for (const text of ['one', 'two', 'three'])
    await post(`${server.url}/call/ReadInvoice`, { text }, { 'x-request-id': text });
  await kept(server, 3);
  expect((await page(server, '?text=two')).calls.map(({ requestId }) => requestId)).toEqual(['two']);
  expect(await page(server, '?function=Other')).toEqual({
    calls: [],
    next: null,
    searchedTo: expect.any(Number) as number,
    dropped: 0,
  });
  const first = await page(server, '?limit=2');
  expect(first.calls.map(({ requestId }) => requestId)).toEqual(['three', 'two']);
  const rest = await page(server, `?limit=2&before=${first.next}`);
  expect([rest.calls.map(({ requestId }) => requestId), rest.next]).toEqual([['one'], null]);
  expect((await fetch(`${server.url}/playground/calls?tag=x`)).status).toBe(400);
  expect((await fetch(`${server.url}/playground/calls/99999`)).status).toBe(404);
  expect((await fetch(`${server.url}/playground/calls/x`)).status).toBe(404);
  const charts = await (await fetch(`${server.url}/playground/charts?interval=3600000`)).json();
  const { series } = charts as { series: { functionName: string; points: { calls: number }[] }[] };
  expect(series.map(({ functionName }) => functionName)).toEqual(['ReadInvoice']);
  expect(series[0]?.points.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
});

test('a server that is killed loses the calls of the last second at most', async () => {
  const { server, file } = await serve();
  for (let call = 0; call < 50; call += 1) await post(`${server.url}/call/ReadInvoice`, { text: String(call) });
  await sleep(1_000);
  server.child.kill('SIGKILL');
  await sleep(500);
  const listed = await runSvc(['calls', 'list', '--calls', `sqlite:${file}`, '--limit', '100'], SQLITE_PATH);
  expect(listed.stdout.trim().split('\n')).toHaveLength(51);
});

test('a drain writes every call', async () => {
  const { server, file } = await serve();
  for (let call = 0; call < 20; call += 1) await post(`${server.url}/call/ReadInvoice`, { text: String(call) });
  expect(await server.stop()).toBe(0);
  const listed = await runSvc(['calls', 'list', '--calls', `sqlite:${file}`], SQLITE_PATH);
  expect(listed.stdout.trim().split('\n')).toHaveLength(21);
});

test('a call becomes a test with a recorded reply, which fails until the prompt is right', async () => {
  const { fake, server, file } = await serve({ command: 'dev' });
  await post(`${server.url}/call/ReadInvoice`, { text: 'Total: "13" €\nof May' }, { 'x-request-id': 'wrong' });
  await post(`${server.url}/feedback/wrong`, { value: { total: 13, items: ['paper'] } });
  const [call] = await kept(server, 1);
  const saved = await post(`${server.url}/playground/calls/${call?.seq}/test`, { name: 'of_may' });
  const { test: block, path, recording } = (await saved.json()) as { test: string; path: string; recording: string };
  expect(block).toContain('@@assert({{ this.total == 13 }})');
  expect(block).toContain('@@assert({{ this.items|length == 1 }})');
  expect([path, recording]).toEqual([
    'svc_src/saved_tests.svc',
    expect.stringMatching(/^recordings\/ReadInvoice\.Fast\./u),
  ]);
  const again = await post(`${server.url}/playground/calls/${call?.seq}/test`, { name: 'of_may' });
  expect([again.status, ((await again.json()) as { message: string }).message]).toEqual([
    400,
    expect.stringContaining('of_may'),
  ]);
  const cwd = join(file, '..');
  const env = { ...SQLITE_PATH, PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: KEY };
  const replayed = await runSvc(['test', '--replay', 'recordings', '--name', 'of_may'], env, cwd);
  expect([replayed.code, replayed.stdout]).toEqual([1, expect.stringContaining('this.total == 13')]);
  fake.answer(reply('{"total": 13, "items": ["paper"]}'));
  const recorded = await runSvc(['test', '--record', 'recordings', '--name', 'of_may'], env, cwd);
  expect(recorded.code).toBe(0);
  expect((await runSvc(['test', '--replay', 'recordings'], env, cwd)).code).toBe(0);
});

test('svc calls shows, saves and exports', async () => {
  const { fake, server, file } = await serve();
  await post(`${server.url}/call/ReadInvoice`, { text: 'one' }, { 'x-request-id': 'one' });
  fake.answer(status(500, {}));
  await post(`${server.url}/call/ReadInvoice`, { text: '=2' }, { 'x-request-id': 'two' });
  await kept(server, 2);
  const cwd = join(file, '..');
  const calls = (...args: readonly string[]) =>
    runSvc(['calls', ...args, '--calls', `sqlite:${file}`], SQLITE_PATH, cwd);
  expect(JSON.parse((await calls('show', 'one')).stdout)).toMatchObject({
    id: 'one',
    value: { total: 12.5 },
    reply: ANSWER,
  });
  expect((await calls('show', 'three')).code).toBe(1);
  const chat = await calls('export', '--format', 'chat');
  expect(
    chat.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    {
      messages: [
        { role: expect.any(String) as string, content: expect.stringContaining('Read one') as string },
        { role: 'assistant', content: ANSWER },
      ],
    },
  ]);
  expect(chat.stderr).toContain('exported 1 call; 1 other call');
  const csv = (await calls('export', '--format', 'csv')).stdout.trim().split('\n');
  expect(csv).toHaveLength(3);
  expect(csv[0]).toMatch(/^id,time,function/u);
  expect((await calls('list', '--error', 'any')).stdout).toContain('client_error');
  const saved = await calls('save', 'one', '--name', 'first');
  expect([saved.code, saved.stdout]).toEqual([0, expect.stringContaining('test first {')]);
  expect((await runSvc(['check'], {}, cwd)).code).toBe(0);
  for (const args of [['lst'], ['show'], ['list', 'x'], ['save', 'one']]) expect((await calls(...args)).code).toBe(2);
});

test('a server without --calls says why it takes no feedback', async () => {
  const { server } = await serve({ flags: ['--calls', 'off'] });
  const answer = await post(`${server.url}/feedback/any`, { score: 1 });
  const { message } = (await answer.json()) as { message: string };
  expect([answer.status, message]).toEqual([404, expect.stringContaining('--calls') as string]);
});

test('svc test --data runs a function on kept calls, with the values that feedback calls right', async () => {
  const { fake, server, file } = await serve();
  for (const [id, total] of [
    ['right', 12.5],
    ['wrong', 13],
  ] as const) {
    await post(
      `${server.url}/call/ReadInvoice`,
      { text: id, svc_options: { tags: { a: 'b' } } },
      { 'x-request-id': id },
    );
    await post(`${server.url}/feedback/${id}`, { label: id, value: { total, items: ['paper'] } });
  }
  await post(`${server.url}/call/ReadInvoice`, { text: 'unrated' });
  await kept(server, 3);
  const env = { ...SQLITE_PATH, PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: KEY };
  const data = (query: string, ...more: readonly string[]) =>
    runSvc(['test', '--data', `calls:${query}`, '--calls', `sqlite:${file}`, ...more], env, join(file, '..'));
  const rated = await data('feedback=any&since=1d', '--format', 'json', '--copy', 'label');
  expect(rated.code).toBe(1);
  expect(rated.stdout).toContain('"label": "wrong"');
  expect((await data('feedback=right')).code).toBe(0);
  expect((await data('limit=3', '--pass-rate', '60%')).code).toBe(0);
  const none = await data('client=Other');
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('no calls of ReadInvoice')]);
  const unknown = await data('clint=Other');
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Did you mean "client"?')]);
});
