import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { reply, startFakeProvider, status, type FakeProvider } from '../support/fake-provider.ts';
import { waitUntil } from '../support/load.ts';
import { METRICS } from '../../src/telemetry/instruments.ts';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { openStream } from '../support/sse.ts';

const DEFINITIONS = `
retry_policy Once {
  max_retries 1
  strategy {
    type constant_delay
    delay_ms 1
  }
}
client<llm> First {
  provider openai
  retry_policy Once
  options {
    model first-model
    api_key env.MODEL_KEY
    temperature 0.5
    max_tokens 100
    base_url env.FIRST_URL
  }
}
client<llm> Second {
  provider openai
  options {
    model second-model
    api_key env.MODEL_KEY
    base_url env.SECOND_URL
    http { propagate_trace true }
  }
}
client<llm> Both {
  provider fallback
  options { strategy [First, Second] }
}
class Person {
  name string
  age int?
}
function Extract(text: string) -> Person {
  client Both
  prompt #"Extract: {{ text }}"#
}
`;

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const TRACED = {
  'content-type': 'application/json',
  traceparent: `00-${PARENT.traceId}-${PARENT.spanId}-01`,
  tracestate: 'vendor=1',
  baggage: 'tenant=acme',
};
const BODY = JSON.stringify({ text: 'a secret person' });
/** Kinds and statuses of spans. */
const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];
const [UNSET, ERROR] = [0, 2];

const MASK = '[redacted]';
const CALLERS_KEY = 'callers-own-0123456789';
const KEY = 'sk-key-of-the-model-0123456789';

let first: FakeProvider;
let second: FakeProvider;
let receiver: OtlpReceiver;
let server: RunningServer | undefined;
/** A server that several tests share, and its receiver. */
interface Traced {
  readonly server: RunningServer;
  readonly receiver: OtlpReceiver;
}
let shared: Traced;
/** Exports prompts and replies, and logs details. */
let detailed: Traced;

beforeAll(async () => {
  [first, second, receiver] = await Promise.all([startFakeProvider(), startFakeProvider(), startOtlpReceiver()]);
  shared = await startTraced({ OTEL_EXPORTER_OTLP_HEADERS: 'x-export-key=export-key-123' });
  const content = {
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  };
  detailed = await startTraced(content, ['--log-level', 'debug', '--transport', 'node']);
});

beforeEach(() => {
  for (const each of [first, second, receiver, shared.receiver, detailed.receiver]) each.clear();
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

afterAll(async () => {
  await Promise.all([shared, detailed].map((each) => each.server.stop()));
  await Promise.all([first, second, receiver, shared.receiver, detailed.receiver].map((each) => each.close()));
});

/** Starts the server of a test. */
async function start(env: Readonly<Record<string, string>> = {}, flags: readonly string[] = []): Promise<string> {
  server = await startWith(env, flags);
  return server.url;
}

/** Starts a server with a receiver of its own. */
async function startTraced(env: Readonly<Record<string, string>>, flags: readonly string[] = []): Promise<Traced> {
  const own = await startOtlpReceiver();
  return { server: await startWith({ OTEL_EXPORTER_OTLP_ENDPOINT: own.url, ...env }, flags), receiver: own };
}

function startWith(env: Readonly<Record<string, string>>, flags: readonly string[] = []): Promise<RunningServer> {
  return startServer({
    files: { 'main.svc': DEFINITIONS },
    flags: ['--workers', '1', ...flags],
    env: {
      MODEL_KEY: KEY,
      FIRST_URL: `${first.url}/v1`,
      SECOND_URL: `${second.url}/v1`,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_METRIC_EXPORT_INTERVAL: '50',
      ...env,
    },
  });
}

/** The spans of the last trace that has a span of this name, once its server span arrived, which ends last. */
async function traceOf(root: string, from = receiver): Promise<readonly ReceivedSpan[]> {
  const isRoot = ({ name }: ReceivedSpan): boolean => name === root;
  await waitUntil(`the span "${root}"`, () => from.spans.some(isRoot));
  const id = from.spans.findLast(isRoot)?.traceId;
  return from.spans.filter(({ traceId }) => traceId === id).toSorted((a, b) => (a.start < b.start ? -1 : 1));
}

function post(url: string, headers: Readonly<Record<string, string>> = {}, body = BODY): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
}

function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const [found, ...others] = spans.filter((span) => span.name === name);
  if (found === undefined || others.length > 0) throw new Error(`${1 + others.length} spans "${name}", or none`);
  return found;
}

async function counter(url: string, series: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.split(' ')[1] ?? Number.NaN,
  );
}

test('a stream that was retried and fell back is one trace with all of its steps', async () => {
  const { url, port } = shared.server;
  const busy = status(503, { error: { message: 'busy with a secret' } });
  first.script(busy, busy);
  second.answer(reply('{"name": "Ada", "age": "unclear"}', { chunkSize: 5 }));
  expect(await (await post(`${url}/stream/Extract`, TRACED)).text()).toContain('final_result');
  const spans = await traceOf('POST /stream/Extract', shared.receiver);
  expect(spans.map(({ name, kind, status: code, attributes }) => [name, kind, code, attributes['error.type']])).toEqual(
    [
      ['POST /stream/Extract', SERVER, UNSET, undefined],
      ['svc.render', INTERNAL, UNSET, undefined],
      ['chat first-model', CLIENT, ERROR, '503'],
      ['svc.render', INTERNAL, UNSET, undefined],
      ['chat first-model', CLIENT, ERROR, '503'],
      ['svc.render', INTERNAL, UNSET, undefined],
      ['chat second-model', CLIENT, UNSET, undefined],
      ['svc.parse', INTERNAL, UNSET, undefined],
    ],
  );
  const [root, ...steps] = spans;
  expect(root).toMatchObject({ traceId: PARENT.traceId, parentId: PARENT.spanId, traceState: 'vendor=1' });
  expect(steps.map(({ parentId }) => parentId)).toEqual(steps.map(() => root?.spanId));
  for (const step of steps) expect(step.start >= (root?.start ?? 0n) && step.end <= (root?.end ?? 0n)).toBe(true);
  expect(root?.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/stream/Extract',
    'http.response.status_code': 200,
    'url.path': '/stream/Extract',
    'server.address': '127.0.0.1',
    'server.port': port,
    'svc.outcome': 'ok',
  });
  const answered = only(spans, 'chat second-model');
  expect(answered.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'second-model',
    'gen_ai.response.model': 'fake',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.output_tokens': 3,
    'server.port': second.port,
    'svc.attempt': 3,
    'svc.client': 'Second',
  });
  expect(answered.events.map(({ name }) => name)).toEqual(['svc.first_token']);
  expect(only(spans, 'svc.parse').attributes).toMatchObject({ 'svc.parse.lossy': true, 'svc.parse.thread': false });
  // Only the second client sends trace headers.
  expect(first.requests.map(({ headers }) => headers['traceparent'])).toEqual([undefined, undefined]);
  expect(second.requests.at(-1)?.headers).toMatchObject({
    traceparent: `00-${PARENT.traceId}-${answered.spanId}-01`,
    tracestate: 'vendor=1',
    baggage: 'tenant=acme',
  });
});

test('the spans of a stream end when its caller disconnects', async () => {
  const { url } = shared.server;
  first.answer(reply('{"name": "Ada", "age": 1}', { chunkSize: 1, delayMs: 50 }));
  const leave = new AbortController();
  const answer = await openStream(`${url}/stream/Extract`, { text: 'Ada' }, {}, leave.signal);
  await answer.body?.getReader().read();
  leave.abort();
  const spans = await traceOf('POST /stream/Extract', shared.receiver);
  const [root, attempt] = [only(spans, 'POST /stream/Extract'), only(spans, 'chat first-model')];
  expect(root.attributes).toMatchObject({ 'error.type': 'cancelled', 'http.response.status_code': 200 });
  expect([root.status, attempt.status, attempt.attributes['error.type']]).toEqual([UNSET, ERROR, 'cancelled']);
  expect(attempt.end <= root.end).toBe(true);
});

test('a reply that another thread parses has a span for the thread', async () => {
  const { url } = shared.server;
  first.answer(reply(JSON.stringify({ name: 'x'.repeat(300_000), age: 1 })));
  expect((await post(`${url}/call/Extract`)).status).toBe(200);
  const spans = await traceOf('POST /call/Extract', shared.receiver);
  const [parse, thread] = [only(spans, 'svc.parse'), only(spans, 'svc.parse.thread')];
  expect(parse.attributes['svc.parse.thread']).toBe(true);
  expect(thread.parentId).toBe(parse.spanId);
  expect(thread.events.map(({ name }) => name)).toEqual(['svc.thread_taken']);
});

test('prompts, arguments and replies are exported if the variable asks for them, without keys', async () => {
  const { url } = detailed.server;
  const text = `{"name": "Ada ${KEY} ${CALLERS_KEY}", "age": 1}`;
  first.answer(reply(text));
  const body = JSON.stringify({ text: 'a secret person', svc_options: { env: { MODEL_KEY: CALLERS_KEY } } });
  expect((await post(`${url}/call/Extract`, {}, body)).status).toBe(200);
  const spans = await traceOf('POST /call/Extract', detailed.receiver);
  expect(only(spans, 'POST /call/Extract').attributes['svc.arguments']).toBe(BODY);
  const { attributes } = only(spans, 'chat first-model');
  expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual([
    { role: 'system', parts: [{ type: 'text', content: 'Extract: a secret person' }] },
  ]);
  expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'text', content: text.replace(KEY, MASK).replace(CALLERS_KEY, MASK) }],
      finish_reason: 'stop',
    },
  ]);
});

test('the log lines of a request name its trace, also on node:http', async () => {
  const { url, output } = detailed.server;
  first.script(status(503, {}));
  first.answer(reply('{"name": "Ada", "age": 1}'));
  expect((await post(`${url}/call/Extract`, { ...TRACED, 'x-request-id': 'traced-1' })).status).toBe(200);
  const spans = await traceOf('POST /call/Extract', detailed.receiver);
  const ids = { trace_id: PARENT.traceId, span_id: only(spans, 'POST /call/Extract').spanId };
  const lines = (): readonly string[] =>
    output()
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.includes('"requestId":"traced-1"'));
  await waitUntil('all lines', () => lines().length === 3);
  const own = lines();
  expect(own.map((line) => JSON.parse(line))).toEqual(own.map(() => expect.objectContaining(ids)));
  expect(own.length).toBe(3);
});

// It ends the server of the tests above.
test('no export contains a prompt, an argument, a reply, an error of a provider or a key', async () => {
  const { url, output } = shared.server;
  second.answer(reply('{"name": "private-reply", "age": 1}'));
  first.answer(status(400, { error: { message: `private-error about ${KEY}` } }));
  expect((await post(`${url}/call/Extract`)).status).toBe(200);
  await traceOf('POST /call/Extract', shared.receiver);
  await shared.server.stop();
  const sent = shared.receiver.bytes.map((bytes) => bytes.toString('latin1')).join('\n');
  for (const word of ['private', 'a secret person', KEY, 'export-key-123']) expect(sent).not.toContain(word);
  expect(shared.receiver.headers.map((headers) => headers['x-export-key'])).toContain('export-key-123');
  expect(output()).not.toContain('export-key-123');
});

test('metrics have the names, units and buckets of the conventions, also without traces', async () => {
  const url = await start({ OTEL_TRACES_SAMPLER: 'always_off', OTEL_SERVICE_NAME: 'extractor' });
  first.answer(reply('{"name": "Ada", "age": 1}', { chunkSize: 5 }));
  expect((await post(`${url}/stream/Extract`)).status).toBe(200);
  const names = Object.values(METRICS).map(({ name }) => name);
  await waitUntil('all metrics', () => names.every((name) => receiver.histograms.some((point) => point.name === name)));
  for (const { name, unit, bounds } of Object.values(METRICS)) {
    expect(receiver.histograms.findLast((point) => point.name === name)).toMatchObject({ unit, bounds, count: 1 });
  }
  expect(receiver.histograms.findLast(({ name }) => name === 'gen_ai.client.operation.duration')).toMatchObject({
    resource: { 'service.name': 'extractor' },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'first-model',
      'server.address': '127.0.0.1',
      'server.port': first.port,
    },
  });
  await server?.stop();
  expect(receiver.spans).toEqual([]);
});

test('calls do not notice a receiver that refuses or hangs, and drops are counted', async () => {
  const silent = await startOtlpReceiver();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: silent.url,
    OTEL_BSP_MAX_QUEUE_SIZE: '4',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
  };
  const url = await start(env, ['--drain-timeout', '2s']);
  first.answer(reply('{"name": "Ada", "age": 1}'));
  const dropped = (): Promise<number> => counter(url, 'svc_telemetry_dropped_total{signal="traces"}');
  for (const mode of ['refuse', 'hang'] as const) {
    silent.mode = mode;
    silent.clear();
    const before = await dropped();
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(`${url}/call/Extract`)));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    await waitUntil('an export', () => silent.headers.length > 0);
    // Far more than the queue of the other mode can still hold.
    await waitUntil('the drops to be counted', async () => (await dropped()) > before + 40);
  }
  expect(await server?.stop()).toBe(0);
  await silent.close();
});

test('after SIGTERM, the last spans and metrics are exported', async () => {
  const url = await start({ OTEL_BSP_SCHEDULE_DELAY: '600000', OTEL_METRIC_EXPORT_INTERVAL: '600000' });
  first.answer(reply('{"name": "Ada", "age": 1}'));
  expect((await post(`${url}/call/Extract`)).status).toBe(200);
  expect([receiver.spans, receiver.histograms]).toEqual([[], []]);
  expect(await server?.stop()).toBe(0);
  expect(receiver.spans.map(({ name }) => name)).toContain('POST /call/Extract');
  expect(receiver.histograms.map(({ name }) => name)).toContain('gen_ai.client.operation.duration');
});

test('a call without a receiver has no trace', async () => {
  const url = await start({ OTEL_SDK_DISABLED: 'true' });
  second.answer(reply('{"name": "Ada", "age": 1}'));
  first.answer(status(400, {}));
  expect((await post(`${url}/call/Extract`, TRACED)).status).toBe(200);
  await server?.stop();
  expect(receiver.headers).toEqual([]);
  expect(second.requests.at(-1)?.headers['traceparent']).toBeUndefined();
});
