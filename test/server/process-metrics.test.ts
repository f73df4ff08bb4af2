import { expect, it } from 'vitest';
import { ProcessMetrics } from '../../src/server/metrics/process-metrics.ts';
import { SOURCES } from './support/gauge-sources.ts';
import { REPORT } from './support/scripted-runtime.ts';

it('counts clients that requests bring under one name, whatever theirs is', () => {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast']) }, SOURCES);
  for (const client of ['Fast', 'Made up', 'with\u0000a separator', 'x'.repeat(10_000)]) {
    const report = { ...REPORT, client, attempts: REPORT.attempts.map((attempt) => ({ ...attempt, client })) };
    metrics.callEnded({ functionName: 'Greet', route: 'call', status: 200, outcome: 'ok', durationMs: 4, report });
  }
  const attempts = metrics.data(false).find(({ name }) => name === 'svc_attempts_total');
  expect(new Set(attempts?.values.map(({ labels }) => labels['client']))).toEqual(new Set(['Fast', 'other']));
});

it('shows the lag since somebody asked, however often a worker reports by itself', async () => {
  const metrics = new ProcessMetrics({ functions: [], clients: new Set() }, SOURCES);
  const lag = (isAsked: boolean) => {
    const found = metrics.data(isAsked).find(({ name }) => name === 'svc_event_loop_lag_seconds');
    return found?.values[0]?.value ?? 0;
  };
  await new Promise((resolve) => setTimeout(resolve, 150));
  const until = performance.now() + 400;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(lag(false)).toBeGreaterThan(0.2);
  expect(lag(true)).toBeGreaterThan(0.2);
  expect(lag(true)).toBeLessThan(0.2);
});
