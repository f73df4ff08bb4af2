import { afterAll, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, status, type FakeProvider } from '../support/fake-provider.ts';
import { exportedMetrics } from '../support/exported-metrics.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';
import { RESUME_FILES, RESUME_REPLY } from '../e2e/definitions.ts';
import { PANEL_QUERIES } from '../deploy/observability-files.ts';
import { PrometheusProcess, promtool } from './prometheus-process.ts';

const BODY = { text: 'Ada' };

const CONFIGURATION = `
global: { scrape_interval: 1s }
scrape_configs:
  - job_name: svc
    static_configs: [{ targets: [TARGET] }]
`;

let fake: FakeProvider;
let server: RunningServer;
let prometheus: PrometheusProcess;
let receiver: OtlpReceiver;

beforeAll(async () => {
  // Fails here if Prometheus is not installed, so no test is skipped silently.
  expect(promtool(['--version']).code).toBe(0);
  fake = await startFakeProvider();
  receiver = await startOtlpReceiver();
  const env = {
    PROVIDER_URL: `${fake.url}/v1`,
    OPENAI_API_KEY: 'sk-test',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  server = await startServer({ files: RESUME_FILES, flags: ['--workers', '2', '--log-level', 'off'], env });
  fake.answer(reply(RESUME_REPLY, { usage: { prompt_tokens: 12, completion_tokens: 7 } }));
  for (let at = 0; at < 5; at += 1) await call('ExtractResume');
  await readStream(`${server.url}/stream/ExtractResume`, BODY);
  fake.answer(status(429, '{"error":{"message":"slow down"}}'));
  await call('ExtractResume');
  await call('Nothing');
  prometheus = await PrometheusProcess.start(CONFIGURATION, `127.0.0.1:${server.port}`);
});

afterAll(async () => {
  await prometheus.stop();
  await server.stop();
  await fake.close();
  await receiver.close();
});

async function call(name: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await (await fetch(`${server.url}/call/${name}`, { method: 'POST', headers, body: JSON.stringify(BODY) })).text();
}

async function valueOf(query: string): Promise<number | undefined> {
  const [first] = await prometheus.query(query);
  return first === undefined ? undefined : Number(first.value[1]);
}

test('promtool finds no fault in the metrics', async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(promtool(['check', 'metrics'], text)).toEqual({ code: 0, output: '' });
});

test('Prometheus scrapes the server as OpenMetrics, and reads every value', async () => {
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
  const { headers } = await fetch(`${server.url}/metrics`, { headers: { accept } });
  expect(headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  await expect.poll(() => prometheus.targets()).toMatchObject([{ health: 'up', lastError: '' }]);
  await expect.poll(() => valueOf('sum(svc_requests_total{function="ExtractResume",status="200"})')).toBe(6);
  expect(await valueOf('sum(svc_requests_total{function="unknown",status="404"})')).toBe(1);
  expect(await valueOf('svc_tokens_total{client="Fast",direction="input"}')).toBe(72);
  expect(await valueOf('svc_attempts_total{client="Fast",outcome="client_error"}')).toBe(1);
  expect(await valueOf('svc_workers')).toBe(2);
  expect(await valueOf('count(svc_worker_memory_bytes)')).toBe(2);
  expect(await valueOf('histogram_quantile(0.5, sum by (le) (svc_request_duration_seconds_bucket))')).toBeGreaterThan(
    0,
  );
});

test('Prometheus knows the same metrics as the documentation, except those that nothing counted and those of a store', async () => {
  await expect.poll(() => prometheus.names()).toContain('svc_requests_total');
  const families = (await prometheus.names()).filter((name) => name.startsWith('svc_'));
  const exported = await exportedMetrics();
  const known = (name: string) => exported.has(name) || exported.has(name.replace(/_(?:bucket|sum|count)$/u, ''));
  expect(families.filter((name) => !known(name))).toEqual([]);
  const scraped = new Set(families.flatMap((name) => [name, name.replace(/_(?:bucket|sum|count)$/u, '')]));
  expect([...exported.keys()].filter((name) => !scraped.has(name)).toSorted()).toEqual([
    'svc_cached_calls_total',
    'svc_client_cool_downs_total',
    'svc_client_cooling',
    'svc_cost_usd_total',
    'svc_idempotent_calls_total',
    'svc_key_cost_usd_total',
    'svc_key_requests_total',
    'svc_key_tokens_total',
    'svc_rate_limited_total',
    'svc_reasks_total',
    'svc_repeated_attempts_total',
    'svc_reply_losses_total',
    'svc_store_failures_total',
    'svc_store_machines',
    'svc_store_operations_total',
    'svc_store_seconds',
    'svc_store_state',
  ]);
});

/** The query of a panel for all jobs, functions and clients, over a time that a short test fills. */
function queryOf(panel: string): string {
  return panel.replaceAll('$__rate_interval', '1m').replaceAll(/"\$(?:job|function|client)"/gu, '".*"');
}

test('Prometheus evaluates the query of every panel of the dashboard', async () => {
  await expect.poll(() => valueOf('svc_workers')).toBe(2);
  expect(PANEL_QUERIES.length).toBeGreaterThan(40);
  for (const [, query] of PANEL_QUERIES) await prometheus.query(queryOf(query));
  const empty = [];
  await expect.poll(() => valueOf('count_over_time(svc_workers[1m])')).toBeGreaterThan(2);
  for (const [title, query] of PANEL_QUERIES) {
    if ((await prometheus.query(queryOf(query))).length === 0) empty.push(title);
  }
  // Nothing in this test has a price, is asked again, falls back, cools down, or loses a part.
  expect(empty).toEqual([
    'Cost per hour A',
    'Cost per hour by client A',
    'Attempts after the first one A',
    'Re-asks by outcome A',
    'Clients that cool down A',
    'Losses by function A',
  ]);
});

test('exemplars of durations lead to traces', async () => {
  for (const metric of ['svc_request_duration_seconds_bucket', 'svc_attempt_duration_seconds_bucket']) {
    await expect.poll(() => prometheus.traceIds(metric)).not.toEqual([]);
    const ids = await prometheus.traceIds(metric);
    await expect.poll(() => ids.filter((id) => !receiver.spans.some(({ traceId }) => traceId === id))).toEqual([]);
  }
});
