import { expect, it, vi } from 'vitest';
import { EventLoopLag } from '../../src/server/metrics/event-loop-lag.ts';
import { ProcessMetrics } from '../../src/server/metrics/process-metrics.ts';
import { SOURCES } from './support/gauge-sources.ts';
import { REPORT } from './support/scripted-runtime.ts';

it('counts clients that requests bring under one name, whatever theirs is', () => {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast']) }, SOURCES);
  for (const client of ['Fast', 'Made up', 'with\u0000a separator', 'x'.repeat(10_000)]) {
    const report = { ...REPORT, client, attempts: REPORT.attempts.map((attempt) => ({ ...attempt, client })) };
    metrics.callEnded({ functionName: 'Greet', route: 'call', status: 200, outcome: 'ok', durationMs: 4, report });
  }
  const attempts = metrics.data().find(({ name }) => name === 'svc_attempts_total');
  expect(new Set(attempts?.values.map(({ labels }) => labels['client']))).toEqual(new Set(['Fast', 'other']));
});

it('shows the greatest lag to everybody who asks', async () => {
  const metrics = new ProcessMetrics({ functions: [], clients: new Set() }, SOURCES);
  const lag = () => metrics.data().find(({ name }) => name === 'svc_event_loop_lag_seconds')?.values[0]?.value ?? 0;
  await new Promise((resolve) => setTimeout(resolve, 150));
  const until = performance.now() + 400;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(lag()).toBeGreaterThan(0.2);
  expect(lag()).toBeGreaterThan(0.2);
});

it('forgets a lag after a minute', async () => {
  const lag = new EventLoopLag();
  await new Promise((resolve) => setTimeout(resolve, 150));
  const until = performance.now() + 400;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 150));
  const now = vi.spyOn(performance, 'now');
  now.mockReturnValue(until + 31_000);
  expect(lag.seconds).toBeGreaterThan(0.2);
  expect(lag.seconds).toBeGreaterThan(0.2);
  now.mockReturnValue(until + 62_000);
  expect(lag.seconds).toBeGreaterThan(0.2);
  expect(lag.seconds).toBeLessThan(0.2);
  now.mockRestore();
});
