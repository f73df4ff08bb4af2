import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { reply, status } from '../support/fake-provider.ts';
import { startServer } from '../support/running-server.ts';
import { serveModel } from '../support/served-model.ts';
import { readStream } from '../support/sse.ts';
import { RESUME_FILES } from './definitions.ts';

const ARGUMENTS = { text: 'hello', times: 2 };
const TEXT = 'HELLO HELLO';
const USAGE = { input_tokens: 50, output_tokens: 80 };
const CLIENT = { name: 'Generic', model: 'local', finish_reason: 'stop' };
const ATTEMPTS = [{ client: 'Generic', outcome: 'ok', duration_ms: expect.any(Number) as number, ...USAGE }];
const TENTHS = expect.toSatisfy((ms: unknown) => typeof ms === 'number' && Number(ms.toFixed(1)) === ms) as number;
const TIMING = { model_ms: TENTHS, total_ms: TENTHS };
const STREAM_TIMING = { ...TIMING, first_text_ms: TENTHS };
const PROMPT = [{ role: 'system', parts: [{ kind: 'text', text: 'Say HELLO 2 times.' }] }];
const REASONING = 'Louder.';
const META = {
  usage: USAGE,
  client: CLIENT,
  attempts: ATTEMPTS,
  raw: TEXT,
  reasoning: REASONING,
  prompt: PROMPT,
  timing: TIMING,
};

const { fake, server, post } = await serveModel({
  files: RESUME_FILES,
  flags: ['--workers', '1', '--expose-prompts'],
  answer: reply(TEXT, { reasoning: REASONING, usage: { prompt_tokens: 50, completion_tokens: 80 } }),
});

function call(body: unknown, url = server.url): Promise<Response> {
  return post('call/Shout', body, { url });
}

async function lastMessage(body: unknown): Promise<unknown> {
  const { messages } = await readStream(`${server.url}/stream/Shout`, body);
  return messages.at(-1)?.data;
}

test.each(['svc_options', '__baml_options__'])('%s can ask for every fact about a call', async (key) => {
  const response = await call({ ...ARGUMENTS, [key]: { include: Object.keys(META) } });
  expect(await response.json()).toEqual({ result: TEXT, meta: META });
  expect(response.headers.get('x-svc-client')).toBe('Generic');
});

test.each(Object.entries(META))(
  'a call and a stream have %s alone if nothing else is asked for',
  async (part, fact) => {
    const body = { ...ARGUMENTS, svc_options: { include: [part] } };
    expect(await (await call(body)).json()).toEqual({ result: TEXT, meta: { [part]: fact } });
    const meta = { [part]: part === 'timing' ? STREAM_TIMING : fact };
    expect(await lastMessage(body)).toEqual({ final_result: TEXT, meta });
  },
);

test('a stream has warnings beside the value, and everything else in meta', async () => {
  const body = { ...ARGUMENTS, svc_options: { include: ['warnings', ...Object.keys(META)] } };
  const meta = { ...META, timing: STREAM_TIMING };
  expect(await lastMessage(body)).toEqual({ final_result: TEXT, warnings: [], meta });
});

test('a stream sends the reasoning before the partials, if it is asked for', async () => {
  const { messages } = await readStream(`${server.url}/stream/Shout`, {
    ...ARGUMENTS,
    svc_options: { include: ['reasoning'] },
  });
  const data = messages.map((message) => message.data as Record<string, unknown>);
  expect(data[0]).toEqual({ reasoning: REASONING });
  expect(data.filter((each) => 'reasoning' in each)).toHaveLength(1);
  expect(data.at(-1)).toEqual({ final_result: TEXT, meta: { reasoning: REASONING } });
});

test('without include, the answers are bare', async () => {
  for (const options of [{}, { svc_options: {} }, { svc_options: { include: [] } }]) {
    expect(await (await call({ ...ARGUMENTS, ...options })).text()).toBe(JSON.stringify(TEXT));
    expect(await lastMessage({ ...ARGUMENTS, ...options })).toEqual({ final_result: TEXT });
  }
});

test('usage has each count of tokens that the provider reports', async () => {
  const usage = {
    prompt_tokens: 50,
    completion_tokens: 80,
    prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10, audio_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 60, audio_tokens: 0 },
  };
  fake.answer(reply(TEXT, { usage }));
  const body = { ...ARGUMENTS, svc_options: { include: ['usage'] } };
  const counts = {
    ...USAGE,
    cached_input_tokens: 40,
    cache_written_input_tokens: 10,
    reasoning_tokens: 60,
    audio_input_tokens: 5,
    audio_output_tokens: 0,
  };
  expect(await (await call(body)).json()).toEqual({ result: TEXT, meta: { usage: counts } });
  expect(await lastMessage(body)).toEqual({ final_result: TEXT, meta: { usage: counts } });
});

test('an error keeps its form', async () => {
  fake.answer(status(401, 'no'));
  const body = (await (await call({ ...ARGUMENTS, svc_options: { include: ['usage'] } })).json()) as object;
  expect(body).toMatchObject({ error: 'client_error', attempts: [{ client: 'Generic' }] });
  expect(body).not.toHaveProperty('meta');
});

test('the documented example is an answer', async () => {
  const docs = readFileSync('docs/http.md', 'utf8');
  const [, include = '', answer = ''] = /For `"svc_options": (.*)`:\n\n```json\n(\{[^]*?\n\})\n```/u.exec(docs) ?? [];
  const { result, meta } = JSON.parse(answer) as { result: string; meta: Record<string, object> };
  const response = await call({ ...ARGUMENTS, svc_options: JSON.parse(include) as unknown });
  const sent = await response.text();
  expect(JSON.parse(sent)).toEqual({ result, meta: { ...meta, attempts: ATTEMPTS, timing: TIMING } });
  expect(meta).toMatchObject({ attempts: ATTEMPTS, timing: TIMING });
  expect(Object.keys((JSON.parse(sent) as { meta: object }).meta)).toEqual(Object.keys(meta));
});

test('without --expose-prompts, a request for the prompt or the reply is refused with the flag to set', async () => {
  const own = await startServer({
    files: RESUME_FILES,
    flags: ['--workers', '1'],
    env: { PROVIDER_URL: `${fake.url}/v1` },
  });
  for (const part of ['raw', 'reasoning', 'prompt']) {
    const response = await call({ ...ARGUMENTS, svc_options: { include: ['usage', part] } }, own.url);
    expect(response.status).toBe(400);
    const message = expect.stringContaining('--expose-prompts') as string;
    expect(await response.json()).toMatchObject({
      error: 'invalid_options',
      details: [{ path: 'svc_options.include[1]', message }],
    });
  }
  expect(fake.requests).toEqual([]);
  expect(await own.stop()).toBe(0);
});
