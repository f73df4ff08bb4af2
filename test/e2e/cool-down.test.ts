import { beforeEach, expect, test } from 'vitest';
import { reply, status } from '../support/fake-provider.ts';
import { childrenOf, waitUntil } from '../support/load.ts';
import { serveModel } from '../support/served-model.ts';

const KEY = { 'x-svc-api-key': 'open sesame, please' };

/** Each test has clients of its own, because a cool-down lasts longer than a test. */
const TESTS = ['Shared', 'Short', 'Failing', 'Dying', 'Off'] as const;

type TestName = (typeof TESTS)[number];

function definitions(name: string): string {
  const client = (member: string) =>
    `client<llm> ${name}${member} {\n  provider openai-generic\n  options {\n    model "${name}${member}"\n    base_url env.PROVIDER_URL\n    cool_down_ms 300000\n  }\n}\n`;
  return `${client('A')}${client('B')}
client<llm> ${name} {
  provider fallback
  options {
    strategy [${name}A, ${name}B]
  }
}
function Ask${name}() -> string {
  client ${name}
  prompt #"x"#
}
function Direct${name}() -> string {
  client ${name}A
  prompt #"x"#
}
`;
}

/** The answers of the clients, by model; all others reply. */
const answers = new Map<string, ReturnType<typeof status>>();

const { fake, server, start, post } = await serveModel({
  files: { 'main.svc': TESTS.map(definitions).join('') },
  flags: ['--workers', '3'],
  env: { SVC_PASSWORD: KEY['x-svc-api-key'] },
  answer: (request, wire) => (answers.get(modelOf(request)) ?? reply('fine'))(request, wire),
});

beforeEach(() => answers.clear());

function modelOf({ json }: { readonly json: unknown }): string {
  return (json as { readonly model: string }).model;
}

/** Any worker can receive the call, because it has a connection of its own. Returns its status. */
async function call(name: `${'Ask' | 'Direct'}${TestName}`, { url } = server): Promise<number> {
  const response = await post(`call/${name}`, {}, { url, headers: KEY });
  await response.text();
  return response.status;
}

/** Makes calls, one after the other; returns how often the first client was asked. All calls succeed. */
async function askedOf(count: number, name: TestName, of = server): Promise<number> {
  const before = fake.requests.length;
  for (let at = 0; at < count; at += 1) expect(await call(`Ask${name}`, of)).toBe(200);
  return fake.requests.slice(before).filter((request) => modelOf(request) === `${name}A`).length;
}

interface ClientStatus {
  readonly name: string;
  readonly cooling_until: string | null;
}

async function coolingUntil(name: string): Promise<string | null | undefined> {
  const body = (await (await fetch(`${server.url}/_debug/status`, { headers: KEY })).json()) as {
    readonly clients: readonly ClientStatus[];
  };
  return body.clients.find((client) => client.name === name)?.cooling_until;
}

async function metric(series: string): Promise<number | undefined> {
  // A connection can lead to a worker that was just killed.
  const answer = await fetch(`${server.url}/metrics`, { headers: KEY }).catch(() => undefined);
  const text = (await answer?.text().catch(() => '')) ?? '';
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

function logLines(client: string): readonly Readonly<Record<string, unknown>>[] {
  return server
    .output()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{') && line.includes('cool'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter((line) => line['client'] === client);
}

test('after one 429 with retry-after, all workers pass over the client; the status, the metrics and the log show it', async () => {
  answers.set('SharedA', status(429, {}, { 'retry-after': '300' }));
  expect(await askedOf(1, 'Shared')).toBe(1);
  // The message to the other workers is on its way; each of them asks at most once before it arrives.
  await waitUntil('all workers to pass over the client', async () => (await askedOf(12, 'Shared')) === 0);
  expect(fake.requests.filter((request) => modelOf(request) === 'SharedA').length).toBeLessThanOrEqual(3);
  expect(Date.parse((await coolingUntil('SharedA')) ?? '')).toBeGreaterThan(Date.now());
  expect(await coolingUntil('SharedB')).toBeNull();
  expect(await metric('svc_client_cooling{client="SharedA"}')).toBe(1);
  expect(await metric('svc_client_cool_downs_total{client="SharedA",reason="retry_after"}')).toBe(1);
  await expect
    .poll(() => logLines('SharedA'))
    .toMatchObject([{ level: 'warn', reason: 'retry_after', forMs: 300_000 }]);
  // A function that names the client asks it.
  expect(await call('DirectShared')).toBe(502);
});

test('a worker that starts later passes over the client too', async () => {
  answers.set('DyingA', status(429, {}, { 'retry-after': '300' }));
  await askedOf(1, 'Dying');
  await waitUntil('all workers to pass over the client', async () => (await askedOf(12, 'Dying')) === 0);
  const before = childrenOf(server.child.pid ?? 0);
  for (const victim of before) process.kill(victim, 'SIGKILL');
  await waitUntil('new workers', async () => {
    const now = childrenOf(server.child.pid ?? 0);
    return now.length >= 4 && !now.some((pid) => before.includes(pid)) && (await metric('svc_workers')) === 3;
  });
  expect(await askedOf(24, 'Dying')).toBe(0);
});

test('when its time is over, the client is asked again, and comes back', async () => {
  answers.set('ShortA', status(503, {}, { 'retry-after': '1' }));
  expect(await askedOf(1, 'Short')).toBe(1);
  await waitUntil('the begin', async () => (await metric('svc_client_cooling{client="ShortA"}')) === 1);
  answers.clear();
  await waitUntil('the client to be asked again', async () => (await askedOf(1, 'Short')) === 1);
  await waitUntil('all workers to ask the client', async () => (await askedOf(12, 'Short')) === 12);
  await waitUntil('the end', async () => (await coolingUntil('ShortA')) === null);
  expect(await metric('svc_client_cooling{client="ShortA"}')).toBe(0);
  await expect.poll(() => logLines('ShortA').map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('a client that keeps failing costs each worker five attempts, and no call', async () => {
  answers.set('FailingA', status(500, {}));
  await waitUntil('all workers to pass over the client', async () => (await askedOf(12, 'Failing')) === 0);
  expect(fake.requests.filter((request) => modelOf(request) === 'FailingA').length).toBeLessThanOrEqual(15);
  expect(await metric('svc_client_cooling{client="FailingA"}')).toBe(1);
});

test('with --cool-down off, each call asks the client', async () => {
  const off = await start('--workers', '1', '--cool-down', 'off');
  try {
    answers.set('OffA', status(429, {}, { 'retry-after': '300' }));
    expect(await askedOf(12, 'Off', off)).toBe(12);
  } finally {
    await off.stop();
  }
});
