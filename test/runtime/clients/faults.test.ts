import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ModelFault } from '../../../src/runtime/clients/model-fault.ts';
import type { Asked } from '../../support/ask-client.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import {
  SSE_HEADERS,
  chatCompletion,
  chatEvent,
  chatEvents,
  chunk,
  head,
  raw,
  reply,
  sleep,
  sse,
  startFakeProvider,
  status,
} from '../../support/fake-provider.ts';
import type { Behaviour, FakeProvider } from '../../support/fake-provider.ts';

let fake: FakeProvider;
const services = testServices();

beforeAll(async () => {
  fake = await startFakeProvider();
});
afterAll(async () => {
  await services.pools.close();
  await fake.close();
});
afterEach(() => fake.clear());

const LIMITS = {
  connect_timeout_ms: 300,
  time_to_first_token_timeout_ms: 300,
  idle_timeout_ms: 200,
  request_timeout_ms: 500,
};

function asked(url: string, streamed: boolean, http: Readonly<Record<string, number>> = LIMITS): Promise<Asked> {
  const definition = clientDefinition('openai-generic', {
    base_url: url,
    model: 'm',
    api_key: 'canary-key-1234',
    http,
  });
  return ask(makeClient(definition, services), { streamed });
}

function code(fault: ModelFault): string {
  const { failure } = fault;
  if (failure.code === 'timeout') return `timeout ${failure.timer}`;
  const upstream =
    failure.code === 'client_error' && failure.upstreamStatus !== undefined ? ` ${failure.upstreamStatus}` : '';
  return `${failure.code}${upstream}`;
}

const whole = JSON.stringify(chatCompletion('fine'));
const events = chatEvents('fine', { chunkSize: 2 });
const text = events.join('');
const JSON_HEAD = head(200, { 'content-type': 'application/json', 'content-length': String(whole.length) });
const stall: Behaviour = async (_request, wire) => {
  while (!wire.gone) await sleep(20);
};
function then(...steps: readonly ((...args: Parameters<Behaviour>) => void | Promise<void>)[]): Behaviour {
  return async (request, wire) => {
    for (const step of steps) await step(request, wire);
  };
}
const reset: Behaviour = async (_request, wire) => {
  await sleep(20);
  wire.reset();
};
const end: Behaviour = (_request, wire) => wire.end();
const drip: Behaviour = async (_request, wire) => {
  wire.write(JSON_HEAD);
  for (let at = 0; at < whole.length && !wire.gone; at += 1) {
    wire.write(whole.charAt(at));
    await sleep(50);
  }
};
const endless: Behaviour = async (_request, wire) => {
  wire.write(head(200, SSE_HEADERS));
  for (;;) {
    if (wire.gone) return;
    wire.write(chunk(chatEvent({ content: 'x'.repeat(100) })));
    await sleep(1);
  }
};

interface Row {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** Outcome of a whole reply; `ok` or the code. Left out: not tried. */
  readonly call?: string;
  readonly stream?: string;
  readonly retry?: ModelFault['retry'];
}

/** Each fault of an upstream, and what becomes of it. */
const TABLE: readonly Row[] = [
  { name: 'accepts and never answers', behaviour: stall, call: 'timeout request', stream: 'timeout first_token' },
  { name: 'headers, then silence', behaviour: then(raw(JSON_HEAD), stall), call: 'timeout idle' },
  {
    name: 'stream headers, then silence',
    behaviour: then(raw(head(200, SSE_HEADERS)), stall),
    stream: 'timeout idle',
    retry: 'always',
  },
  {
    name: 'a stream that falls silent',
    behaviour: then(raw(head(200, SSE_HEADERS), chunk(events[1] ?? '')), stall),
    stream: 'timeout idle',
  },
  { name: 'cut after the status', behaviour: then(raw(JSON_HEAD), reset), call: 'client_error', retry: 'always' },
  {
    name: 'cut in the middle of JSON',
    behaviour: then(raw(JSON_HEAD + whole.slice(0, 40)), reset),
    call: 'client_error',
  },
  {
    name: 'cut in the middle of a stream',
    behaviour: then(raw(head(200, SSE_HEADERS), chunk(events[1] ?? '')), reset),
    stream: 'client_error',
    retry: 'always',
  },
  { name: 'cut after [DONE]', behaviour: then(raw(head(200, SSE_HEADERS), chunk(text)), reset), stream: 'ok' },
  {
    name: 'a length that is too long',
    behaviour: then(raw(head(200, { 'content-type': 'application/json', 'content-length': '9999' }) + whole), end),
    call: 'client_error',
  },
  {
    name: 'a length that is too short',
    behaviour: raw(head(200, { 'content-type': 'application/json', 'content-length': '20' }) + whole),
    call: 'client_error',
  },
  { name: 'a byte at a time', behaviour: drip, call: 'timeout request' },
  {
    name: 'cut inside of UTF-8 and of data:',
    behaviour: sse([...Buffer.from(text)].map((byte) => Buffer.from([byte]))),
    stream: 'ok',
  },
  { name: 'CRLF', behaviour: sse([text.replaceAll('\n', '\r\n')]), stream: 'ok' },
  { name: 'CR', behaviour: sse([text.replaceAll('\n', '\r')]), stream: 'ok' },
  {
    name: 'byte order mark and comments',
    behaviour: sse([`\uFEFF: hi\n\n${text.replaceAll('\n\n', '\n: c\n\n')}`]),
    stream: 'ok',
  },
  { name: 'no blank line at the end', behaviour: sse([text.trimEnd()]), stream: 'ok' },
  {
    name: 'an event that is not JSON',
    behaviour: sse([events[1] ?? '', 'data: {"choices":[\n\n']),
    stream: 'client_error',
    retry: 'never',
  },
  { name: '[DONE] missing', behaviour: sse([text.replace('data: [DONE]\n\n', '')]), stream: 'ok' },
  { name: '[DONE] twice', behaviour: sse([`${text}data: [DONE]\n\n`]), stream: 'ok' },
  {
    name: 'neither finish reason nor [DONE], but a body that ended well',
    behaviour: sse(events.slice(0, 3)),
    stream: 'ok',
  },
  {
    name: 'neither, and the connection is closed before the last chunk',
    behaviour: then(raw(head(200, SSE_HEADERS), ...events.slice(0, 3).map(chunk)), end),
    stream: 'client_error',
    retry: 'always',
  },
  {
    name: 'neither, in a body that only the end of its connection ends',
    behaviour: then(raw(head(200, { 'content-type': 'text/event-stream' }), ...events.slice(0, 3)), end),
    stream: 'client_error',
    retry: 'always',
  },
  {
    name: 'cut in a body that only the end of its connection ends',
    behaviour: then(raw(head(200, { 'content-type': 'text/event-stream' }), ...events.slice(0, 3)), reset),
    stream: 'client_error',
    retry: 'always',
  },
  {
    name: 'whole, in a body that only the end of its connection ends',
    behaviour: then(raw(head(200, { 'content-type': 'text/event-stream' }), ...events), end),
    stream: 'ok',
  },
  {
    name: '100 Continue, that nobody asked for',
    behaviour: then(raw('HTTP/1.1 100 Continue\r\n\r\n'), status(200, chatCompletion('fine'))),
    call: 'client_error',
    retry: 'always',
  },
  { name: 'a stream with no event', behaviour: sse(['']), stream: 'client_error' },
  {
    name: 'an error object inside of a stream',
    behaviour: sse([events[1] ?? '', 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n']),
    stream: 'client_error',
    retry: 'always',
  },
  {
    name: 'an error object that no retry mends',
    behaviour: sse(['data: {"error":{"message":"no","type":"invalid_request_error"}}\n\n']),
    stream: 'client_error',
    retry: 'never',
  },
  {
    name: 'an error object with status 200',
    behaviour: status(200, { error: { message: 'no' } }),
    call: 'client_error',
    stream: 'client_error',
  },
  {
    name: 'gzip that nobody asked for',
    behaviour: (_r, wire) =>
      wire.write(
        Buffer.concat([
          Buffer.from(
            head(200, {
              'content-type': 'application/json',
              'content-encoding': 'gzip',
              'transfer-encoding': 'chunked',
            }),
          ),
          chunk(gzipSync(whole)),
          chunk(''),
        ]),
      ),
    call: 'client_error 200',
    retry: 'never',
  },
  { name: 'an endless stream', behaviour: endless, stream: 'timeout request' },
  { name: '103, then the answer', behaviour: raw(`HTTP/1.1 103 Early Hints\r\n\r\n${JSON_HEAD}${whole}`), call: 'ok' },
  { name: '204', behaviour: raw(head(204, {})), call: 'client_error' },
  {
    name: '307',
    behaviour: raw(head(307, { location: 'http://127.0.0.1:1/', 'content-length': '0' })),
    call: 'client_error 307',
    stream: 'client_error 307',
    retry: 'never',
  },
  {
    name: '401',
    behaviour: status(401, { error: { message: 'bad key canary-key-1234' } }),
    call: 'client_error 401',
    stream: 'client_error 401',
    retry: 'status',
  },
  { name: '408', behaviour: status(408, {}), call: 'client_error 408' },
  { name: '409', behaviour: status(409, {}), call: 'client_error 409' },
  { name: '425', behaviour: status(425, {}), call: 'client_error 425' },
  {
    name: '429',
    behaviour: status(429, {}, { 'retry-after': '3' }),
    call: 'client_error 429',
    stream: 'client_error 429',
  },
  { name: '500 with HTML', behaviour: status(500, '<h1>no</h1>'), call: 'client_error 500' },
  { name: '529', behaviour: status(529, {}), call: 'client_error 529' },
  {
    name: 'an error body without end',
    behaviour: async (_request, wire) => {
      wire.write(head(500, { 'transfer-encoding': 'chunked' }));
      while (!wire.gone) {
        wire.write(chunk('x'.repeat(10_000)));
        await sleep(1);
      }
    },
    call: 'client_error 500',
  },
  { name: 'JSON that is no object', behaviour: status(200, []), call: 'client_error' },
  { name: 'no choices', behaviour: status(200, {}), call: 'client_error', retry: 'never' },
  {
    name: 'two choices',
    behaviour: status(200, { choices: [{ message: {} }, { message: {} }] }),
    call: 'client_error',
  },
  { name: 'null content', behaviour: status(200, chatCompletion(null)), call: 'ok' },
  { name: 'JSON where a stream was asked for', behaviour: status(200, chatCompletion('fine')), stream: 'ok' },
  { name: 'no HTTP at all', behaviour: then(raw('hello\r\n\r\n'), end), call: 'client_error', stream: 'client_error' },
  { name: 'closed with no answer', behaviour: end, call: 'client_error', stream: 'client_error' },
];

const CASES = TABLE.flatMap((row) => [
  ...(row.call === undefined ? [] : [{ ...row, mode: 'call', outcome: row.call }]),
  ...(row.stream === undefined ? [] : [{ ...row, mode: 'stream', outcome: row.stream }]),
]);

test('the table has all its rows', () => {
  expect(CASES.length).toBeGreaterThan(50);
});

test.each(CASES)('$mode: $name -> $outcome', async ({ behaviour, mode, outcome, retry }) => {
  const url = fake.at('fault', behaviour);
  const { result, ms } = await asked(url, mode === 'stream');
  expect(result.ok ? 'ok' : code(result.failure)).toBe(outcome);
  expect(ms).toBeLessThan(5000);
  const told = result.ok ? undefined : result.failure.retry;
  expect(retry ?? told).toBe(told);
  expect(JSON.stringify(result)).not.toContain('canary-key-1234');
});

test('a stream of OpenAI itself needs a finish reason or its end mark', async () => {
  const url = fake.at('fault', sse(events.slice(0, 3)));
  const definition = clientDefinition('openai', { base_url: url, model: 'm', api_key: 'k' });
  const { result } = await ask(makeClient(definition, services), { streamed: true });
  expect(result.ok ? 'ok' : code(result.failure)).toBe('client_error');
});

test('a connection that is refused is a fault of the client', async () => {
  const gone = await startFakeProvider();
  const { url } = gone;
  await gone.close();
  const { result } = await asked(url, false);
  expect(result.ok ? 'ok' : code(result.failure)).toBe('client_error');
  expect(!result.ok && result.failure.retry).toBe('always');
});

test('the deadline of the call ends it', async () => {
  const definition = clientDefinition('openai-generic', { base_url: fake.at('stall', stall), model: 'm' });
  for (const streamed of [false, true]) {
    const { result, ms } = await ask(makeClient(definition, services), { streamed, deadlineMs: 150 });
    expect(result.ok ? 'ok' : code(result.failure)).toBe('timeout total');
    expect(ms).toBeGreaterThanOrEqual(149);
    expect(ms).toBeLessThan(2000);
  }
});

test('a kept connection that the provider closes at its next use is used again once, by another connection', async () => {
  const behaviour = reply('fine');
  const url = fake.at('flaky', behaviour);
  expect((await asked(url, false)).result.ok).toBe(true);
  await sleep(20);
  fake.script((_request, wire) => wire.reset());
  expect((await asked(url, false)).result.ok).toBe(true);
});

test.each<[string, number | undefined]>([
  ['3', 3000],
  ['0.5', 500],
  ['-1', undefined],
  ['99999999999', 86_400_000],
  ['soon', undefined],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
])('retry-after %s', async (value, wait) => {
  const { result } = await asked(fake.at('later', status(429, {}, { 'retry-after': value })), false);
  expect(!result.ok && result.failure.retryAfterMs).toBe(wait);
});

test('an error tells what the provider said, without the key it echoed', async () => {
  const url = fake.at(
    'echo',
    status(401, { error: { message: 'Incorrect API key provided: canary-key-1234, sk-abcdef123456' } }),
  );
  const { result } = await asked(url, false);
  expect(!result.ok && result.failure.failure.message).toBe(
    'The client "Tested" answered 401: Incorrect API key provided: [redacted], [redacted]',
  );
});

test('after all of this no connection is left but idle ones, and closing ends these', async () => {
  await services.pools.close();
  await sleep(50);
  expect(fake.openSockets).toBe(0);
});
