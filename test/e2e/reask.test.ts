import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import type { Behaviour } from '../support/fake-wire.ts';
import { waitUntil } from '../support/load.ts';
import { serveModel } from '../support/served-model.ts';
import { readStream } from '../support/sse.ts';

const VALID = reply('{"name": "Ada", "age": 36}', { usage: { prompt_tokens: 40, completion_tokens: 5 } });
const INVALID = reply('{"name": "Bob"}', { usage: { prompt_tokens: 20, completion_tokens: 4 } });
/** Answers nothing, until the caller leaves. */
const silent: Behaviour = (_request, wire) => waitUntil('the caller leaves', () => wire.gone);

function client(name: string, more: string): string {
  return `client<llm> ${name} {
  provider openai-generic
  retry_policy Twice
  options {
    model ${name}
    base_url env.PROVIDER_URL
    ${more}
  }
}
`;
}

function person(name: string, of: string): string {
  return `function ${name}() -> Person {\n  client ${of}\n  prompt #"{{ _.role("user") }}Who?"#\n}\n`;
}

const FILES = {
  'main.svc': `
retry_policy Twice {
  on_invalid_reply 2
}
client<llm> List {
  provider fallback
  options {
    strategy [A, B]
  }
}
${client('A', '')}${client('B', '')}${client('Limited', 'http {\n      request_timeout_ms 3000\n    }')}
class Person {
  name string
  age int @assert({{ this > 0 }})
}
${person('Read', 'A')}${person('ReadAny', 'List')}${person('ReadSoon', 'Limited')}`,
};

const { fake, server, post, metric, logLine } = await serveModel({
  files: FILES,
  flags: ['--workers', '1', '--playground', '--log-level', 'info'],
  answer: VALID,
});

function call(name: string, options = {}, signal?: AbortSignal): Promise<Response> {
  return post(`call/${name}`, options, signal && { signal });
}

function facts(response: Response): Readonly<Record<string, string | null>> {
  const header = (name: string) => response.headers.get(`x-svc-${name}`);
  return {
    client: header('client'),
    attempts: header('attempts'),
    input: header('input-tokens'),
    output: header('output-tokens'),
  };
}

test('a call returns the corrected value, and counts the tokens of both attempts', async () => {
  fake.script(INVALID);
  const response = await call('Read');
  expect(await response.json()).toEqual({ name: 'Ada', age: 36 });
  expect(facts(response)).toEqual({ client: 'A', attempts: '2', input: '60', output: '9' });
});

test('a trace shows the messages and the attempts', async () => {
  fake.script(INVALID);
  const { trace } = (await (await call('Read', { svc_options: { include: ['trace'] } })).json()) as {
    readonly trace: object;
  };
  expect(trace).toMatchObject({
    attempts: [
      { outcome: 'validation_failure', input_tokens: 20, output_tokens: 4 },
      { outcome: 'ok', reask: true, input_tokens: 40, output_tokens: 5 },
    ],
    input_tokens: 60,
    output_tokens: 9,
    prompt: [{ role: 'user' }, { role: 'assistant', parts: [{ text: '{"name": "Bob"}' }] }, { role: 'user' }],
    reply: '{"name": "Ada", "age": 36}',
  });
});

test('a call of which no reply fits fails with all attempts', async () => {
  fake.answer(INVALID);
  const response = await call('Read');
  expect(response.status).toBe(500);
  expect(facts(response)).toEqual({ client: 'A', attempts: '3', input: '60', output: '12' });
  expect(await response.json()).toMatchObject({
    error: 'validation_failure',
    details: [{ path: 'age' }],
    raw_output: '{"name": "Bob"}',
    attempts: [
      { client: 'A', outcome: 'validation_failure', input_tokens: 20, output_tokens: 4 },
      { client: 'A', outcome: 'validation_failure', reask: true },
      { client: 'A', outcome: 'validation_failure', reask: true },
    ],
  });
});

test('a fallback asks its next client after the re-asks, within one call', async () => {
  fake.script(INVALID, INVALID, INVALID);
  const response = await call('ReadAny');
  expect(response.status).toBe(200);
  expect(facts(response)).toEqual({ client: 'B', attempts: '4', input: '100', output: '17' });
});

test('a stream sends a reset before the partials of the next attempt', async () => {
  fake.script(reply('{"name": "Bob", "age": -1}', { chunkSize: 5 }));
  const { messages } = await readStream(`${server.url}/stream/Read`, { svc_options: { include: ['usage', 'client'] } });
  const data = messages.map((message) => message.data as Readonly<Record<string, unknown>>);
  const at = data.findIndex((each) => 'reset' in each);
  expect(data[at]).toEqual({ reset: { reason: expect.stringContaining('age') as string } });
  expect(JSON.stringify(data.slice(0, at))).toContain('"partial_result":{"name":"Bo');
  expect(JSON.stringify(data.slice(at + 1))).not.toContain('Bo');
  expect(data.at(-1)).toMatchObject({
    final_result: { name: 'Ada', age: 36 },
    meta: { usage: { input_tokens: 47, output_tokens: 8 }, client: { name: 'A' } },
  });
});

test('the time limits apply to a re-ask', async () => {
  fake.script(INVALID, silent);
  const response = await call('ReadSoon');
  expect(response.status).toBe(504);
  expect(await response.json()).toMatchObject({
    error: 'timeout',
    timer: 'request',
    attempts: [{ outcome: 'validation_failure' }, { outcome: 'timeout', reask: true }],
  });
});

test('a caller that leaves ends the re-ask', async () => {
  fake.script(INVALID, silent);
  const caller = new AbortController();
  const answer = call('Read', {}, caller.signal).catch(() => 'left');
  await waitUntil('the re-ask', () => fake.requests.length === 2);
  caller.abort();
  expect(await answer).toBe('left');
  await waitUntil('the provider sees it', () => fake.abandoned.length === 1);
  expect(fake.requests).toHaveLength(2);
});

test('a metric counts the re-asks of each function and client, and how many helped', async () => {
  const labels = 'svc_reasks_total{function="Read",client="A"';
  const before = [
    await metric(`${labels},outcome="ok"}`),
    await metric(`${labels},outcome="validation_failure"}`),
    await metric('svc_tokens_total{client="A",direction="input"}'),
  ];
  fake.script(INVALID, INVALID);
  await call('Read');
  const count = async () => [
    (await metric(`${labels},outcome="ok"}`)) - (before[0] ?? 0),
    (await metric(`${labels},outcome="validation_failure"}`)) - (before[1] ?? 0),
    (await metric('svc_tokens_total{client="A",direction="input"}')) - (before[2] ?? 0),
  ];
  await expect.poll(count).toEqual([1, 1, 80]);
});

test('no line at level info contains a reply that was sent back', async () => {
  fake.script(reply('{"name": "only in the reply"}'));
  const response = await call('Read');
  expect(response.status).toBe(200);
  await logLine(response.headers.get('x-request-id') ?? '');
  expect(server.output()).not.toContain('only in the reply');
});
