import { ROOT_CONTEXT, SpanKind, trace, TraceFlags, type SpanContext } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sampling, TracePosition } from '../../src/telemetry/spans.ts';
import { assertProperty } from '../support/assert-property.ts';

/** The samplers of the SDK, by the names of the variable. */
const SAMPLERS: Readonly<Record<ConstructorParameters<typeof Sampling>[0]['sampler'], (share: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (share) => new TraceIdRatioBasedSampler(share),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (share) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
};

const hex = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: length, maxLength: length })
    .map((digits) => digits.map((digit) => digit.toString(16)).join(''))
    .filter((text) => /[1-9a-f]/u.test(text));

const parents = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  traceFlags: fc.constantFrom(TraceFlags.NONE, TraceFlags.SAMPLED),
  isRemote: fc.constant(true),
});

test('the decision for a request equals that of the samplers of the SDK', () => {
  const names = fc.constantFrom(...(Object.keys(SAMPLERS) as ReadonlyArray<keyof typeof SAMPLERS>));
  const shares = fc.oneof(fc.constantFrom(0, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true }));
  const property = fc.property(names, shares, fc.option(parents), (sampler, sampledShare, given) => {
    const parent: SpanContext | undefined = given ?? undefined;
    const position = new TracePosition(new Sampling({ sampler, sampledShare }), parent);
    const { traceId } = position.context;
    const received = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const { decision } = SAMPLERS[sampler](sampledShare).shouldSample(
      received,
      traceId,
      'POST',
      SpanKind.SERVER,
      {},
      [],
    );
    expect(position.isSampled).toBe(decision === SamplingDecision.RECORD_AND_SAMPLED);
    expect(position.context.traceFlags).toBe(position.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE);
    if (parent !== undefined) expect(traceId).toBe(parent.traceId);
  });
  assertProperty(property, { numRuns: 1000 });
});

test('a new trace has new ids', () => {
  const sampling = new Sampling({ sampler: 'always_on', sampledShare: 1 });
  const ids = Array.from({ length: 100 }, () => new TracePosition(sampling, undefined).context);
  expect(new Set(ids.map(({ traceId }) => traceId)).size).toBe(100);
  for (const { traceId, spanId } of ids) {
    expect(traceId).toMatch(/^[\da-f]{32}$/u);
    expect(spanId).toMatch(/^[\da-f]{16}$/u);
  }
});
