import { expect, it, vi } from 'vitest';
import { ClientFailures, statusFields } from '../../src/server/server-state.ts';
import { ProcessMetrics } from '../../src/server/metrics/process-metrics.ts';
import { SOURCES } from './support/gauge-sources.ts';
import { REPORT } from './support/scripted-runtime.ts';

const LIMITED = {
  client: 'Fast',
  outcome: 'client_error',
  upstreamStatus: 429,
  message: 'sk-key',
  durationMs: 1,
} as const;

it('lists all clients of the definitions with their last failure, without its message', () => {
  vi.setSystemTime(new Date('2026-01-02T03:04:05.678Z'));
  const failures = new ClientFailures();
  failures.note({ client: 'Fast', outcome: 'timeout', durationMs: 1 });
  failures.note(LIMITED);
  failures.note({ client: 'Slow', outcome: 'cancelled', durationMs: 1 });
  const worker = {
    number: 1,
    pid: 7,
    state: 'serving',
    uptimeSeconds: 1.26,
    inFlight: 3,
    rssBytes: 9,
    lagSeconds: 0.0126,
  } as const;
  const cooling = [{ client: 'Slow', reason: 'failures', leftMs: 2_000 }] as const;
  const state = { uptimeSeconds: 12.34, workers: [worker], failures: failures.list, cooling } as const;
  const fields: unknown = JSON.parse(JSON.stringify(statusFields(state, new Set(['Fast', 'Slow']))));
  vi.useRealTimers();
  expect(fields).toEqual({
    uptime_seconds: 12.3,
    workers: [
      {
        number: 1,
        pid: 7,
        state: 'serving',
        uptime_seconds: 1.3,
        in_flight: 3,
        memory_bytes: 9,
        event_loop_delay_seconds: 0.013,
      },
    ],
    clients: [
      {
        name: 'Fast',
        last_failure: { error: 'client_error', upstream_status: 429, at: '2026-01-02T03:04:05.678Z' },
        cooling_until: null,
      },
      { name: 'Slow', last_failure: null, cooling_until: '2026-01-02T03:04:07.678Z' },
    ],
  });
});

it('keeps the newest failure of each client, whatever the order in which workers report', () => {
  const failures = new ClientFailures();
  failures.add([{ client: 'Fast', error: 'timeout', at: 20 }]);
  failures.add([
    { client: 'Fast', error: 'client_error', at: 10 },
    { client: 'Slow', error: 'timeout', at: 5 },
  ]);
  expect(failures.list).toEqual([
    { client: 'Fast', error: 'timeout', at: 20 },
    { client: 'Slow', error: 'timeout', at: 5 },
  ]);
});

it('records failures of clients of the definitions only, and reports each to the primary once', () => {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast']) }, SOURCES);
  const attempts = [LIMITED, { ...LIMITED, client: 'Brought by a request' }, ...REPORT.attempts];
  const report = { ...REPORT, attempts };
  metrics.callEnded({ functionName: 'Greet', route: 'call', status: 200, outcome: 'ok', durationMs: 4, report });
  expect(metrics.clientFailures.take()).toMatchObject([{ client: 'Fast', upstreamStatus: 429 }]);
  expect(metrics.clientFailures.take()).toEqual([]);
});
