import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { CallOutcome, FunctionRuntime, FunctionStream, WholeReply } from '../../../src/runtime/call/runtime.ts';
import { startOwnClock } from '../../support/own-clock.ts';
import { waitUntil } from '../../support/load.ts';
import {
  SSE_HEADERS,
  chatCompletion,
  chatEvents,
  reply,
  startFakeProvider,
  status,
  type FakeProvider,
} from '../../support/fake-provider.ts';
import { sleep } from '../../support/fake-wire.ts';
import { chunk, head } from '../../support/http1-connection.ts';
import { err } from '../../../src/base/result.ts';
import {
  callContext,
  callFunction,
  parseText,
  streamFunction,
  testRuntime,
  valueOf,
} from '../../support/test-runtime.ts';

let fake: FakeProvider;
let runtime: FunctionRuntime;

const FILES = `
client<llm> Main {
  provider openai
  options { model "gpt-4o", base_url env.URL, api_key env.KEY }
}
client<llm> Strict {
  provider openai-generic
  options { model "m", base_url env.URL, finish_reason_allow_list ["stop"] }
}
client<llm> Local {
  provider offline
}
client<llm> Said {
  provider offline
  options { reply "{\\"name\\": \\"Ada\\", \\"tags\\": [\\"x\\"]}", chunk_size 3 }
}
class Person { 
  name string
  tags string[]
}
function Extract(text: string) -> Person {
  client Main
  prompt #"{{ _.role("user") }} {{ text }} {{ ctx.output_format }}"#
}
function Say(text: string) -> string {
  client Strict
  prompt #"{{ text }}"#
}
function Offline(text: string) -> Person {
  client Local
  prompt #"{{ text }}"#
}
function Given(text: string) -> Person {
  client Said
  prompt #"{{ text }}"#
}
client<llm> Priced {
  provider openai-generic
  options {
    model "m"
    base_url env.URL
    prices { input 0.15, output 0.6 }
  }
}
function Shorthand(text: string) -> string {
  client "openai/gpt-4o-mini"
  prompt #"{{ text }}"#
}
`;

beforeAll(async () => {
  fake = await startFakeProvider();
  runtime = testRuntime(FILES, { URL: `${fake.url}/v1`, KEY: 'k1' });
});
beforeEach(() => {
  fake.clear();
  fake.answer(reply('{"name": "Ada", "tags": ["a", "b"]}', { chunkSize: 5 }));
});
afterAll(async () => {
  await runtime.close();
  await fake.close();
});

test('a call renders the prompt, calls the model and parses the reply, and its report has all facts', async () => {
  const { result, report } = await callFunction(runtime, 'Extract', { text: 'hi' });
  expect(result.ok && result.value.json).toBe('{"name":"Ada","tags":["a","b"]}');
  expect(report).toMatchObject({
    client: 'Main',
    model: 'gpt-4o',
    attempts: [{ client: 'Main', outcome: 'ok' }],
    usage: { inputTokens: 7, outputTokens: 3 },
    finishReason: 'stop',
    rawReply: '{"name": "Ada", "tags": ["a", "b"]}',
  });
  expect(report.prompt?.[0]?.role).toBe('user');
  expect(fake.requests[0]?.headers['authorization']).toBe('Bearer k1');
});

test('rendering, waiting for the model and parsing are the whole time of the attempts', async () => {
  for (const answer of [reply('{"name": "Ada", "tags": []}'), reply('nothing of the kind')]) {
    fake.answer(answer);
    const { report } = await callFunction(runtime, 'Extract', { text: 'hi' });
    const whole = report.attempts.reduce((sum, { durationMs }) => sum + durationMs, 0);
    expect(report.renderMs + report.modelMs + report.parseMs).toBeCloseTo(whole, 2);
    expect(Math.min(report.renderMs, report.modelMs, report.parseMs)).toBeGreaterThan(0);
  }
});

test('with the prices of the client, the report has the cost of the reply, and the model does not see them', async () => {
  const args = { text: 'hi', svc_options: { client: 'Priced' } };
  const { report } = await callFunction(runtime, 'Extract', args);
  // 7 tokens in, 3 out.
  expect(report.cost).toBe(0.000002_85);
  expect(fake.requests[0]?.json).not.toHaveProperty('prices');
  expect((await streamFunction(runtime, 'Extract', args)).outcome.report.cost).toBe(0.000002_85);
  fake.answer(status(200, { ...chatCompletion('{"name": "Ada", "tags": []}'), usage: { prompt_tokens: 7 } }));
  expect((await callFunction(runtime, 'Extract', args)).report).not.toHaveProperty('cost');
  fake.answer(reply('{"name": "Ada", "tags": []}'));
  expect((await callFunction(runtime, 'Extract', { text: 'hi' })).report).not.toHaveProperty('cost');
});

test('a stream has growing partials and ends with the same value', async () => {
  const { outcome, events } = await streamFunction(runtime, 'Extract', { text: 'hi' });
  expect(valueOf(outcome)).toEqual({ name: 'Ada', tags: ['a', 'b'] });
  expect(events.length).toBeGreaterThan(0);
  expect(JSON.parse(events.at(-1) ?? '')).toEqual({ name: 'Ada', tags: ['a', 'b'] });
  expect(outcome.report.usage).toEqual({ inputTokens: 7, outputTokens: 3 });
  expect(outcome.report.firstTextMs).toBeGreaterThan(0);
});

test('a reply that does not match the type is a validation failure that contains the reply', async () => {
  fake.answer(reply('nothing of that kind'));
  const { result } = await callFunction(runtime, 'Extract', { text: 'hi' });
  expect(result).toMatchObject({
    ok: false,
    failure: { code: 'validation_failure', rawOutput: 'nothing of that kind' },
  });
});

test('a finish reason outside the allow list is a finish_reason_error', async () => {
  fake.answer(reply('half', { finishReason: 'length' }));
  expect(valueOf(await callFunction(runtime, 'Say', { text: 'hi' }))).toBe('finish_reason_error');
  fake.answer(reply('whole', { finishReason: 'STOP' }));
  expect(valueOf(await callFunction(runtime, 'Say', { text: 'hi' }))).toBe('whole');
});

test('svc checks arguments before it sends anything, and lists all faults', () => {
  const prepared = runtime.prepare('Extract', { txt: 1 });
  expect(prepared).toMatchObject({ ok: false, failure: { code: 'invalid_argument' } });
  expect(!prepared.ok && 'details' in prepared.failure && prepared.failure.details.length).toBe(2);
  expect(runtime.prepare('Extract', [])).toMatchObject({ ok: false, failure: { code: 'invalid_argument' } });
  expect(runtime.prepare('Extrct', {})).toMatchObject({
    ok: false,
    failure: { code: 'function_not_found', suggestions: ['Extract'] },
  });
  expect(fake.requests).toHaveLength(0);
});

test('the failure of a missing variable names it and its client', async () => {
  const bare = testRuntime(FILES, { URL: fake.url });
  const { result } = await callFunction(bare, 'Extract', { text: 'hi' });
  expect(result).toMatchObject({ ok: false, failure: { code: 'missing_credential', client: 'Main', variable: 'KEY' } });
  const shorthand = await callFunction(bare, 'Shorthand', { text: 'hi' });
  expect(shorthand.result).toMatchObject({ ok: false, failure: { variable: 'OPENAI_API_KEY' } });
  expect(fake.requests).toHaveLength(0);
  await bare.close();
});

test('the offline provider returns its reply, or the same value of the type for the same arguments', async () => {
  const first = valueOf(await callFunction(runtime, 'Offline', { text: 'a' }));
  expect(first).toMatchObject({ name: expect.any(String), tags: [expect.any(String), expect.any(String)] });
  expect(valueOf(await callFunction(runtime, 'Offline', { text: 'a' }))).toEqual(first);
  expect(valueOf(await callFunction(runtime, 'Offline', { text: 'b' }))).not.toEqual(first);
  expect(valueOf((await streamFunction(runtime, 'Offline', { text: 'a' })).outcome)).toEqual(first);
  expect(valueOf(await callFunction(runtime, 'Given', { text: 'a' }))).toEqual({ name: 'Ada', tags: ['x'] });
});

test('render returns the messages and sends nothing', () => {
  const prepared = runtime.prepare('Say', { text: 'hi' });
  expect(prepared.ok && runtime.render(prepared.value)).toEqual({
    ok: true,
    value: [{ role: 'system', parts: [{ kind: 'text', text: 'hi' }] }],
  });
  expect(fake.requests).toHaveLength(0);
});

test('parseReply parses a reply that the caller provides', async () => {
  const parsed = await parseText(runtime, 'Extract', '{"name": "B", "tags": []}');
  expect(parsed.ok && parsed.value.json).toBe('{"name":"B","tags":[]}');
});

/** Longer than any test takes. */
const DEADLINE_MS = 120_000;

test.each(['call', 'stream'])(
  'a large reply of a %s is parsed on a thread, within the deadline of the call',
  async (mode) => {
    // A stream that is parsed in deltas leaves nothing for the thread.
    fake.answer(reply('Not {"x": 1} but {"name": "Ada", "tags": ["a", "b"]}', { chunkSize: 5 }));
    const asked: WholeReply[] = [];
    const other = testRuntime(
      FILES,
      { URL: fake.url, KEY: 'k' },
      {
        parseElsewhereAbove: 10,
        parseElsewhere: (large) => {
          asked.push(large);
          return parseText(runtime, large.functionName, large.text);
        },
      },
    );
    const until = performance.now() + DEADLINE_MS;
    const outcome =
      mode === 'call'
        ? await callFunction(other, 'Extract', { text: 'hi' }, callContext(DEADLINE_MS))
        : (await streamFunction(other, 'Extract', { text: 'hi' }, callContext(DEADLINE_MS))).outcome;
    expect(valueOf(outcome)).toEqual({ name: 'Ada', tags: ['a', 'b'] });
    expect(asked).toEqual([expect.objectContaining({ functionName: 'Extract' })]);
    // The call began between the two readings of the clock.
    expect(asked[0]?.deadlineAt).toBeGreaterThanOrEqual(until);
    expect(asked[0]?.deadlineAt).toBeLessThanOrEqual(performance.now() + DEADLINE_MS);
    await other.close();
  },
);

test('a failure to parse a large reply on a thread is the failure of the call', async () => {
  const busy = { code: 'overloaded', message: 'later', retryAfterSeconds: 1 } as const;
  const other = testRuntime(
    FILES,
    { URL: fake.url, KEY: 'k' },
    { parseElsewhereAbove: 10, parseElsewhere: () => Promise.resolve(err(busy)) },
  );
  expect((await callFunction(other, 'Extract', { text: 'hi' })).result).toEqual(err(busy));
  await other.close();
});

test.each(['call', 'stream'])('the cancellation of a %s cancels the request to the model', async (mode) => {
  fake.answer(
    reply('{"name": "Ada", "tags": ["a", "b"]}', mode === 'call' ? { latencyMs: 600_000 } : { delayMs: 600_000 }),
  );
  const cancellation = new Cancellation();
  const context = callContext(DEADLINE_MS, cancellation);
  const run =
    mode === 'call'
      ? callFunction(runtime, 'Extract', { text: 'x' }, context)
      : streamFunction(runtime, 'Extract', { text: 'x' }, context).then((streamed) => streamed.outcome);
  await waitUntil('the request', () => fake.requests.length === 1);
  cancellation.cancel('the client left');
  expect(valueOf(await run)).toBe('cancelled');
  await waitUntil('the end of the request', () => fake.abandoned.length === 1);
});

test('the deadline ends a call with the timer total', async () => {
  startOwnClock(() => fake.traffic);
  fake.answer(reply('x', { latencyMs: 600_000 }));
  const { result } = await callFunction(runtime, 'Say', { text: 'x' }, callContext(100));
  expect(result).toMatchObject({ ok: false, failure: { code: 'timeout', timer: 'total' } });
});

test('a paused stream stops reading, and continues when it is resumed', async () => {
  startOwnClock(() => fake.traffic);
  const [first = '', ...rest] = chatEvents('{"name": "Ada", "tags": ["a", "b"]}', { chunkSize: 6 });
  let paused = false;
  let sent = false;
  fake.answer(async (_request, wire) => {
    wire.write(head(200, SSE_HEADERS) + chunk(first + (rest.shift() ?? '')));
    while (!paused) await sleep(2);
    for (const event of rest) {
      wire.write(chunk(event));
      await sleep(5);
    }
    wire.write(chunk(''));
    sent = true;
  });
  const prepared = runtime.prepare('Extract', { text: 'x' });
  if (!prepared.ok) throw new Error('not prepared');
  let texts = 0;
  let stream: FunctionStream | undefined;
  const ended = new Promise((resolve) => {
    stream = runtime.stream(prepared.value, callContext(), {
      text: () => {
        texts += 1;
        if (texts === 1) stream?.pause();
        paused = true;
      },
      reasoning: () => {},
      reset: () => {},
      ended: (outcome) => resolve(valueOf(outcome)),
    });
  });
  await waitUntil('the rest to be sent', () => sent);
  await sleep(20);
  // Text that was already on its way still arrives.
  expect(rest.length).toBeGreaterThan(4);
  expect(texts).toBeLessThanOrEqual(2);
  stream?.resume();
  expect(await ended).toEqual({ name: 'Ada', tags: ['a', 'b'] });
});

/** Streams a reply of many deltas, two milliseconds apart, and coalesces reads from the third text on. */
async function streamCoalesced(forMs: number, cancellation = new Cancellation()) {
  fake.answer(reply(`{"name": "${'x'.repeat(600)}", "tags": []}`, { delayMs: 2 }));
  const prepared = runtime.prepare('Extract', { text: 'x' });
  if (!prepared.ok) throw new Error('not prepared');
  let texts = 0;
  const outcome = await new Promise<CallOutcome>((resolve) => {
    const stream = runtime.stream(prepared.value, callContext(DEADLINE_MS, cancellation), {
      text: () => {
        texts += 1;
        if (texts >= 3) stream.coalesceReads(forMs);
      },
      reasoning: () => {},
      reset: () => {},
      ended: resolve,
    });
  });
  return { texts, outcome };
}

test('coalesced reads combine fast deltas and lose nothing', async () => {
  startOwnClock(() => fake.traffic);
  const { texts, outcome } = await streamCoalesced(100);
  expect(valueOf(outcome)).toEqual({ name: 'x'.repeat(600), tags: [] });
  // 157 deltas in at least 0.3 seconds; without coalescing, nearly each of them is a text of its own.
  expect(texts).toBeLessThan(60);
});

test('a cancellation while reading pauses cancels the request at once', async () => {
  startOwnClock(() => fake.traffic);
  const cancellation = new Cancellation();
  setTimeout(() => cancellation.cancel('the client left'), 150);
  const { texts, outcome } = await streamCoalesced(600_000, cancellation);
  expect(valueOf(outcome)).toBe('cancelled');
  // Of 75 deltas: a rest takes at most a quarter of the time so far.
  expect(texts).toBeLessThan(40);
  await waitUntil('the end of the request', () => fake.abandoned.length === 1);
});

test('no timer of a client counts a pause in reading as silence of the model', async () => {
  startOwnClock(() => fake.traffic);
  const patient = testRuntime(
    FILES.replace('base_url env.URL, api_key', 'http { idle_timeout_ms 600 }, base_url env.URL, api_key'),
    {
      URL: `${fake.url}/v1`,
      KEY: 'k1',
    },
  );
  fake.answer(reply(`{"name": "${'x'.repeat(400)}", "tags": []}`, { delayMs: 2 }));
  const prepared = patient.prepare('Extract', { text: 'x' });
  if (!prepared.ok) throw new Error('not prepared');
  const outcome = await new Promise<CallOutcome>((resolve) => {
    const stream = patient.stream(prepared.value, callContext(), {
      text: () => stream.coalesceReads(1500),
      reasoning: () => {},
      reset: () => {},
      ended: resolve,
    });
  });
  expect(valueOf(outcome)).toEqual({ name: 'x'.repeat(400), tags: [] });
  await patient.close();
});

test('the outcome contains a failed status and its attempt', async () => {
  fake.answer(status(403, { error: { message: 'not for you' } }));
  const { result, report } = await callFunction(runtime, 'Extract', { text: 'x' });
  expect(result).toMatchObject({
    ok: false,
    failure: { code: 'client_error', client: 'Main', upstreamStatus: 403, attempts: [{ client: 'Main' }] },
  });
  expect(report.attempts).toMatchObject([{ client: 'Main', outcome: 'client_error', upstreamStatus: 403 }]);
});
