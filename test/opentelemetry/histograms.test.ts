import { expect, test } from 'vitest';
import { Histograms, Instruments } from '../../src/telemetry/instruments.ts';

const SIZES = { name: 'sizes', unit: 'By', description: 'Sizes.', bounds: [1, 10] };

function histograms(temporality: 'cumulative' | 'delta' = 'cumulative'): Histograms {
  return new Histograms({ name: 'test' }, temporality);
}

async function pointsOf(all: Histograms) {
  const { resourceMetrics } = await all.collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return metrics.flatMap(({ descriptor, dataPoints }) =>
    dataPoints.map(({ attributes, value }) => ({ name: descriptor.name, attributes, value })),
  );
}

test('a bound belongs to the bucket below it', async () => {
  const all = histograms();
  const series = all.series(SIZES, { a: 1 });
  for (const value of [0, 1, 1.5, 10, 11]) series.record(value);
  const buckets = { boundaries: [1, 10], counts: [2, 2, 1] };
  expect(await pointsOf(all)).toEqual([
    { name: 'sizes', attributes: { a: 1 }, value: { buckets, sum: 23.5, count: 5 } },
  ]);
});

test('cumulative sums grow, deltas start again', async () => {
  for (const [temporality, counts] of [
    ['cumulative', [1, 2]],
    ['delta', [1, 1]],
  ] as const) {
    const all = histograms(temporality);
    const series = all.series(SIZES, {});
    const seen: unknown[] = [];
    for (const value of [5, 6]) {
      series.record(value);
      seen.push(...(await pointsOf(all)).map((point) => (point.value as { readonly count: number }).count));
    }
    expect(seen).toEqual(counts);
  }
});

test('a delta without values is not exported', async () => {
  const all = histograms('delta');
  all.series(SIZES, {}).record(1);
  expect(await pointsOf(all)).toHaveLength(1);
  expect(await pointsOf(all)).toEqual([]);
});

test('series beyond the limit share one', async () => {
  const all = histograms();
  for (let index = 0; index < 2100; index += 1) all.series(SIZES, { index }).record(1);
  const points = await pointsOf(all);
  expect(points).toHaveLength(2000);
  expect(points.at(-1)).toMatchObject({ attributes: { 'otel.metric.overflow': true }, value: { count: 101 } });
});

test('equal requests count in one series, and each model in its own', async () => {
  const all = histograms();
  const instruments = new Instruments(all);
  const numbers = { durationMs: 300, firstTextMs: 100, inputTokens: 7, outputTokens: 3, error: undefined };
  const client = {};
  const model = (name: string) => ({
    client,
    responseModel: name,
    key: () => ({ key: name, attributes: () => ({ model: name }) }),
  });
  for (const error of [undefined, undefined]) instruments.attemptEnded({ ...numbers, error }, model('a'));
  instruments.attemptEnded(numbers, model('b'));
  instruments.attemptEnded({ ...numbers, error: '503' }, model('a'));
  const points = await pointsOf(all);
  const found = points.filter(({ attributes }) => attributes['model'] === 'a');
  expect(found.map(({ name, attributes, value }) => [name, attributes['error.type'], value])).toMatchObject([
    ['gen_ai.client.operation.duration', undefined, { count: 2 }],
    ['gen_ai.client.operation.duration', '503', { count: 1 }],
    ['gen_ai.client.token.usage', undefined, { count: 3, sum: 21 }],
    ['gen_ai.client.token.usage', undefined, { count: 3, sum: 9 }],
    ['gen_ai.client.operation.time_to_first_chunk', undefined, { count: 2, sum: 0.2 }],
    ['gen_ai.server.time_per_output_token', undefined, { count: 2, sum: 0.2 }],
  ]);
});
