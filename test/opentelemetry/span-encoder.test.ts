import { emptyResource, resourceFromAttributes } from '@opentelemetry/resources';
import { SpanKind } from '@opentelemetry/api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SpanEncoder } from '../../src/telemetry/span-encoder.ts';
import { RecordedSpan, Sampling, TracePosition } from '../../src/telemetry/spans.ts';
import { assertProperty } from '../support/assert-property.ts';
import { spansOf } from '../support/otlp-receiver.ts';

const SAMPLING = new Sampling({ sampler: 'always_on', sampledShare: 1 });

/** Well-formed, because UTF-8 has no lone surrogates. */
const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', 'é'.repeat(200), 'x'.repeat(20_000)));
const numbers = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }).filter((value) => !Object.is(value, -0)),
);
const values = fc.oneof(texts, numbers, fc.boolean(), fc.array(texts, { maxLength: 4 }));
const attributes = fc.dictionary(
  texts.filter((name) => name !== '__proto__'),
  values,
  { maxKeys: 6 },
);

function span(encoder: SpanEncoder, name: string, startedAt = 0): RecordedSpan {
  const position = new TracePosition(SAMPLING, undefined);
  const output = { queue: encoder, maxValueLength: undefined };
  return new RecordedSpan(output, { name, startedAt, kind: SpanKind.SERVER, position });
}

test('a receiver reads the spans that were encoded', () => {
  const property = fc.property(fc.array(fc.record({ name: texts, own: attributes, shared: attributes })), (given) => {
    const encoder = new SpanEncoder({
      resource: resourceFromAttributes({ 'service.name': 'svc' }),
      scope: { name: 'x' },
    });
    for (const { name, own, shared } of given) {
      const root = span(encoder, name);
      root.share(shared);
      // A name has one value.
      for (const [key, value] of Object.entries(own)) if (!Object.hasOwn(shared, key)) root.set(key, value);
      root.event(name, 1, Object.entries(own));
      root.end(2);
    }
    const received = spansOf(encoder.take());
    expect(received.map(({ name }) => name)).toEqual(given.map(({ name }) => name));
    for (const [index, { own, shared }] of given.entries()) {
      expect(received[index]?.attributes).toEqual({ ...own, ...shared });
      expect(received[index]?.events).toEqual([{ name: given[index]?.name, time: 1_000_000n, attributes: own }]);
      expect(received[index]?.resource).toEqual({ 'service.name': 'svc' });
    }
    expect(spansOf(encoder.take())).toEqual([]);
  });
  assertProperty(property, { numRuns: 200 });
});

test('times are exact to the microsecond', () => {
  const encoder = new SpanEncoder({ resource: emptyResource(), scope: { name: 'x' } });
  // The largest time is in 2500.
  const property = fc.property(fc.integer({ min: 0, max: 16_725_225_600_000 }), fc.nat(999), (millis, micros) => {
    span(encoder, 'x', millis + micros / 1000).end(millis);
    const [{ start, end } = { start: 0n, end: 0n }] = spansOf(encoder.take());
    const expected = BigInt(millis) * 1_000_000n + BigInt(micros) * 1000n;
    // A time in milliseconds has about four decimal places.
    expect(Math.abs(Number(start - expected))).toBeLessThan(2000);
    expect(end).toBe(BigInt(millis) * 1_000_000n);
  });
  assertProperty(property, { numRuns: 1000 });
});

test('a child has the trace and the id of its parent', () => {
  const encoder = new SpanEncoder({ resource: emptyResource(), scope: { name: 'x' } });
  const root = span(encoder, 'root');
  const child = root.child('child', 1, SpanKind.CLIENT);
  child.fail('timeout');
  child.end(2);
  root.end(3);
  const [first, last] = spansOf(encoder.take());
  expect(first).toMatchObject({ traceId: last?.traceId, parentId: last?.spanId, kind: 3, status: 2 });
  expect(last).toMatchObject({ parentId: '', kind: 2, status: 0 });
  expect(first?.spanId).not.toBe(last?.spanId);
});
