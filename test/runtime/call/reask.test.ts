import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FunctionRuntime, RuntimeOptions } from '../../../src/runtime/call/runtime.ts';
import { assertAsyncProperty } from '../../support/assert-property.ts';
import { reply, status } from '../../support/fake-provider.ts';
import type { Behaviour } from '../../support/fake-wire.ts';
import { waitUntil } from '../../support/load.ts';
import { startOwnClock } from '../../support/own-clock.ts';
import { startProviderSuite } from '../../support/provider-suite.ts';
import { callContext, callFunction, streamFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

const VALID = reply('{"n": 1}');
const INVALID = reply('{"m": 1}');
const { fake, open } = await startProviderSuite(VALID);
/** Answers nothing, until the caller leaves. */
const silent: Behaviour = (_request, wire) => waitUntil('the caller leaves', () => wire.gone);
const BUSY = status(503, { error: { message: 'busy' } });

function policy(name: string, retries: number, reasks: number): string {
  return `retry_policy ${name} {
  max_retries ${retries}
  on_invalid_reply ${reasks}
  strategy {
    type constant_delay
    delay_ms 1
  }
}
`;
}

function generic(name: string, more = '', options = ''): string {
  return `client<llm> ${name} {
  provider openai-generic
  ${more}
  options {
    model "${name}"
    base_url env.URL
    ${options}
  }
}
`;
}

function list(name: string, provider: string, members: readonly string[], more = ''): string {
  return `client<llm> ${name} {
  provider ${provider}
  ${more}
  options {
    strategy [${members.join(', ')}]
  }
}
`;
}

const CLASSES = `class N {
  n int @assert({{ this < 100 }})
  list int[]?
}
function F() -> N {
  client Top
  prompt #"{{ _.role("user") }}Which number?"#
}
`;

/** A function `F` with a value `{n int}` of the client `Top`. */
function program(clients: string, options: Partial<RuntimeOptions> = {}): FunctionRuntime {
  const runtime = testRuntime(`${clients}${CLASSES}`, { URL: fake.url }, options);
  open.push(runtime);
  return runtime;
}

interface Asked {
  readonly model: string;
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
}

function asked(): readonly Asked[] {
  return fake.requests.map(({ json }) => json as Asked);
}

/** The model of each request, with the number of its messages: 1 for the prompt, 3 for a re-ask. */
function requests(): string {
  return asked()
    .map(({ model, messages }) => `${model}${messages.length}`)
    .join(' ');
}

const ONCE = policy('Once', 0, 1) + generic('Top', 'retry_policy Once');

test('a reply that does not fit is sent back with its faults, and the corrected one is the value', async () => {
  fake.script(INVALID);
  const { result, report } = await callFunction(program(ONCE), 'F', {});
  expect(result.ok && result.value.json).toBe('{"n":1,"list":null}');
  expect(asked()[1]?.messages).toEqual([
    { role: 'user', content: 'Which number?' },
    { role: 'assistant', content: '{"m": 1}' },
    {
      role: 'user',
      content: expect.stringContaining('requested format:\n- n: the required field "n" is missing\n') as string,
    },
  ]);
  expect(report.attempts).toMatchObject([
    { client: 'Top', outcome: 'validation_failure', inputTokens: 7, outputTokens: 3 },
    { client: 'Top', outcome: 'ok', reask: true, inputTokens: 7, outputTokens: 3 },
  ]);
  expect(report.attempts[0]).not.toHaveProperty('reask');
  expect(report.usage).toEqual({ inputTokens: 14, outputTokens: 6 });
  expect(report.prompt).toHaveLength(3);
  expect(report.rawReply).toBe('{"n": 1}');
});

test('a failed @assert is a fault too', async () => {
  fake.script(reply('{"n": 100}'));
  expect(valueOf(await callFunction(program(ONCE), 'F', {}))).toMatchObject({ n: 1 });
  expect(JSON.stringify(asked()[1]?.messages)).toContain('- n: the assert');
});

test('a value that the call refuses for its losses is a fault too', async () => {
  fake.script(reply('{"n": 1, "list": [1, "many"]}'));
  expect(valueOf(await callFunction(program(ONCE, { onLoss: 'refuse' }), 'F', {}))).toMatchObject({ n: 1 });
  expect(JSON.stringify(asked()[1]?.messages)).toContain('- list[1]: was dropped: ');
});

test('each further re-ask sends the prompt with the latest reply only, as often as the policy allows', async () => {
  fake.script(INVALID, reply('none'), reply('still none'));
  const runtime = program(policy('Twice', 0, 2) + generic('Top', 'retry_policy Twice'));
  const { result, report } = await callFunction(runtime, 'F', {});
  expect(requests()).toBe('Top1 Top3 Top3');
  expect(asked()[2]?.messages[1]).toEqual({ role: 'assistant', content: 'none' });
  expect(result).toMatchObject({
    ok: false,
    failure: { code: 'validation_failure', rawOutput: 'still none', attempts: [{}, { reask: true }, { reask: true }] },
  });
  expect(report.usage).toEqual({ inputTokens: 21, outputTokens: 9 });
});

test.each([
  ['without a policy', generic('Top')],
  ['with a policy that does not ask for it', policy('Never', 3, 0) + generic('Top', 'retry_policy Never')],
])('%s, a reply that does not fit ends the call', async (_, clients) => {
  fake.script(INVALID);
  const { result } = await callFunction(program(clients), 'F', {});
  expect(result).toMatchObject({ ok: false, failure: { code: 'validation_failure' } });
  expect(result.ok || result.failure).not.toHaveProperty('attempts');
  expect(requests()).toBe('Top1');
});

test('a reply that the provider cut off before it fits is sent back', async () => {
  fake.script(reply('{"m": 1', { finishReason: 'length' }));
  expect(valueOf(await callFunction(program(ONCE), 'F', {}))).toEqual({ n: 1, list: null });
  expect(requests()).toBe('Top1 Top3');
});

test('a reply that the provider withholds is not sent back', async () => {
  fake.script(reply('{"m": 1}', { finishReason: 'content_filter' }));
  expect(valueOf(await callFunction(program(ONCE), 'F', {}))).toBe('content_filtered');
  expect(requests()).toBe('Top1');
});

test('a reply that ended for a reason which the client does not accept is not sent back', async () => {
  fake.script(reply('{"m": 1}', { finishReason: 'tool_calls' }));
  const clients = policy('Once', 0, 1) + generic('Top', 'retry_policy Once', 'finish_reason_allow_list ["stop"]');
  expect(valueOf(await callFunction(program(clients), 'F', {}))).toBe('finish_reason_error');
  expect(requests()).toBe('Top1');
});

test('a re-ask that fails at the provider is retried with the same messages', async () => {
  fake.script(INVALID, BUSY);
  const runtime = program(policy('Both', 2, 1) + generic('Top', 'retry_policy Both'));
  expect(valueOf(await callFunction(runtime, 'F', {}))).toMatchObject({ n: 1 });
  expect(requests()).toBe('Top1 Top3 Top3');
  expect(asked()[2]?.messages).toEqual(asked()[1]?.messages);
});

test('the re-asks of a policy count over all its retries', async () => {
  fake.script(BUSY, INVALID, BUSY, INVALID);
  const runtime = program(policy('Both', 5, 1) + generic('Top', 'retry_policy Both'));
  expect(valueOf(await callFunction(runtime, 'F', {}))).toBe('validation_failure');
  expect(requests()).toBe('Top1 Top1 Top3 Top3');
});

test('a fallback asks the next client once the re-asks are used up, with its prompt', async () => {
  fake.script(INVALID, INVALID, INVALID);
  const clients =
    policy('Once', 0, 1) +
    list('Top', 'fallback', ['A', 'B']) +
    generic('A', 'retry_policy Once') +
    generic('B', 'retry_policy Once');
  const { result, report } = await callFunction(program(clients), 'F', {});
  expect(result.ok).toBe(true);
  expect(requests()).toBe('A1 A3 B1 B3');
  expect(report.attempts.map(({ client, reask = false }) => [client, reask])).toEqual([
    ['A', false],
    ['A', true],
    ['B', false],
    ['B', true],
  ]);
});

test('the policy of a fallback allows re-asks of its members together; a member with a policy has its own', async () => {
  fake.answer(INVALID);
  const clients =
    policy('Two', 0, 2) +
    policy('None', 1, 0) +
    list('Top', 'fallback', ['Own', 'A', 'B'], 'retry_policy Two') +
    generic('Own', 'retry_policy None') +
    generic('A') +
    generic('B');
  expect(valueOf(await callFunction(program(clients), 'F', {}))).toBe('validation_failure');
  expect(requests()).toBe('Own1 A1 A3 A3 B1');
});

test('a re-ask goes to the client that replied, not to the next one of a round-robin', async () => {
  fake.script(INVALID);
  const clients =
    policy('Once', 0, 1) + list('Top', 'round-robin', ['A', 'B'], 'retry_policy Once') + generic('A') + generic('B');
  const runtime = program(clients);
  await callFunction(runtime, 'F', {});
  await callFunction(runtime, 'F', {});
  expect(requests()).toBe('A1 A3 B1');
});

test('a stream starts again with a reset that states the fault', async () => {
  fake.script(reply('{"list": [1], "m": 1}', { chunkSize: 6 }));
  const { outcome, events } = await streamFunction(program(ONCE), 'F', {});
  expect(valueOf(outcome)).toMatchObject({ n: 1 });
  const at = events.findIndex((event) => event.startsWith('reset: '));
  expect(events[at]).toContain('the required field "n" is missing');
  expect(events.slice(0, at).some((event) => event.includes('"list":[1]'))).toBe(true);
  expect(events.slice(at + 1).join('\n')).not.toContain('"list":[1]');
  expect(outcome.report.usage).toEqual({ inputTokens: 14, outputTokens: 6 });
});

test('a call whose time is over while it asks again ends as a timeout with all attempts', async () => {
  startOwnClock(() => fake.traffic);
  fake.script(INVALID, silent);
  const { result } = await callFunction(program(ONCE), 'F', {}, callContext(3000));
  expect(result).toMatchObject({
    ok: false,
    failure: {
      code: 'timeout',
      timer: 'total',
      attempts: [{ outcome: 'validation_failure' }, { outcome: 'timeout', reask: true }],
    },
  });
});

test('a caller that leaves ends the re-ask, and nothing more is sent', async () => {
  fake.script(INVALID, silent);
  const context = callContext();
  const call = callFunction(program(policy('Five', 3, 5) + generic('Top', 'retry_policy Five')), 'F', {}, context);
  await waitUntil('the re-ask', () => fake.requests.length === 2);
  context.cancellation.cancel('left');
  expect(valueOf(await call)).toBe('cancelled');
  await waitUntil('the provider sees it', () => fake.abandoned.length === 1);
  expect(requests()).toBe('Top1 Top3');
});

test('a call with clients of its own makes at most 100 requests, re-asks included', async () => {
  fake.answer(INVALID);
  const runtime = program(policy('Five', 0, 5) + generic('Top'));
  const member = { name: 'Own', provider: 'openai-generic', options: { model: 'Own', base_url: fake.url } };
  const clients = [
    { ...member, retry_policy: 'Five' },
    { name: 'List', provider: 'fallback', options: { strategy: Array.from({ length: 20 }, () => 'Own') } },
  ];
  const body = { svc_options: { client_registry: { clients, primary: 'List' } } };
  expect(valueOf(await callFunction(runtime, 'F', body))).toBe('validation_failure');
  expect(fake.requests).toHaveLength(100);
});

test('the tokens that a provider counts apart are those of all replies that report them', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 3 };
  const first = { ...usage, prompt_tokens_details: { cached_tokens: 4 } };
  const second = { ...first, completion_tokens_details: { reasoning_tokens: 2 } };
  fake.script(...[first, second].map((counts) => reply('{"m": 1}', { usage: counts })));
  const { report } = await callFunction(program(policy('Twice', 0, 2) + generic('Top', 'retry_policy Twice')), 'F', {});
  expect(report.attempts).toHaveLength(3);
  expect(report.usage).toEqual({ inputTokens: 21, outputTokens: 9, cachedInputTokens: 8, reasoningTokens: 2 });
});

test('the cost is that of all replies; without a price of one of them it is unknown', async () => {
  fake.script(INVALID);
  const priced = 'prices {\n      input 2\n      output 10\n    }';
  const clients = policy('Once', 0, 1) + generic('Top', 'retry_policy Once', priced);
  expect((await callFunction(program(clients), 'F', {})).report.cost).toBe(0.000_088);
  fake.script(INVALID);
  const mixed = list('Top', 'fallback', ['A', 'B']) + generic('A') + generic('B', '', priced);
  expect((await callFunction(program(mixed), 'F', {})).report).not.toHaveProperty('cost');
});

function sum(counts: ReadonlyArray<number | undefined>): number {
  return counts.reduce<number>((all, one = 0) => all + one, 0);
}

test('the tokens of a call are the sum of those of its attempts, and those that the providers reported', async () => {
  const clients =
    policy('Some', 2, 2) +
    list('Top', 'fallback', ['A', 'B']) +
    generic('A', 'retry_policy Some') +
    generic('B', 'retry_policy Some');
  const runtime = program(clients);
  const tokens = fc.record({ prompt_tokens: fc.nat(1000), completion_tokens: fc.nat(1000) });
  const step = fc.record({ kind: fc.constantFrom('valid', 'invalid', 'busy', 'cut'), usage: tokens });
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      fake.clear();
      const behaviours = steps.map(({ kind, usage }) => {
        if (kind === 'busy') return BUSY;
        const finishReason = kind === 'cut' ? 'length' : 'stop';
        return reply(kind === 'valid' ? '{"n": 1}' : '{"m": 1}', { usage, finishReason });
      });
      fake.script(...behaviours);
      const { report } = await callFunction(runtime, 'F', {});
      const sent = fake.requests.length;
      const replies = steps.slice(0, sent).filter(({ kind }) => kind !== 'busy');
      // The last request can be answered by the default, with 7 and 3 tokens.
      const more = sent > steps.length ? 1 : 0;
      expect(report.attempts).toHaveLength(sent);
      expect(report.usage.inputTokens ?? 0).toBe(sum(replies.map(({ usage }) => usage.prompt_tokens)) + 7 * more);
      expect(report.usage.outputTokens ?? 0).toBe(sum(replies.map(({ usage }) => usage.completion_tokens)) + 3 * more);
      expect(sum(report.attempts.map(({ inputTokens }) => inputTokens))).toBe(report.usage.inputTokens ?? 0);
      expect(sum(report.attempts.map(({ outputTokens }) => outputTokens))).toBe(report.usage.outputTokens ?? 0);
      expect(report.attempts.filter(({ reask }) => reask === true).length).toBe(
        asked().filter(({ messages }) => messages.length === 3).length,
      );
    }),
    { numRuns: 60 },
  );
});

test('the example of docs/clients.md is what svc sends', async () => {
  const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');
  const [, section = ''] = /\n## Re-asks\n(.*?)\n## /su.exec(page) ?? [];
  const blocks = [...section.matchAll(/```(\w+)\n(.*?)```/gsu)];
  const block = (language: string): string => blocks.find(([, name]) => name === language)?.[2] ?? '';
  const runtime = testRuntime(
    `${block('baml')}${generic('Top', 'retry_policy Correcting')}
class Person {
  name string
  age int
}
function F() -> Person {
  client Top
  prompt #"{{ _.role("user") }}Who?"#
}`,
    { URL: fake.url },
  );
  open.push(runtime);
  const first = block('json').trim();
  fake.script(reply(first), reply('{"name": "Ada", "age": 36}'));
  expect(valueOf(await callFunction(runtime, 'F', {}))).toEqual({ name: 'Ada', age: 36 });
  const [prompt, assistant, user] = asked()[1]?.messages ?? [];
  expect([prompt, assistant, user]).toEqual([
    { role: 'user', content: 'Who?' },
    { role: 'assistant', content: first },
    { role: 'user', content: block('text').trim() },
  ]);
});
