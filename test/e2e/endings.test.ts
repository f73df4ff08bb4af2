import { describe, expect, test } from 'vitest';
import { chatEvent, reply, sse, status } from '../support/fake-provider.ts';
import type { Answer } from '../support/fake-wire.ts';
import { TRANSPORTS } from '../server/support/transports.ts';
import { serveModel } from '../support/served-model.ts';
import { readStream } from '../support/sse.ts';

/*
 * Replies that are no answers, and replies that the provider cut off: what callers get, and what strategies make of them.
 */

const FILES = {
  'main.svc': `
client<llm> Plain {
  provider openai-generic
  options {
    model "m"
    base_url env.PROVIDER_URL
  }
}

client<llm> Strict {
  provider openai-generic
  options {
    model "m"
    base_url env.PROVIDER_URL
    on_truncation refuse
  }
}

client<llm> Second {
  provider openai-generic
  retry_policy Again
  options {
    model "m"
    base_url env.PROVIDER_URL
  }
}

client<llm> Chain {
  provider fallback
  options {
    strategy [Plain, Strict]
  }
}

client<llm> Asking {
  provider openai-generic
  retry_policy Ask
  options {
    model "m"
    base_url env.PROVIDER_URL
    on_truncation refuse
  }
}

retry_policy Again {
  max_retries 1
}

retry_policy Ask {
  max_retries 0
  on_invalid_reply 1
}

enum Color {
  RED
  REDDISH
}

class Person {
  name string
  age int?
  color Color?
}

function Say() -> string {
  client Plain
  prompt #"Say it."#
}

function SayAgain() -> string {
  client Second
  prompt #"Say it."#
}

function SayInChain() -> string {
  client Chain
  prompt #"Say it."#
}

function One() -> Person {
  client Plain
  prompt #"Name one. {{ ctx.output_format }}"#
}

function OneStrict() -> Person {
  client Strict
  prompt #"Name one. {{ ctx.output_format }}"#
}

function OneAsking() -> Person {
  client Asking
  prompt #"Name one. {{ ctx.output_format }}"#
}

function Many() -> Person[] {
  client Plain
  prompt #"Name all. {{ ctx.output_format }}"#
}

function Count() -> int {
  client Plain
  prompt #"Count. {{ ctx.output_format }}"#
}
`,
};

/** A call of a tool, whole or as a stream. */
const TOOL: Answer = async (request, wire) => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'search', arguments: '{}' } };
  const isStream = (request.json as { readonly stream?: boolean }).stream === true;
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const whole = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  const events = [chatEvent({ tool_calls: [call] }), chatEvent({}, 'tool_calls'), 'data: [DONE]\n\n'];
  await (isStream ? sse(events) : status(200, whole))(request, wire);
};

/** A refusal, whole or as a stream. */
const REFUSAL: Answer = async (request, wire) => {
  const isStream = (request.json as { readonly stream?: boolean }).stream === true;
  const whole = { choices: [{ index: 0, message: { content: null, refusal: 'I will not.' }, finish_reason: 'stop' }] };
  const events = [chatEvent({ refusal: 'I will ' }), chatEvent({ refusal: 'not.' }), chatEvent({}, 'stop')];
  await (isStream ? sse([...events, 'data: [DONE]\n\n']) : status(200, whole))(request, wire);
};

const UNANSWERED: readonly (readonly [string, Answer, number, object])[] = [
  [
    'a call of a tool',
    TOOL,
    500,
    {
      error: 'no_answer',
      message: 'The client "Plain" called the tool "search" instead of answering ("tool_calls")',
      client: 'Plain',
      finish_reason: 'tool_calls',
    },
  ],
  ['a reply without text', reply(''), 500, { error: 'no_answer', finish_reason: 'stop', raw_output: '' }],
  [
    'a limit before the first word',
    reply('', { finishReason: 'length' }),
    500,
    { error: 'no_answer', message: expect.stringContaining('a limit before the first word') as string },
  ],
  [
    'a filter',
    reply('Half of', { finishReason: 'content_filter' }),
    500,
    { error: 'content_filtered', finish_reason: 'content_filter', raw_output: 'Half of' },
  ],
  [
    'a refusal',
    REFUSAL,
    500,
    {
      error: 'refusal',
      message: 'The model of the client "Plain" refused to answer: I will not.',
      raw_output: 'I will not.',
    },
  ],
  [
    'an error as the finish reason',
    reply('Half of', { finishReason: 'network_error' }),
    502,
    { error: 'client_error', message: expect.stringContaining('ended with "network_error"') as string },
  ],
];

const TRUNCATED = [{ path: '', message: 'the provider cut the reply off', kind: 'truncated' }];
const ADA = { name: 'Ada', age: 36, color: null };

/** Functions, replies that were cut off, and their values; whether a value is whole. */
const CUT: readonly (readonly [string, string, unknown, boolean])[] = [
  ['One', '{"name": "Ada", "age": 3', { ...ADA, age: null }, false],
  ['One', '{"name": "Ada", "age": 36, "color": "RED', ADA, false],
  ['One', '{"name": "Ada Lov', { name: 'Ada Lov', age: null, color: null }, false],
  ['One', '{"name": "Ada", "age": 36}', ADA, true],
  ['One', '```json\n{"name": "Ada", "age": 36}\n```\nI chose her bec', ADA, true],
  ['Many', '[{"name": "Ada", "age": 36}, {"name": "Al', [ADA, { name: 'Al', age: null, color: null }], false],
  ['Many', '[{"name": "Ada", "age": 36}]', [ADA], true],
  ['Many', '{"name": "Ada", "age": 36}', [ADA], false],
  ['Say', 'Half of', 'Half of', false],
  ['Count', '42. Because', 42, false],
];

describe.each(TRANSPORTS)('on the transport %s', async (transport) => {
  const { fake, server, post, metric, logLine } = await serveModel({
    files: FILES,
    flags: ['--workers', '1', '--transport', transport],
  });

  async function streamed(name: string, body: unknown = {}): Promise<unknown> {
    const { messages } = await readStream(`${server.url}/stream/${name}`, body);
    return messages.at(-1)?.data;
  }

  test.each(UNANSWERED)('%s is a failure of the client, in calls and streams', async (_, answer, code, body) => {
    fake.answer(answer);
    const response = await post('call/Say', {});
    expect(response.status).toBe(code);
    expect(await response.json()).toMatchObject(body);
    const stream = await post('stream/Say', {});
    expect(JSON.parse((await stream.text()).split('data: ').at(-1) ?? '')).toMatchObject(body);
  });

  test.each(UNANSWERED)('after %s, a fallback asks its next member', async (_, answer) => {
    fake.script(answer, reply('ok'), answer, reply('ok'));
    const response = await post('call/SayInChain', {});
    expect([response.status, await response.json()]).toEqual([200, 'ok']);
    expect(response.headers.get('x-svc-client')).toBe('Strict');
    expect(await streamed('SayInChain')).toEqual({ final_result: 'ok' });
  });

  test.each<[string, Answer, string | number]>([
    ['a call of a tool', TOOL, 'ok'],
    ['a reply without text', reply(''), 'ok'],
    ['an error as the finish reason', reply('Half', { finishReason: 'error' }), 'ok'],
    ['a limit before the first word', reply('', { finishReason: 'length' }), 500],
    ['a filter', reply('', { finishReason: 'content_filter' }), 500],
    ['a refusal', REFUSAL, 500],
  ])('a retry policy and %s', async (_, answer, outcome) => {
    fake.script(answer, reply('ok'));
    const response = await post('call/SayAgain', {});
    const value: unknown = await response.json();
    expect(response.status === 200 ? value : response.status).toBe(outcome);
    expect(fake.requests).toHaveLength(outcome === 'ok' ? 2 : 1);
  });

  test.each(CUT)('%s of the cut reply %j', async (name, text, value, isWhole) => {
    fake.answer(reply(text, { finishReason: 'length' }));
    const include = { svc_options: { include: ['warnings', 'client'] } };
    const response = await post(`call/${name}`, include);
    const warnings = isWhole ? [] : TRUNCATED;
    expect(response.headers.get('x-svc-lossy')).toBe(isWhole ? null : 'truncated=1');
    expect(await response.json()).toMatchObject({
      result: value,
      meta: { warnings, client: { name: 'Plain', finish_reason: 'length' } },
    });
    expect(await streamed(name, include)).toMatchObject({ final_result: value, warnings });
    const refused = await post(`call/${name}`, { svc_options: { on_loss: 'refuse' } });
    expect(refused.status).toBe(isWhole ? 200 : 500);
  });

  test('an unfinished value that is required fails the call, which names the cut', async () => {
    fake.answer(reply('The answer is 4', { finishReason: 'length' }));
    const response = await post('call/Count', {});
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      error: 'validation_failure',
      message: expect.stringContaining('The provider cut the reply off ("length")') as string,
    });
  });

  test('the log and a metric report a cut reply', async () => {
    fake.answer(reply('Half of', { finishReason: 'length' }));
    const before = await metric('svc_reply_losses_total{function="Say",kind="truncated"}');
    const response = await post('call/Say', {});
    const line = await logLine(response.headers.get('x-request-id') ?? '');
    expect(line).toMatchObject({ losses: { truncated: 1 }, finishReason: 'length' });
    expect(await metric('svc_reply_losses_total{function="Say",kind="truncated"}')).toBe(before + 1);
  });

  test('with on_truncation refuse, a cut reply fails; with on_invalid_reply, the model is asked again', async () => {
    const cut = reply('{"name": "Ada", "age": 3', { finishReason: 'length' });
    fake.answer(cut);
    const response = await post('call/OneStrict', {});
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: 'validation_failure', losses: { truncated: 1 } });
    fake.clear();
    fake.script(cut, reply('{"name": "Ada", "age": 36}'));
    expect(await (await post('call/OneAsking', {})).json()).toEqual(ADA);
    expect(fake.requests).toHaveLength(2);
  });
});
