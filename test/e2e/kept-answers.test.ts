import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { reply, status } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder } from '../support/running-server.ts';
import { serveModel } from '../support/served-model.ts';
import { ONE_USE, readStream } from '../support/sse.ts';
import { RESUME_FILES } from './definitions.ts';

const WORKERS = 2;
const BODY = { text: 'hello', times: 2 };
const TEXT = 'HELLO HELLO';
const PASSWORD = 'open sesame, please';

const { fake, server, post } = await serveModel({
  files: { ...RESUME_FILES, ...cachedFiles('Describe') },
  flags: ['--workers', String(WORKERS)],
  answer: reply(TEXT),
});

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

interface CallOptions {
  /** The idempotency key. */
  readonly key?: string;
  /** The function. */
  readonly path?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Any worker can receive the call, because it has a connection of its own. */
async function call(url: string, { key, path = 'Shout', body = BODY, signal }: CallOptions): Promise<Answered> {
  const headers = { 'x-svc-api-key': PASSWORD, ...(key !== undefined && { 'idempotency-key': key }) };
  const response = await post(`call/${path}`, body, { url, headers, ...(signal && { signal }) });
  return { status: response.status, headers: response.headers, json: await response.json() };
}

/** Answers of the model that the test releases. */
function holdAnswers(text = TEXT): { readonly release: (behaviour?: ReturnType<typeof status>) => void } {
  const holds: Array<(behaviour: ReturnType<typeof status>) => void> = [];
  const released = new Promise<ReturnType<typeof status>>((resolve) => holds.push(resolve));
  fake.answer(async (request, wire) => (await released)(request, wire));
  return { release: (behaviour = reply(text)) => holds[0]?.(behaviour) };
}

/** The value of a metric without labels, or with exactly these. */
async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { ...ONE_USE, 'x-svc-api-key': PASSWORD } })).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? 0,
  );
}

/** Waits until one worker has a call in flight, and returns its process id. */
async function busyWorker(url: string): Promise<number> {
  let pid: number | undefined;
  await waitUntil('a worker with a call', async () => {
    const answer = await fetch(`${url}/_debug/status`, { headers: { ...ONE_USE, 'x-svc-api-key': PASSWORD } });
    const { workers } = (await answer.json()) as {
      readonly workers: ReadonlyArray<{ readonly pid: number; readonly in_flight: number }>;
    };
    pid = workers.find((worker) => worker.in_flight > 0)?.pid;
    return pid !== undefined;
  });
  return pid ?? 0;
}

/** Waits until this many calls of the server are in flight. */
function inFlight(url: string, calls: number): Promise<void> {
  return waitUntil(`${calls} calls in flight`, async () => {
    return (await metric(url, 'svc_requests_in_flight{route="call"}')) === calls;
  });
}

test('a hundred concurrent calls with one key reach the model once, in whichever workers they are', async () => {
  const model = holdAnswers();
  const all = Array.from({ length: 100 }, () => call(server.url, { key: 'hundred' }));
  await inFlight(server.url, 100);
  await waitUntil('99 calls that wait', async () => (await metric(server.url, 'svc_kept_answer_waits_total')) >= 99);
  await waitUntil('the call of the model', () => fake.requests.length === 1);
  model.release();
  const answers = await Promise.all(all);
  for (const { status: code, json } of answers) expect([code, json]).toEqual([200, TEXT]);
  expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(99);
  expect(fake.requests).toHaveLength(1);
  expect(await metric(server.url, 'svc_kept_answers')).toBe(1);
  expect(await metric(server.url, 'svc_kept_answer_bytes')).toBeGreaterThan(100);
});

test('another body with the same key gets 422 in every worker', async () => {
  await call(server.url, { key: 'bodies' });
  const others = await Promise.all(
    Array.from({ length: 20 }, () => call(server.url, { key: 'bodies', body: { ...BODY, times: 3 } })),
  );
  for (const { status: code, json } of others) {
    expect([code, json]).toEqual([422, expect.objectContaining({ error: 'idempotency_conflict' })]);
  }
  expect(fake.requests).toHaveLength(1);
});

test('when the first call fails, the next one runs, and the others get its answer', async () => {
  const model = holdAnswers();
  const first = call(server.url, { key: 'fails' });
  await waitUntil('the call of the model', () => fake.requests.length === 1);
  const others = Array.from({ length: 10 }, () => call(server.url, { key: 'fails' }));
  await inFlight(server.url, 11);
  fake.answer(reply(TEXT));
  model.release(status(400, { error: { message: 'no' } }));
  expect((await first).status).toBe(502);
  const answers = await Promise.all(others);
  for (const { json } of answers) expect(json).toBe(TEXT);
  expect(fake.requests).toHaveLength(2);
});

test('callers that leave while they wait disturb no one, and one that leaves while its call runs lets the next one run', async () => {
  const model = holdAnswers();
  const leaves = (): { readonly answer: Promise<Answered>; readonly caller: AbortController } => {
    const caller = new AbortController();
    return { answer: call(server.url, { key: 'leaves', signal: caller.signal }), caller };
  };
  const first = leaves();
  await waitUntil('the call of the model', () => fake.requests.length === 1);
  const waiting = Array.from({ length: 6 }, leaves);
  await inFlight(server.url, 7);
  const leavers = [...waiting.slice(0, 3), first];
  const left = leavers.map(({ answer }) => answer.catch(() => 'left'));
  for (const { caller } of waiting.slice(0, 3)) caller.abort();
  // Workers see their callers leave in any order, and one that the server still counts as waiting would run next.
  await inFlight(server.url, 4);
  expect(fake.requests).toHaveLength(1);
  first.caller.abort();
  expect(await Promise.all(left)).toEqual(Array(4).fill('left'));
  await waitUntil('the second call of the model', () => fake.requests.length === 2);
  model.release();
  for (const { answer } of waiting.slice(3)) expect((await answer).json).toBe(TEXT);
  expect(fake.requests).toHaveLength(2);
});

test('a stream replays the value of a call', async () => {
  const { json } = await call(server.url, { key: 'stream' });
  const headers = { 'idempotency-key': 'stream' };
  const stream = await readStream(`${server.url}/stream/Shout`, BODY, headers);
  expect(stream.headers.get('idempotency-replayed')).toBe('true');
  expect(stream.messages.map(({ data }) => data)).toEqual([{ partial_result: json }, { final_result: json }]);
  expect(fake.requests).toHaveLength(1);
});

/** Definitions with a client whose answers are kept, in a folder that a test can change. */
function cachedFiles(prompt: string): Record<string, string> {
  return {
    'main.svc': `
client<llm> Cached {
  provider openai-generic
  options {
    model local
    base_url env.PROVIDER_URL
    cache {
      ttl "10m"
    }
  }
}
class Person {
  name string
  age int
}
function Describe(person: Person, tags: map<string, int>) -> Person {
  client Cached
  prompt #"${prompt} {{ person.name }} {{ tags }} {{ ctx.output_format }}"#
}
`,
  };
}

const ADA = { name: 'Ada', age: 36 };
const DESCRIBE = { person: ADA, tags: { a: 1, b: 2 } };

/** Calls over a new connection, so that any worker can receive it. */
async function describe(url: string, body: unknown): Promise<{ readonly cache: unknown; readonly json: unknown }> {
  const { headers, json, status: code } = await call(url, { path: 'Describe', body });
  expect(code, JSON.stringify(json)).toBe(200);
  return { cache: headers.get('x-svc-cache'), json };
}

test('equal calls hit the cache in every worker, until the definitions change', async () => {
  const folder = temporaryFolder(cachedFiles('Describe'));
  const own = await startServer({
    from: folder,
    flags: ['--cache', '--workers', String(WORKERS)],
    env: { PROVIDER_URL: `${fake.url}/v1` },
  });
  onTestFinished(async () => void (await own.stop('SIGKILL')));
  fake.answer(reply(JSON.stringify(ADA)));
  const model = holdAnswers(JSON.stringify(ADA));
  const concurrent = Array.from({ length: 50 }, () => describe(own.url, DESCRIBE));
  await inFlight(own.url, 50);
  model.release();
  const outcomes = await Promise.all(concurrent);
  expect(outcomes.filter(({ cache }) => cache === 'hit')).toHaveLength(49);
  for (const { json } of outcomes) expect(json).toEqual(ADA);
  expect(fake.requests).toHaveLength(1);
  const reordered = { tags: { b: 2, a: 1 }, person: { age: 36, name: 'Ada' } };
  for (let at = 0; at < 12; at += 1) expect((await describe(own.url, reordered)).cache).toBe('hit');
  const { headers } = await call(own.url, { path: 'Describe', body: reordered });
  expect(headers.get('age')).toMatch(/^\d+$/u);
  expect(headers.get('x-svc-client')).toBe('Cached');
  expect(fake.requests).toHaveLength(1);

  const stream = await readStream(`${own.url}/stream/Describe`, reordered);
  expect(stream.headers.get('x-svc-cache')).toBe('hit');
  expect(stream.messages.map(({ data }) => data)).toEqual([{ partial_result: ADA }, { final_result: ADA }]);

  fake.answer(reply(JSON.stringify(ADA)));
  const variables = { ...DESCRIBE, svc_options: { env: { OTHER: 'x' } } };
  expect((await describe(own.url, variables)).cache).toBe('bypass');
  expect((await describe(own.url, variables)).cache).toBe('bypass');
  const other = { ...DESCRIBE, tags: { a: 1 } };
  expect((await describe(own.url, other)).cache).toBe('miss');
  expect((await describe(own.url, { ...other, svc_options: { cache: { ttl: '0' } } })).cache).toBe('bypass');
  expect(fake.requests).toHaveLength(5);

  writeFileSync(join(folder, 'main.svc'), cachedFiles('Describe shortly')['main.svc'] ?? '');
  own.child.kill('SIGHUP');
  await waitUntil('the reload', () => own.output().includes('all workers serve the new definitions'));
  // An old worker still answers once on each connection that is open.
  await waitUntil('a new worker', async () => (await describe(own.url, DESCRIBE)).cache === 'miss');
  expect((await describe(own.url, DESCRIBE)).cache).toBe('hit');
  expect(fake.requests).toHaveLength(6);
  expect(await own.stop()).toBe(0);
});

test('without --cache, the option of a client has no effect', async () => {
  fake.answer(reply(JSON.stringify(ADA)));
  for (let at = 0; at < 2; at += 1) expect((await describe(server.url, DESCRIBE)).cache).toBeNull();
  expect(fake.requests).toHaveLength(2);
  for (const { json } of fake.requests) expect(json).not.toHaveProperty('cache');
});

test('a worker that dies releases its call, and a waiting one runs', async () => {
  // The status still lists earlier calls for a moment, so only a new server shows which worker is busy.
  const own = await startServer({
    files: RESUME_FILES,
    flags: ['--workers', String(WORKERS)],
    env: { PROVIDER_URL: `${fake.url}/v1`, OPENAI_API_KEY: 'k', SVC_PASSWORD: PASSWORD },
  });
  onTestFinished(async () => void (await own.stop('SIGKILL')));
  const model = holdAnswers();
  const first = call(own.url, { key: 'dies' }).catch(() => 'cut');
  const owner = await busyWorker(own.url);
  await waitUntil('the first call of the model', () => fake.requests.length === 1);
  const others = Array.from({ length: 20 }, () => call(own.url, { key: 'dies' }).catch(() => 'cut'));
  await inFlight(own.url, 21);
  process.kill(owner, 'SIGKILL');
  expect(await first).toBe('cut');
  await waitUntil('the second call of the model', () => fake.requests.length === 2);
  model.release();
  const answers = await Promise.all(others);
  const finished = answers.filter((answer) => typeof answer !== 'string');
  expect(finished.length).toBeGreaterThan(0);
  for (const { json } of finished) expect(json).toBe(TEXT);
  expect(fake.requests).toHaveLength(2);
  expect(await own.stop()).toBe(0);
});

// It ends the server of the other tests.
test('a drain waits for the calls that wait for an answer', async () => {
  const model = holdAnswers();
  const all = Array.from({ length: 20 }, () => call(server.url, { key: 'drain' }));
  await inFlight(server.url, 20);
  const stopped = server.stop();
  await waitUntil('the drain', () => server.output().includes('stopping'));
  model.release();
  for (const { json } of await Promise.all(all)) expect(json).toBe(TEXT);
  expect(await stopped).toBe(0);
  expect(fake.requests).toHaveLength(1);
});
