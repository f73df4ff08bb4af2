import { expect, it, vi } from 'vitest';
import { ClusterMetrics } from '../../src/server/metrics/cluster-metrics.ts';
import { ProcessMetrics } from '../../src/server/metrics/process-metrics.ts';
import type { MetricData, MetricsFormat } from '../../src/server/protocol.ts';
import { SOURCES } from './support/gauge-sources.ts';
import { REPORT } from './support/scripted-runtime.ts';

/** As many workers that accept calls. */
function workers(count: number): ReadonlyArray<{ number: number; rssBytes: number; lagSeconds: number }> {
  return Array.from({ length: count }, (_, index) => ({ number: index + 1, rssBytes: 10, lagSeconds: 0.5 }));
}

function worker(calls: number, name = 'Greet'): readonly MetricData[] {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast']) }, SOURCES);
  for (let call = 0; call < calls; call += 1) {
    metrics.callStarted('call');
    metrics.callEnded({ functionName: name, route: 'call', status: 200, outcome: 'ok', durationMs: 4, report: REPORT });
  }
  // As it arrives over the channel.
  return JSON.parse(JSON.stringify(metrics.data())) as readonly MetricData[];
}

function valueOf(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}

const TOTAL = 'svc_requests_total{function="Greet",route="call",status="200"}';
const COUNT = 'svc_request_duration_seconds_count{function="Greet"}';

it('adds up counters, histograms and gauges of all workers', async () => {
  const text = await new ClusterMetrics().text([worker(3), worker(4)], workers(2));
  expect(valueOf(text, TOTAL)).toBe(7);
  expect(valueOf(text, COUNT)).toBe(7);
  expect(valueOf(text, 'svc_request_duration_seconds_bucket{le="0.005",function="Greet"}')).toBe(7);
  expect(valueOf(text, 'svc_connections')).toBe(4);
  expect(valueOf(text, 'svc_workers')).toBe(2);
});

it('keeps the counters of exited workers, whatever their number, and not their gauges', async () => {
  const metrics = new ClusterMetrics();
  let last = 0;
  for (let gone = 1; gone <= 20; gone += 1) {
    metrics.retire(worker(2));
    const total = valueOf(await metrics.text([worker(1)], workers(1)), TOTAL);
    expect(total).toBe(gone * 2 + 1);
    expect(total).toBeGreaterThan(last);
    last = total;
  }
  expect(valueOf(await metrics.text([worker(1)], workers(1)), 'svc_connections')).toBe(2);
});

/** A worker that observed calls of 4 ms with these traces. */
function traced(...traceIds: ReadonlyArray<string | undefined>): readonly MetricData[] {
  const metrics = new ProcessMetrics({ functions: ['Greet'], clients: new Set(['Fast']) }, SOURCES);
  for (const traceId of traceIds) {
    vi.advanceTimersByTime(1_000);
    metrics.callEnded({ functionName: 'Greet', route: 'call', status: 200, outcome: 'ok', durationMs: 4, traceId });
  }
  return metrics.data();
}

it('in OpenMetrics, a bucket has the trace of its newest observation, over all workers', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
  const workersWithTraces = [traced('a1', 'a2', undefined), traced('b1'), traced(undefined)];
  vi.useRealTimers();
  const buckets = async (format: MetricsFormat) => {
    const text = await new ClusterMetrics().text(workersWithTraces, workers(3), format);
    return text.split('\n').filter((line) => /^svc_request_duration_seconds_bucket\{le="0\.0(?:05|1)"/u.test(line));
  };
  expect(await buckets('openmetrics')).toEqual([
    'svc_request_duration_seconds_bucket{le="0.005",function="Greet"} 5 # {trace_id="b1"} 0.004 1004',
    'svc_request_duration_seconds_bucket{le="0.01",function="Greet"} 5',
  ]);
  expect(await buckets('prometheus')).toEqual([
    'svc_request_duration_seconds_bucket{le="0.005",function="Greet"} 5',
    'svc_request_duration_seconds_bucket{le="0.01",function="Greet"} 5',
  ]);
});

it('counts restarts and names the program', async () => {
  const metrics = new ClusterMetrics();
  metrics.restarted('crash');
  metrics.serving('old', '1.0.0');
  metrics.serving('new', '1.0.0');
  const text = await metrics.text([], workers(0));
  expect(valueOf(text, 'svc_worker_restarts_total{reason="crash"}')).toBe(1);
  expect(text).not.toContain('hash="old"');
  expect(valueOf(text, 'svc_program_info{hash="new",version="1.0.0"}')).toBe(1);
});

it('has one label for all functions that do not exist', async () => {
  const text = await new ClusterMetrics().text([worker(1, 'Nope1'), worker(1, 'Nope2')], workers(2));
  expect(valueOf(text, TOTAL.replace('Greet', 'unknown'))).toBe(2);
});
