import { expect, it, vi } from 'vitest';
import type { Attempt } from '../../src/schema/failure.ts';
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

it('counts what the values of a function lack, and lossy replies apart from repaired ones', () => {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast']) }, SOURCES);
  const flags = [{ flag: 'dropped-item', path: '[1]' }];
  const losses = { dropped: 2, defaulted: 1 };
  const end = { functionName: 'Greet', route: 'call', status: 200, outcome: 'ok', durationMs: 4 } as const;
  metrics.callEnded({ ...end, report: { ...REPORT, flags, losses } });
  metrics.callEnded({ ...end, report: { ...REPORT, flags, losses: { dropped: 3, defaulted: 0 } } });
  metrics.callEnded({ ...end, report: { ...REPORT, flags } });
  metrics.callEnded({ ...end, status: 500, outcome: 'validation_failure', report: { ...REPORT, losses } });
  expect(valuesOf(metrics, 'svc_reply_losses_total')).toEqual({ 'Greet dropped': 7, 'Greet defaulted': 2 });
  expect(valuesOf(metrics, 'svc_replies_total')).toEqual({ 'Greet lossy': 2, 'Greet repaired': 1, 'Greet failed': 1 });
});

it('counts re-asks by their outcome, and the tokens and the cost of each attempt for its client', () => {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast', 'Slow']) }, SOURCES);
  const attempts = [
    { client: 'Fast', outcome: 'validation_failure', durationMs: 1, inputTokens: 5, outputTokens: 1, cost: 0.5 },
    {
      client: 'Fast',
      outcome: 'validation_failure',
      durationMs: 1,
      reask: true,
      inputTokens: 7,
      outputTokens: 2,
      cost: 0.25,
    },
    { client: 'Slow', outcome: 'client_error', durationMs: 1 },
    { client: 'Slow', outcome: 'ok', durationMs: 1, reask: true, inputTokens: 9 },
  ] as const;
  const report = { ...REPORT, client: 'Slow', attempts };
  metrics.callEnded({ functionName: 'Greet', route: 'call', status: 200, outcome: 'ok', durationMs: 4, report });
  expect(valuesOf(metrics, 'svc_reasks_total')).toEqual({ 'Greet Fast validation_failure': 1, 'Greet Slow ok': 1 });
  expect(valuesOf(metrics, 'svc_cost_usd_total')).toEqual({ Fast: 0.75 });
  expect(valuesOf(metrics, 'svc_tokens_total')).toEqual({ 'Fast input': 12, 'Fast output': 3, 'Slow input': 9 });
});

it('counts attempts after the first one by their kind', () => {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast', 'Slow']) }, SOURCES);
  const failed = { outcome: 'client_error', durationMs: 1 } as const;
  const attempts = [
    { ...failed, client: 'Fast' },
    { ...failed, client: 'Fast' },
    { ...failed, client: 'Slow' },
    { client: 'Slow', outcome: 'ok', durationMs: 1, reask: true },
  ] as const;
  const report = { ...REPORT, attempts };
  metrics.callEnded({ functionName: 'Greet', route: 'call', status: 200, outcome: 'ok', durationMs: 4, report });
  expect(valuesOf(metrics, 'svc_repeated_attempts_total')).toEqual({
    'Fast retry': 1,
    'Slow fallback': 1,
    'Slow reask': 1,
  });
});

it('has the same number of series, whatever names callers choose', () => {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast']) }, SOURCES);
  const end = (functionName: string, client: string, model: string): void => {
    const attempts = ['client_error', 'ok'].flatMap((outcome) => [
      { client, outcome, durationMs: 1, inputTokens: 1, outputTokens: 1, cost: 1 } as Attempt,
      { client, outcome, durationMs: 1, reask: true } as Attempt,
    ]);
    const report = { ...REPORT, client, model, attempts, firstTextMs: 1, losses: { dropped: 1, defaulted: 1 } };
    metrics.callEnded({ functionName, route: 'call', status: 200, outcome: 'ok', durationMs: 4, report });
  };
  const series = () => metrics.data().reduce((sum, { values }) => sum + values.length, 0);
  end('Greet', 'Fast', 'small');
  end('Made up', 'Brought', 'any');
  const before = series();
  for (let at = 0; at < 1_000; at += 1) end(`Made up ${at}`, `Brought ${at}`, `any-${at}`);
  expect(series()).toBe(before);
});

it('shows the connections to providers, and the replies that reached a limit of parsing', () => {
  const metrics = new ProcessMetrics({ functions: [], clients: new Set() }, SOURCES);
  expect(valuesOf(metrics, 'svc_upstream_connections')).toEqual({ 'http/1.1': 3, h2: 1 });
  expect(valuesOf(metrics, 'svc_upstream_requests')).toMatchObject({ 'http/1.1 active': 2, 'http/1.1 waiting': 1 });
  expect(valuesOf(metrics, 'svc_upstream_origins')).toEqual({ '': 2 });
  expect(valuesOf(metrics, 'svc_parse_thread_replies_total')).toEqual({ '': 6 });
  expect(valuesOf(metrics, 'svc_parse_limits_total')).toEqual({ steps: 1, time: 2, memory: 3 });
});

/** The values of a metric by their labels, joined. */
function valuesOf(metrics: ProcessMetrics, metric: string): Readonly<Record<string, number>> {
  const values = metrics.data().find(({ name }) => name === metric)?.values ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

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
