import { Counter, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { HistogramTable, NumberTable } from '../../src/server/metrics/metric-tables.ts';

it('counts like the counters of prom-client', async () => {
  const registry = new Registry();
  const counter = new Counter({ name: 'c', help: 'h', labelNames: ['a', 'b'], registers: [registry] });
  const table = new NumberTable('counter', { name: 'c', help: 'h', labels: ['a', 'b'] });
  for (const [a, b, amount] of [
    ['x', 'y', 1],
    ['x', 'z', 2],
    ['x', 'y', 3],
    ['', 'y', 4],
  ] as const) {
    counter.inc({ a, b }, amount);
    table.add(amount, a, b);
  }
  expect([table.data()]).toEqual(await registry.getMetricsAsJSON());
});

it('is zero from the start without labels', () => {
  const table = new NumberTable('counter', { name: 'c', help: 'h', labels: [] });
  expect(table.data().values).toEqual([{ labels: {}, value: 0 }]);
});

it('observes like the histograms of prom-client, on bounds, between and above them', async () => {
  const registry = new Registry();
  const bounds = [0.1, 1, 10];
  const theirs = new Histogram({ name: 'h', help: 'h', labelNames: ['f'], buckets: bounds, registers: [registry] });
  const table = new HistogramTable({ name: 'h', help: 'h', labels: ['f'] }, bounds);
  for (const [f, value] of [
    ['a', 0],
    ['a', 0.1],
    ['b', 0.5],
    ['a', 1],
    ['a', 11],
    ['b', 10],
  ] as const) {
    theirs.observe({ f }, value);
    table.observe(value, f);
  }
  // prom-client also has exemplars.
  expect(await registry.getMetricsAsJSON()).toMatchObject([table.data()]);
});
