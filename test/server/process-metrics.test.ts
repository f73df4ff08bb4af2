import { expect, it, vi } from 'vitest';
import { EventLoopLag, ProcessMetrics } from '../../src/server/metrics/process-metrics.ts';
import { SOURCES } from './support/gauge-sources.ts';
import { REPORT } from './support/scripted-runtime.ts';

it('counts all clients that requests define under one name', () => {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast']) }, SOURCES);
  for (const client of ['Fast', 'Made up', 'with\u0000a separator', 'x'.repeat(10_000)]) {
    const report = { ...REPORT, client, attempts: REPORT.attempts.map((attempt) => ({ ...attempt, client })) };
    metrics.callEnded({ functionName: 'Greet', route: 'call', status: 200, outcome: 'ok', durationMs: 4, report });
  }
  const attempts = metrics.data().find(({ name }) => name === 'svc_attempts_total');
  expect(new Set(attempts?.values.map(({ labels }) => labels['client']))).toEqual(new Set(['Fast', 'other']));
});

it('shows the greatest lag to every scraper, and forgets it after a minute', () => {
  const now = vi.spyOn(performance, 'now');
  now.mockReturnValue(0);
  const monitor = { max: 500e6, reset: () => (monitor.max = 100e6) };
  const lag = new EventLoopLag(monitor);
  expect([lag.seconds, lag.seconds]).toEqual([0.4, 0.4]);
  now.mockReturnValue(31_000);
  expect([lag.seconds, lag.seconds]).toEqual([0.4, 0.4]);
  now.mockReturnValue(62_000);
  expect([lag.seconds, lag.seconds]).toEqual([0.4, 0]);
  now.mockRestore();
});

it('measures a blocked event loop', async () => {
  const metrics = new ProcessMetrics({ functions: [], clients: new Set() }, SOURCES);
  const lag = () => metrics.data().find(({ name }) => name === 'svc_event_loop_lag_seconds')?.values[0]?.value ?? 0;
  await vi.waitUntil(
    () => {
      const until = performance.now() + 400;
      while (performance.now() < until);
      return lag() > 0.2;
    },
    { timeout: 20_000 },
  );
  expect(lag()).toBeGreaterThan(0.2);
});
