import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { hrTimeToNanoseconds } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import type { ObservedRequest } from '../../src/base/call-observer.ts';
import { Histograms, Instruments } from '../../src/telemetry/instruments.ts';
import { RequestTrace, EpochClock, KnownNames } from '../../src/telemetry/request-trace.ts';
import { Sampling } from '../../src/telemetry/spans.ts';
import type { AttributeMap, ReceivedSpan } from '../support/otlp-receiver.ts';

/** The status of a span in OTLP. */
const [UNSET, ERROR] = [0, 2];

interface Recording {
  readonly trace: RequestTrace;
  /** The ended spans, in the order of their ends. */
  readonly spans: () => readonly ReceivedSpan[];
}

const REQUEST: ObservedRequest = {
  client: 'Fast',
  provider: 'azure-openai',
  model: 'gpt',
  origin: 'https://models.example.com',
  number: 1,
  streamed: false,
  isReask: false,
  ofCaller: false,
  options: { max_completion_tokens: 9, top_p: 'high' },
  messages: [
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'Hello key-123' },
        { kind: 'media', media: 'image' },
      ],
    },
  ],
};

interface Settings {
  readonly sampler?: 'parentbased_always_on' | 'parentbased_always_off';
  readonly maxValueLength?: number;
  readonly captureContent?: boolean;
  readonly instruments?: Instruments;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

function record({
  sampler = 'parentbased_always_on',
  maxValueLength,
  captureContent = false,
  headers = {},
  path = '/call/Hi',
  instruments,
}: Settings = {}): Recording {
  const ended: ReceivedSpan[] = [];
  const queue = { onEnd: (span: ReadableSpan) => void ended.push(exported(span)) };
  const origin = { resource: emptyResource(), scope: { name: 'test' } };
  const sampling = new Sampling({ sampler, sampledShare: 1 });
  const services = {
    traces: { queue, ...origin, maxValueLength, sampling },
    instruments,
    propagator: new CompositePropagator({
      propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
    }),
    names: new KnownNames(10),
    clock: new EpochClock(),
    captureContent,
    redact: (text: string) => text.replaceAll('key-123', '***'),
  };
  const head = { method: 'POST', path, host: '[::1]:2024', header: (name: string) => headers[name] };
  const trace = new RequestTrace(services, head, performance.now());
  return { trace, spans: () => ended };
}

function nanoseconds(time: ReadableSpan['startTime']): bigint {
  return BigInt(hrTimeToNanoseconds(time));
}

/** The span as a receiver gets it. */
function exported(span: ReadableSpan): ReceivedSpan {
  const { traceId, spanId, traceState } = span.spanContext();
  return {
    traceId,
    spanId,
    parentId: span.parentSpanContext?.spanId ?? '',
    traceState: traceState?.serialize() ?? '',
    name: span.name,
    kind: span.kind + 1,
    start: nanoseconds(span.startTime),
    end: nanoseconds(span.endTime),
    attributes: { ...span.attributes } as AttributeMap,
    events: span.events.map(({ name, time, attributes }) => ({
      name,
      time: nanoseconds(time),
      attributes: { ...attributes } as AttributeMap,
    })),
    droppedEvents: span.droppedEventsCount,
    status: span.status.code,
    statusMessage: span.status.message ?? '',
    resource: {},
  };
}

function namesOf(spans: readonly ReceivedSpan[]): readonly string[] {
  return spans.map(({ name }) => name);
}

test('the wait for a slot is a span', () => {
  const { trace, spans } = record();
  trace.queued(performance.now());
  trace.ended({ status: 503, outcome: 'overloaded' });
  expect(namesOf(spans())).toEqual(['svc.queue', 'POST']);
});

test('a call that passes over a client has an event with its name, at most 128 of them', () => {
  const { trace, spans } = record();
  for (let at = 0; at < 130; at += 1) trace.passedOver('Main');
  trace.ended({ status: 200, outcome: 'ok' });
  const [{ events, droppedEvents } = { events: [], droppedEvents: 0 }] = spans();
  expect(events[0]).toMatchObject({ name: 'svc.client_passed_over', attributes: { 'svc.client': 'Main' } });
  expect([events.length, droppedEvents]).toEqual([128, 2]);
});

test('a request for a function has its route and its name', () => {
  const { trace, spans } = record();
  trace.routed('/llm/call/Hi', 'Hi');
  trace.ended({ status: 200, outcome: 'ok', requestId: 'id-1' });
  const [root] = spans();
  expect(root).toMatchObject({ name: 'POST /llm/call/Hi', status: UNSET });
  expect(root?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/llm/call/Hi',
    'http.response.status_code': 200,
    'url.path': '/llm/call/Hi',
    'url.scheme': 'http',
    'server.address': '[::1]',
    'server.port': 2024,
    'svc.function': 'Hi',
    'svc.outcome': 'ok',
    'svc.request_id': 'id-1',
  });
});

test('an unknown path has no route, and its keys are masked', () => {
  const { trace, spans } = record({ path: '/key-123' });
  trace.ended({ status: 404, outcome: 'not_found' });
  expect(spans()[0]).toMatchObject({ name: 'POST', attributes: { 'url.path': '/***' } });
});

test.each([
  [{ status: 404, outcome: 'not_found' }, UNSET, undefined],
  [{ status: 502, outcome: 'client_error' }, ERROR, 'client_error'],
  [{ status: 200, outcome: 'timeout', failed: true }, ERROR, 'timeout'],
  [{ status: undefined, outcome: 'cancelled' }, UNSET, 'cancelled'],
])('the end %j has the right status', (end, code, type) => {
  const { trace, spans } = record();
  trace.ended(end);
  expect(spans()[0]).toMatchObject({ status: code, statusMessage: '' });
  expect(spans()[0]?.attributes['error.type']).toBe(type);
});

test('a request to a model has the attributes of its client, and no content', () => {
  const { trace, spans } = record();
  trace.asked(REQUEST).ended({ text: 'private', responseModel: 'gpt-2026', tokenDetails: { reasoningTokens: 4 } });
  expect(spans()[0]).toMatchObject({ name: 'chat gpt' });
  expect(spans()[0]?.attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'azure.ai.openai',
    'gen_ai.request.model': 'gpt',
    'gen_ai.request.max_tokens': 9,
    'gen_ai.response.model': 'gpt-2026',
    'gen_ai.usage.reasoning.output_tokens': 4,
    'server.address': 'models.example.com',
    'server.port': 443,
    'svc.attempt': 1,
    'svc.client': 'Fast',
  });
});

test('content is exported on request, without media and keys', () => {
  const { trace, spans } = record({ captureContent: true });
  trace.started({ text: 'key-123' });
  trace.asked(REQUEST).ended({ text: 'reply key-123', finishReason: 'stop' });
  trace.ended({ status: 200, outcome: 'ok' });
  const [attempt, root] = spans();
  expect(root?.attributes['svc.arguments']).toBe('{"text":"***"}');
  expect(JSON.parse(String(attempt?.attributes['gen_ai.input.messages']))).toEqual([
    {
      role: 'user',
      parts: [
        { type: 'text', content: 'Hello ***' },
        { type: 'media', modality: 'image' },
      ],
    },
  ]);
  expect(JSON.parse(String(attempt?.attributes['gen_ai.output.messages']))).toEqual([
    { role: 'assistant', parts: [{ type: 'text', content: 'reply ***' }], finish_reason: 'stop' },
  ]);
});

test('content is cut, and no part of a key remains at the cut', () => {
  const { trace, spans } = record({ captureContent: true });
  trace.asked(REQUEST).ended({ text: `${'x'.repeat(65_532)}key-123${'y'.repeat(5_000)}` });
  const text = String(spans()[0]?.attributes['gen_ai.output.messages']);
  expect(text.length).toBeLessThan(65_700);
  expect(/x{9}(?!x)(?<end>[^"]{0,9})/u.exec(text)?.groups?.['end']).toBe('…');
});

test('the end of an attempt counts once', () => {
  const { trace, spans } = record();
  const attempt = trace.asked(REQUEST);
  attempt.ended({ error: 'cancelled' });
  attempt.ended({ error: 'client_error', status: 502 });
  expect(spans()).toHaveLength(1);
  expect(spans()[0]?.attributes['error.type']).toBe('cancelled');
});

test('a parse reports repairs and losses', () => {
  const { trace, spans } = record();
  const parse = trace.parsing();
  parse?.moved();
  parse?.taken();
  parse?.ended({ error: 'validation_failure', flags: [{ flag: 'a' }, { flag: 'a' }], dropped: 2, defaulted: 0 });
  const [thread, own] = spans();
  expect([thread?.name, own?.name]).toEqual(['svc.parse.thread', 'svc.parse']);
  expect(own?.attributes).toEqual({
    'error.type': 'validation_failure',
    'svc.parse.dropped': 2,
    'svc.parse.flags': ['a'],
    'svc.parse.lossy': true,
    'svc.parse.repaired': true,
    'svc.parse.thread': true,
  });
});

test('a trace that is not sampled has ids and headers, and no spans', () => {
  const { trace, spans } = record({ sampler: 'parentbased_always_off', headers: { baggage: 'tenant=acme' } });
  expect(trace.parsing()).toBeUndefined();
  const [name, value, ...rest] = trace.asked(REQUEST).traceHeaders();
  expect([name, value]).toEqual([
    'traceparent',
    `00-${trace.logFields?.['trace_id']}-${trace.logFields?.['span_id']}-00`,
  ]);
  expect(rest).toEqual(['baggage', 'tenant=acme']);
  trace.ended({ status: 200, outcome: 'ok' });
  expect(spans()).toEqual([]);
});

test('a caller continues its trace, and its decision counts', () => {
  const id = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${id}-b7ad6b7169203331-01`, tracestate: 'vendor=1' };
  const { trace, spans } = record({ sampler: 'parentbased_always_off', headers });
  const attempt = trace.asked(REQUEST);
  const sent = attempt.traceHeaders();
  attempt.ended({ text: 'Hi' });
  trace.ended({ status: 200, outcome: 'ok' });
  const [client, server] = spans();
  expect(server?.parentId).toBe('b7ad6b7169203331');
  expect(client?.parentId).toBe(server?.spanId);
  expect(sent).toEqual(['traceparent', `00-${id}-${client?.spanId}-01`, 'tracestate', 'vendor=1']);
  expect(spans().map(({ traceId }) => traceId)).toEqual([id, id]);
});

test('long texts are cut to the limit of the variable', () => {
  const { trace, spans } = record({ maxValueLength: 3 });
  trace.asked(REQUEST).ended({ finishReason: 'length' });
  expect(spans()[0]?.attributes).toMatchObject({ 'svc.client': 'Fas', 'gen_ai.response.finish_reasons': ['len'] });
});

test('a broken traceparent starts a new trace', () => {
  const { trace } = record({ headers: { traceparent: '00-zz-1-01' } });
  expect(trace.logFields?.['trace_id']).toMatch(/^[\da-f]{32}$/u);
});

test('the clients of callers share one series, whatever their models and servers', async () => {
  const histograms = new Histograms({ name: 'test' }, 'cumulative');
  const { trace } = record({ instruments: new Instruments(histograms) });
  for (let index = 0; index < 50; index += 1) {
    const names = { model: `model-${index}`, origin: `https://host-${index}` };
    const attempt = trace.asked({ ...REQUEST, ...names, ofCaller: true, options: {} });
    attempt.ended({ responseModel: `answered-${index}` });
  }
  trace.asked(REQUEST).ended({ responseModel: 'gpt-2026' });
  const { resourceMetrics } = await histograms.collect();
  const [operations] = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const common = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'azure.ai.openai' };
  expect(operations?.dataPoints.map(({ attributes }) => attributes)).toEqual([
    { ...common, 'gen_ai.request.model': 'other' },
    {
      ...common,
      'gen_ai.request.model': 'gpt',
      'gen_ai.response.model': 'gpt-2026',
      'server.address': 'models.example.com',
      'server.port': 443,
    },
  ]);
});

test('requests that fail for different faults of their callers share one series', async () => {
  const histograms = new Histograms({ name: 'test' }, 'cumulative');
  const instruments = new Instruments(histograms);
  for (const outcome of ['invalid_json', 'invalid_argument'])
    record({ instruments }).trace.ended({ status: 400, outcome });
  const { resourceMetrics } = await histograms.collect();
  const [requests] = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  expect(requests?.dataPoints.at(-1)).toMatchObject({
    attributes: { 'http.request.method': 'POST', 'http.response.status_code': 400, 'url.scheme': 'http' },
    value: { count: 2 },
  });
});

test('names beyond the limit share one', () => {
  const names = new KnownNames(2);
  expect(['a', 'b', 'c', 'a'].map((name) => names.bounded(name))).toEqual(['a', 'b', 'other', 'a']);
  expect(names.bounded('x'.repeat(300))).toBe('other');
});
