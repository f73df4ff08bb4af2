import { keptCallMetrics } from '../../src/server/call-keeper.ts';
import { ClusterMetrics } from '../../src/server/metrics/cluster-metrics.ts';
import { ProcessMetrics } from '../../src/server/metrics/process-metrics.ts';
import { StoreMetrics } from '../../src/server/store-backends.ts';
import type { MetricsFormat } from '../../src/server/protocol.ts';
import { SOURCES } from '../server/support/gauge-sources.ts';
import { REPORT } from '../server/support/scripted-runtime.ts';

/** The type of a metric, and its labels except for `le`. */
export interface ExportedMetric {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}

const ATTEMPT = { client: 'Fast', outcome: 'ok', durationMs: 3, inputTokens: 1, outputTokens: 1, cost: 1 } as const;

/** A call with every value that metrics count. */
const EVERYTHING = {
  ...REPORT,
  usage: { inputTokens: 1, outputTokens: 1 },
  cost: 1,
  firstTextMs: 1,
  attempts: [ATTEMPT, { ...ATTEMPT, reask: true }],
  losses: { dropped: 1, defaulted: 1 },
} as const;

/** What OpenTelemetry, if it is on, has not exported. */
const LOST = { droppedSpans: 1, failedMetricExports: 1 } as const;

/** The metrics of a server after two calls, as text. */
export function metricsText(format: MetricsFormat = 'prometheus'): Promise<string> {
  const cluster = new ClusterMetrics();
  cluster.serving('abc', '1.0.0');
  cluster.cooling('Fast', 'failures');
  const worker = new ProcessMetrics(
    { functions: ['Greet'], clients: new Set(['Fast']) },
    { ...SOURCES, telemetry: LOST },
  );
  worker.limited('team-a', 'in_flight');
  worker.idempotentCall('Greet', 'first');
  worker.cachedCall('Greet', 'hit');
  const end = { functionName: 'Greet', route: 'call', durationMs: 4, keyName: 'team-a' } as const;
  worker.callEnded({ ...end, status: 200, outcome: 'ok', report: EVERYTHING });
  worker.callEnded({ ...end, status: 500, outcome: 'validation_failure', report: EVERYTHING });
  const store = new StoreMetrics();
  store.count('beat', 0.001);
  store.count('beat', 0.05, 'timeout');
  const ofStore = store.data({ state: 'up', machines: 1 });
  const ofCalls = keptCallMetrics({ kept: 1, dropped: 1, waitingBytes: 1 });
  return cluster.text([worker.data(), ofStore, ofCalls], [{ number: 1, rssBytes: 1, lagSeconds: 0.5 }], format);
}

/** Every metric that svc exports, by the name of its family. */
export async function exportedMetrics(): Promise<ReadonlyMap<string, ExportedMetric>> {
  const found = new Map<string, { readonly type: string; readonly labels: Set<string> }>();
  for (const line of (await metricsText()).split('\n')) {
    const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)$/u.exec(line) ?? [];
    if (name !== '') found.set(name, { type, labels: new Set() });
    if (line === '' || line.startsWith('#')) continue;
    const sample = line.replace(/[{ ].*/u, '');
    const metric = found.get(sample) ?? found.get(sample.replace(/_(?:bucket|sum|count)$/u, ''));
    if (metric === undefined) throw new Error(`no type of ${line}`);
    for (const [, label = ''] of line.matchAll(/(\w+)="/gu)) if (label !== 'le') metric.labels.add(label);
  }
  return found;
}
