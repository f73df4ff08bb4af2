import { expect, test } from 'vitest';
import type { AttemptFailure } from '../../../src/runtime/model/attempt-failure.ts';
import { type Asked, ask, clientDefinition, makeClient } from '../../support/ask-client.ts';
import { SSE_HEADERS, chatCompletion, chatEvent, chatEvents, raw, sse, status } from '../../support/fake-provider.ts';
import { sleep, type Behaviour } from '../../support/fake-wire.ts';
import { chunk, head } from '../../support/http1-connection.ts';
import { runOnOwnClock } from '../../support/own-clock.ts';
import { waitUntil } from '../../support/load.ts';
import { fakeModels } from '../../support/fake-models.ts';

const { fake, services } = await fakeModels();

runOnOwnClock(() => fake.traffic);

function asked(url: string, streamed: boolean, http: Readonly<Record<string, number>> = {}): Promise<Asked> {
  const definition = clientDefinition('openai-generic', {
    base_url: url,
    model: 'm',
    api_key: 'canary-key-1234',
    http,
  });
  return ask(makeClient(definition, services), { streamed });
}

function code(fault: AttemptFailure): string {
  const { failure } = fault;
  if (failure.code === 'timeout') return `timeout ${failure.timer}`;
  const upstream =
    failure.code === 'client_error' && failure.upstreamStatus !== undefined ? ` ${failure.upstreamStatus}` : '';
  return `${failure.code}${upstream}`;
}

const whole = JSON.stringify(chatCompletion('fine'));
const events = chatEvents('fine', { chunkSize: 2 });
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
  /** Outcome of a whole reply: `ok` or the code. Absent: not tested. */
  readonly call?: string;
  readonly stream?: string;
  /** The limits of time; absent: the default ones, which no test reaches. */
  readonly http?: Readonly<Record<string, number>>;
  readonly retry?: AttemptFailure['retry'];
}

/** Unusual replies that docs/faults.md does not list. */
const TABLE: readonly Row[] = [
  {
    name: 'cut in a body that only the end of its connection ends',
    behaviour: then(raw(head(200, { 'content-type': 'text/event-stream' }), ...events.slice(0, 3)), reset),
    stream: 'client_error',
    retry: 'always',
  },
  {
    name: 'an endless stream',
    behaviour: endless,
    stream: 'timeout request',
    http: { request_timeout_ms: 500 },
    retry: 'always',
  },
  {
    name: 'an error object with status 200',
    behaviour: status(200, { error: { message: 'no' } }),
    call: 'client_error',
  },
  { name: 'no choices', behaviour: status(200, {}), call: 'client_error', retry: 'never' },
  {
    name: 'two choices',
    behaviour: status(200, { choices: [{ message: {} }, { message: {} }] }),
    call: 'client_error',
    retry: 'never',
  },
  { name: 'null content', behaviour: status(200, chatCompletion(null)), call: 'ok' },
];

const CASES = TABLE.flatMap((row) => [
  ...(row.call === undefined ? [] : [{ ...row, mode: 'call', outcome: row.call }]),
  ...(row.stream === undefined ? [] : [{ ...row, mode: 'stream', outcome: row.stream }]),
]);

test.each(CASES)('$mode: $name -> $outcome', async ({ behaviour, mode, outcome, http, retry }) => {
  const { result } = await asked(fake.at('fault', behaviour), mode === 'stream', http);
  expect(result.ok ? 'ok' : code(result.failure)).toBe(outcome);
  const actual = result.ok ? undefined : result.failure.retry;
  expect(retry ?? actual).toBe(actual);
});

test.each<[string, Behaviour, boolean, string]>([
  ['a reply that breaks off', then(raw(JSON_HEAD, whole.slice(0, 40)), reset), false, 'broke off in the middle'],
  ['a stream that ends too early', then(raw(head(200, SSE_HEADERS), chunk('')), end), true, 'ended its stream before'],
  ['an empty reply', status(200, ''), false, 'sent an empty reply'],
  ['a connection that is cut', reset, false, 'could not be reached'],
])('the failure names %s', async (_name, behaviour, streamed, message) => {
  const { result } = await asked(fake.at('fault', behaviour), streamed);
  expect(!result.ok && result.failure.failure.message).toContain(`The client "Tested" ${message}`);
});

test('a stream of OpenAI itself needs a finish reason or its end mark', async () => {
  const url = fake.at('fault', sse(events.slice(0, 3)));
  const definition = clientDefinition('openai', { base_url: url, model: 'm', api_key: 'k' });
  const { result } = await ask(makeClient(definition, services), { streamed: true });
  expect(result.ok ? 'ok' : code(result.failure)).toBe('client_error');
});

test('the deadline ends the call', async () => {
  const definition = clientDefinition('openai-generic', { base_url: fake.at('stall', stall), model: 'm' });
  for (const streamed of [false, true]) {
    const { result, ms } = await ask(makeClient(definition, services), { streamed, deadlineMs: 150 });
    expect(result.ok ? 'ok' : code(result.failure)).toBe('timeout total');
    expect(ms).toBeGreaterThanOrEqual(150);
  }
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

test.each<[string, string, number | undefined]>([
  ['750', '1', 750],
  ['0', '5', 0],
  ['soon', '2', 2000],
  ['-1', 'later', undefined],
])('retry-after-ms %s overrides retry-after %s', async (exact, seconds, wait) => {
  const headers = { 'retry-after-ms': exact, 'retry-after': seconds };
  const { result } = await asked(fake.at('later', status(429, {}, headers)), false);
  expect(!result.ok && result.failure.retryAfterMs).toBe(wait);
});

test('an error quotes the provider, but not the key that the provider echoed', async () => {
  const url = fake.at(
    'echo',
    status(401, { error: { message: 'Incorrect API key provided: canary-key-1234, sk-4f9Zq81Lw0Vt7Bx2' } }),
  );
  const { result } = await asked(url, false);
  expect(!result.ok && result.failure.failure.message).toBe(
    'The client "Tested" answered 401: Incorrect API key provided: [redacted], [redacted]',
  );
});

test('keys in headers and query parameters are masked too, with and without their scheme', async () => {
  const message = 'no: canary-a1 canary-b2 canary-c3, not "plain value"';
  const definition = clientDefinition('openai-generic', {
    base_url: fake.at('echo', status(401, { error: { message } })),
    model: 'm',
    headers: { authorization: 'Token canary-a1', 'x-api-key': 'canary-b2', 'x-title': 'plain value' },
    query_params: { key: 'canary-c3' },
  });
  const { result } = await ask(makeClient(definition, services));
  expect(!result.ok && result.failure.failure.message).toBe(
    'The client "Tested" answered 401: no: [redacted] [redacted] [redacted], not "plain value"',
  );
});

test('afterwards only idle connections remain, and close ends them', async () => {
  await services.pools.close();
  await waitUntil('the end of all connections', () => fake.openSockets === 0);
  expect(fake.openSockets).toBe(0);
});
