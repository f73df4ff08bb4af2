import { expect, test } from 'vitest';
import { deltaText, DELTAS, StampReader, stampOf } from '../../bench/in-flight/delta-stamps.ts';
import { judgeInFlight } from '../../bench/in-flight/in-flight-bars.ts';
import type { InFlightCase } from '../../bench/in-flight/in-flight-cases.ts';
import type { InFlightSample } from '../../bench/in-flight/measure-in-flight.ts';
import { ResponseReader } from '../../bench/in-flight/response-reader.ts';

const RESPONSES = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst',
  'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n5\r\n\r\ntwo\r\n0\r\n\r\n',
].join('');

const HEARD = ['first', 'end 200', '', 'end 503', 'one', '\r\ntwo', 'end 200, last'];

function heard(...reads: readonly string[]): readonly string[] {
  const events: string[] = [];
  const reader = new ResponseReader(
    (part) => events.push(part),
    (status, isLast) => events.push(`end ${status}${isLast ? ', last' : ''}`),
  );
  for (const read of reads) reader.push(Buffer.from(read));
  return events;
}

test('responses are read wherever the connection cuts them', () => {
  expect(heard(RESPONSES)).toEqual(HEARD);
  for (let at = 1; at < RESPONSES.length; at += 1) {
    expect(heard(RESPONSES.slice(0, at), RESPONSES.slice(at))).toEqual(HEARD);
  }
});

/** The event whose text consists of deltas sent at these times. */
function text(...times: readonly number[]): string {
  return `data: {"text":"${times.map(stampOf).join('')}"}\n\n`;
}

test('a chunk does not wait for the line break after it', () => {
  expect(heard('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none')).toEqual(['one']);
});

test('each delta has one delay, that of the first event with its stamp', () => {
  const delays: number[] = [];
  const reader = new StampReader((delay) => delays.push(delay));
  reader.read(text(1000), 1005);
  reader.read(text(1000, 1020, 1040.25), 1045.25);
  reader.read(text(1000, 1020, 1040.25) + text(1000, 1020, 1040.25, 1060), 1061);
  expect(delays).toEqual([5, 25.25, 5, 1]);
  expect(reader.seen).toBe(4);
});

test('the deltas of a stream are the JSON of a value with a stamp for each', () => {
  const deltas = Array.from({ length: DELTAS }, (_, index) => deltaText(index, 1000 + index));
  const { points } = JSON.parse(deltas.join('')) as { readonly points: readonly string[] };
  const delays: number[] = [];
  const reader = new StampReader((delay) => delays.push(delay));
  for (let count = 1; count <= DELTAS; count += 1)
    reader.read(`data: ${deltas.slice(0, count).join('')}`, 1000 + count);
  expect(points.join('').split('@')).toHaveLength(DELTAS + 1);
  expect(delays).toEqual(deltas.map(() => 1));
});

test('a delay is positive although stamps repeat', () => {
  const delays: number[] = [];
  new StampReader((delay) => delays.push(delay)).read(`data: "${stampOf(999_990)}"`, 10);
  expect(delays).toEqual([20]);
});

const GOOD: InFlightSample = {
  cpuMicrosPerRequest: 100,
  requestsPerSecond: 298,
  p50: 1020,
  p99: 1030,
  deltaP50: 25,
  deltaP99: 55,
  connections: 8,
  failed: 0,
  bytesPerRequest: 50 * 1024,
};

const PEER: InFlightSample = { ...GOOD, cpuMicrosPerRequest: 1100 };

/** The bars that a sample of svc misses. */
function missed(subject: InFlightCase, change: Partial<InFlightSample>): readonly string[] {
  const samples = { svc: [{ ...GOOD, ...change }], baml: [PEER] };
  const verdicts = judgeInFlight({
    lasting: [{ subject, title: '', coldMicros: {}, samples }],
    bursts: [],
    memory: [],
  });
  return verdicts.filter(({ holds }) => holds === false).map(({ bar }) => bar.slice(2));
}

const CALLS: InFlightCase = { name: 'tls-h2', endpoint: 'call', wire: 'h2', inFlight: 300 };
const STREAMS: InFlightCase = { name: 'streams-in-flight', endpoint: 'stream', wire: 'plain', inFlight: 300 };

test('calls are judged by cost, time, throughput and connections', () => {
  expect(missed(CALLS, {})).toEqual([]);
  expect(missed(CALLS, { cpuMicrosPerRequest: 400 })).toEqual(['at most 1/3 of the peer']);
  expect(missed(CALLS, { p50: 1051 })).toEqual(['p50 at most 1.05 times the model']);
  expect(missed(CALLS, { requestsPerSecond: 290 })).toEqual(['at least 97 % of the throughput that the model allows']);
  expect(missed(CALLS, { connections: 9 })).toEqual(['connections, one for 50 calls and one per worker']);
  expect(missed(CALLS, { failed: 1 })).toEqual(['no request without its answer']);
});

test('streams are judged by cost, time, the delay of deltas and memory', () => {
  expect(missed(STREAMS, { p50: 1100 })).toEqual([]);
  expect(missed(STREAMS, { cpuMicrosPerRequest: 120 })).toEqual(['at most 1/10 of the peer']);
  expect(missed(STREAMS, { deltaP99: 61 })).toEqual(['delay of a delta, p99, at most 60 ms']);
  expect(missed(STREAMS, { bytesPerRequest: 62_000 })).toEqual(['at most 60 KiB for each stream']);
});

test('a bar without its measurement is reported as not measured', () => {
  const lasting = [{ subject: CALLS, title: 'calls', coldMicros: {}, samples: { svc: [GOOD] } }];
  const [, cost] = judgeInFlight({ lasting, bursts: [], memory: [] });
  expect(cost).toEqual({ bar: 'calls: at most 1/3 of the peer', measured: undefined, limit: 1 / 3, holds: undefined });
});

test('a burst is judged by its slowest call, idle servers by their memory', () => {
  const samples = { svc: [1900, 2100, 1950].map((slowest) => ({ p50: 1200, slowest, calls: 1000, failed: 0 })) };
  const bursts = [{ subject: CALLS, title: 'cold', samples }];
  const bytes = { idle: 131 * 2 ** 20, warm: 132 * 2 ** 20, inFlight: 190 * 2 ** 20, perCall: 59 * 1024 };
  const memory = [{ side: 'svc' as const, ...bytes }];
  const verdicts = judgeInFlight({ lasting: [], bursts, memory });
  expect(verdicts.map(({ measured, holds }) => [measured, holds])).toEqual([
    [1.95, true],
    [131, false],
    [59, true],
  ]);
});
