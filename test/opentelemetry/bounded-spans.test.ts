import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { BoundedSpans } from '../../src/telemetry/telemetry.ts';
import { RecordedSpan, Sampling, TracePosition } from '../../src/telemetry/spans.ts';

const SAMPLING = new Sampling({ sampler: 'always_on', sampledShare: 1 });
const HOUR_MS = 3_600_000;

interface Stage {
  readonly queue: BoundedSpans;
  readonly add: (name: string, content?: string) => void;
  /** The names of the spans in each export. */
  readonly exports: ReadonlyArray<readonly string[]>;
  readonly outcomes: readonly string[];
  /** Ends the oldest export that is under way. */
  readonly answer: (error?: Error) => void;
}

function start({ maxQueueSize = 100, delayMs = HOUR_MS }: { maxQueueSize?: number; delayMs?: number } = {}): Stage {
  const exports: string[][] = [];
  const outcomes: string[] = [];
  const pending: ((error?: Error) => void)[] = [];
  const exporter = {
    export: (spans: ReadableSpan[], done: (result: ExportResult) => void) => {
      exports.push(spans.map(({ name }) => name));
      pending.push((error) =>
        done(error === undefined ? { code: ExportResultCode.SUCCESS } : { code: ExportResultCode.FAILED, error }),
      );
    },
    shutdown: async () => void outcomes.push('shut down'),
  };
  const listener = {
    exported: () => void outcomes.push('exported'),
    failed: (lost: number) => void outcomes.push(`lost ${lost}`),
  };
  const settings = { maxQueueSize, maxBatchSize: 2, delayMs, exportTimeoutMs: HOUR_MS };
  const queue = new BoundedSpans(settings, exporter, listener);
  const add = (name: string, content = ''): void => {
    const { context } = new TracePosition(SAMPLING, undefined);
    const output = { queue, resource: emptyResource(), scope: { name: 'test' }, maxValueLength: undefined };
    const span = new RecordedSpan(output, { name, startedAt: 0, context });
    span.set('content', content);
    span.end(1);
  };
  const answer = (error?: Error): void => pending.shift()?.(error);
  return { queue, add, exports, outcomes, answer };
}

test('a full batch is exported at once, and the next one after it', async () => {
  const { add, exports, outcomes, answer } = start();
  for (const name of ['a', 'b', 'c', 'd', 'e']) add(name);
  expect(exports).toEqual([['a', 'b']]);
  answer();
  await expect
    .poll(() => exports)
    .toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  expect(outcomes).toEqual(['exported']);
});

test('a batch that is not full is exported after the delay', async () => {
  const { add, exports } = start({ delayMs: 1 });
  add('a');
  expect(exports).toEqual([]);
  await expect.poll(() => exports).toEqual([['a']]);
});

test('a full queue drops spans, and a failed export loses its own', async () => {
  const { queue, add, exports, outcomes, answer } = start({ maxQueueSize: 3 });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) add(name);
  expect(queue.dropped).toBe(1);
  answer(new Error('refused'));
  await expect
    .poll(() => exports)
    .toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  expect([queue.dropped, outcomes]).toEqual([3, ['lost 2']]);
});

test('the queue holds at most 32 MiB', () => {
  const { queue, add, exports } = start();
  for (let index = 0; index < 8; index += 1) add(`span ${index}`, 'x'.repeat(5_000_000));
  expect(exports).toEqual([['span 0', 'span 1']]);
  expect(queue.dropped).toBe(2);
});

test('the end exports all spans and takes no more', async () => {
  const { queue, add, exports, outcomes, answer } = start();
  for (const name of ['a', 'b', 'c']) add(name);
  const end = queue.shutdown();
  add('late');
  answer();
  await expect.poll(() => exports).toEqual([['a', 'b'], ['c']]);
  expect(outcomes).toEqual(['exported']);
  answer();
  await end;
  expect([queue.dropped, outcomes]).toEqual([1, ['exported', 'exported', 'shut down']]);
});

test('spans that are not exported when the process ends count as dropped', () => {
  const { queue, add } = start();
  for (const name of ['a', 'b', 'c']) add(name);
  queue.abandon();
  expect(queue.dropped).toBe(3);
});
