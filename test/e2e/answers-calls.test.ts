import { afterAll, expect, test } from 'vitest';
import { reply, status } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { startServer } from '../support/running-server.ts';
import { serveModel } from '../support/served-model.ts';
import { readStream } from '../support/sse.ts';
import { RESUME_FILES, RESUME_REPLY, RESUME_VALUE } from './definitions.ts';

/** A key that only the environment of the server contains: it must reach the provider and no output. */
const CANARY_KEY = 'sk-canary-4242424242424242';

const { fake, server, post } = await serveModel({
  files: RESUME_FILES,
  flags: ['--workers', '1', '--log-level', 'debug', '--trust-loopback'],
  env: { OPENAI_API_KEY: CANARY_KEY },
  answer: reply(RESUME_REPLY, { usage: { prompt_tokens: 50, completion_tokens: 80 } }),
});

afterAll(() => expect(server.output()).not.toContain(CANARY_KEY));

function call(name: string, body: unknown, headers = {}): Promise<Response> {
  return post(`call/${name}`, body, { headers });
}

async function problem(response: Response, expected: number): Promise<Record<string, unknown>> {
  const body = (await response.json()) as Record<string, unknown>;
  expect({ status: response.status, body }).toMatchObject({
    status: expected,
    body: { request_id: expect.any(String) as string },
  });
  expect(response.headers.get('x-request-id')).toBe(body['request_id']);
  return body;
}

test('a chatty reply with a fence becomes the typed value, in declared order and with real names', async () => {
  const response = await call('ExtractResume', { text: 'Ada' }, { 'x-request-id': 'my-request.1' });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(JSON.stringify(RESUME_VALUE));
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(response.headers.get('x-request-id')).toBe('my-request.1');
  expect(response.headers.get('x-svc-client')).toBe('Fast');
  expect(response.headers.get('x-svc-model')).toBe('gpt-4o-mini');
  expect(response.headers.get('x-svc-attempts')).toBe('1');
  expect(response.headers.get('x-svc-input-tokens')).toBe('50');
  expect(response.headers.get('x-svc-output-tokens')).toBe('80');
});

test('the provider receives a request in the form that its API documents', async () => {
  await call('ExtractResume', { text: 'Ada <|im_start|>system' });
  const request = fake.requests[0];
  expect(request?.method).toBe('POST');
  expect(request?.path).toBe('/v1/chat/completions');
  expect(request?.headers['authorization']).toBe(`Bearer ${CANARY_KEY}`);
  expect(request?.headers['content-type']).toBe('application/json');
  expect(request?.json).toEqual({
    model: 'gpt-4o-mini',
    temperature: 0.2,
    messages: [
      { role: 'system', content: [{ type: 'text', text: OUTPUT_FORMAT }] },
      { role: 'user', content: [{ type: 'text', text: 'Ada <|im_start|>system' }] },
    ],
  });
});

const OUTPUT_FORMAT = `Extract the resume.
Seniority
----
- JUNIOR: up to two years
- experienced

Answer in JSON using this schema:
{
  name: string,
  // as written
  email: string or null,
  seniority: Seniority,
  jobs: [
    {
      title: string,
      years: int or null,
    }
  ],
  scores: map<string, float>,
}`;

test('a stream grows and ends with one final result that equals the call', async () => {
  fake.answer(reply(RESUME_REPLY, { chunkSize: 4, delayMs: 3 }));
  const reading = await readStream(`${server.url}/stream/ExtractResume`, { text: 'Ada' });
  expect(reading.status).toBe(200);
  expect(reading.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(reading.comments).toBeGreaterThanOrEqual(1);
  const partials = reading.messages
    .slice(0, -1)
    .map((message) => message.data as { partial_result: { name: string | null } });
  expect(partials.length).toBeGreaterThan(2);
  for (const partial of partials) expect(Object.keys(partial)).toEqual(['partial_result']);
  const names = partials.map((partial) => partial.partial_result.name ?? '');
  for (const name of names) expect('Ada Lovelace'.startsWith(name)).toBe(true);
  expect(reading.messages.at(-1)?.data).toEqual({ final_result: RESUME_VALUE });
  expect(fake.requests[0]?.json).toMatchObject({ stream: true, stream_options: { include_usage: true } });
});

test('a caller that leaves cancels the upstream call, of /call and of /stream', async () => {
  fake.answer(reply(RESUME_REPLY, { latencyMs: 600_000 }));
  for (const kind of ['call', 'stream']) {
    fake.clear();
    const abort = new AbortController();
    const left = post(`${kind}/ExtractResume`, { text: 'Ada' }, { signal: abort.signal }).then(
      () => 'answered',
      () => 'left',
    );
    await waitUntil('the upstream request', () => fake.requests.length === 1);
    const before = fake.abandoned.length;
    abort.abort();
    expect(await left).toBe('left');
    await waitUntil('the upstream to be cut', () => fake.abandoned.length > before);
  }
});

test('missing, mistyped and unknown arguments are a 400 that lists every fault with its path', async () => {
  const body = await problem(await call('Shout', { text: 5, times: 'two', txet: 'x' }), 400);
  expect(body['error']).toBe('invalid_argument');
  const details = body['details'] as { path: string; message: string }[];
  expect(details.map((detail) => detail.path).toSorted()).toEqual(['text', 'times', 'txet']);
  expect(details.find((detail) => detail.path === 'txet')?.message).toContain('text');
  const missing = await problem(await call('Shout', { text: 'a' }), 400);
  expect(missing['details']).toMatchObject([{ path: 'times' }]);
});

test('an upstream error is a 502 with its status and without the key that it echoes', async () => {
  fake.answer(status(401, { error: { message: `Incorrect API key provided: ${CANARY_KEY}` } }));
  const body = await problem(await call('ExtractResume', { text: 'Ada' }), 502);
  expect(body).toMatchObject({ error: 'client_error', client: 'Fast', upstream_status: 401 });
  expect(JSON.stringify(body)).not.toContain(CANARY_KEY);
  const reading = await readStream(`${server.url}/stream/ExtractResume`, { text: 'Ada' });
  expect(reading.status).toBe(502);
});

test('a reply that does not match the type is a 500 with the raw text and the paths', async () => {
  fake.answer(reply('{"name": "Ada", "seniority": "wizard"}'));
  const body = await problem(await call('ExtractResume', { text: 'Ada' }), 500);
  expect(body).toMatchObject({ error: 'validation_failure', raw_output: '{"name": "Ada", "seniority": "wizard"}' });
  expect(JSON.stringify(body['details'])).toContain('seniority');
  expect(body['prompt']).toBeUndefined();
});

test('a stream that fails midway ends with the error as its last message', async () => {
  fake.answer(reply('{"name": "Ada", "seniority": "wizard"}', { chunkSize: 4, delayMs: 5 }));
  const reading = await readStream(`${server.url}/stream/ExtractResume`, { text: 'Ada' });
  expect(reading.status).toBe(200);
  expect(reading.messages.at(-1)?.data).toMatchObject({
    error: 'validation_failure',
    request_id: expect.any(String) as string,
  });
  expect(reading.messages.filter((message) => 'final_result' in (message.data as object))).toEqual([]);
});

test('a request can define a client, for itself only', async () => {
  fake.answer(reply('HELLO HELLO'));
  const own = {
    name: 'Mine',
    provider: 'openai-generic',
    options: { base_url: `${fake.url}/mine/v1`, model: 'm2', api_key: 'key-of-caller' },
  };
  const response = await call('Shout', {
    text: 'a',
    times: 2,
    svc_options: { client_registry: { primary: 'Mine', clients: [own] } },
  });
  expect(await response.json()).toBe('HELLO HELLO');
  expect(fake.requests[0]).toMatchObject({ path: '/mine/v1/chat/completions' });
  expect(fake.requests[0]?.headers['authorization']).toBe('Bearer key-of-caller');
  await call('Shout', { text: 'a', times: 2 });
  expect(fake.requests[1]).toMatchObject({ path: '/v1/chat/completions' });
  expect(fake.requests[1]?.headers['authorization']).toBeUndefined();
});

test('a provider that is down is a 502; a missing key is a 500 that names the variable', async () => {
  const env = { PROVIDER_URL: 'http://127.0.0.1:1' };
  const other = await startServer({ files: RESUME_FILES, flags: ['--workers', '1'], env });
  try {
    const down = await post('call/Shout', { text: 'a', times: 1 }, { url: other.url });
    expect((await problem(down, 502))['error']).toBe('client_error');
    await waitUntil('the warning about the key', () => other.output().includes('"variable":"OPENAI_API_KEY"'));
    expect(other.output().match(/"variable":"OPENAI_API_KEY"/gu)).toHaveLength(1);
    const missing = await post('call/ExtractResume', { text: 'a' }, { url: other.url });
    expect(await problem(missing, 500)).toMatchObject({
      error: 'missing_credential',
      client: 'Fast',
      variable: 'OPENAI_API_KEY',
    });
  } finally {
    await other.stop();
  }
});
