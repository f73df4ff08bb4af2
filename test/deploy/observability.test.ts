import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportedMetrics } from '../support/exported-metrics.ts';
import { at } from './chart-files.ts';
import { ALERTS, DASHBOARD, PANEL_QUERIES, readYaml, type Panel } from './observability-files.ts';

/** Prometheus adds the first two to every series, and svc `le` to the buckets of histograms. */
const COMMON_LABELS = ['instance', 'job', 'le'];

/** The faults of a query: metrics that svc does not export, and labels that none of the metrics of the query has. */
async function faultsOf(query: string): Promise<readonly string[]> {
  const exported = await exportedMetrics();
  const names = [...query.matchAll(/\bsvc_\w+/gu)].map(([name]) => name);
  const families = names.map((name) => exported.get(name) ?? exported.get(name.replace(/_(?:bucket|sum|count)$/u, '')));
  const labels = new Set([...COMMON_LABELS, ...families.flatMap((family) => [...(family?.labels ?? [])])]);
  const matched = [...query.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/gu)].map(([, label = '']) => label);
  const grouped = [...query.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/gu)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  return [
    ...(names.length === 0 ? ['no metric of svc'] : []),
    ...names.filter((_, index) => families[index] === undefined),
    ...[...matched, ...grouped].filter((label) => !labels.has(label)),
  ];
}

test('the check of queries finds metrics and labels that svc does not export', async () => {
  expect(await faultsOf('sum by (function) (rate(svc_requests_total{status=~"5.."}[5m]))')).toEqual([]);
  expect(await faultsOf('sum by (pod) (rate(svc_request_total{code="1"}[5m]))')).toEqual([
    'svc_request_total',
    'code',
    'pod',
  ]);
  expect(await faultsOf('sum(rate(svc_queue_length{function="F"}[5m]))')).toEqual(['function']);
});

test.each(PANEL_QUERIES)('panel %s uses only metrics and labels that svc exports', async (_, query) => {
  expect(await faultsOf(query)).toEqual([]);
});

test('variables and annotations of the dashboard use only metrics and labels that svc exports', async () => {
  const definitions = DASHBOARD.templating.list.flatMap(({ definition }) =>
    definition === undefined ? [] : [definition],
  );
  expect(definitions).toHaveLength(3);
  for (const definition of definitions) {
    const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/u.exec(definition) ?? [];
    expect(await faultsOf(`sum by (${label}) (${series})`)).toEqual([]);
  }
  for (const { expr } of DASHBOARD.annotations.list) expect(await faultsOf(expr)).toEqual([]);
});

test('the dashboard has a row for each question of an operator, and no panel is empty', () => {
  const rows = DASHBOARD.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
  expect(rows).toEqual([
    'Overview',
    'Requests',
    'Duration',
    'Tokens and cost',
    'Fallback and retry',
    'Replies',
    'In flight and queues',
    'Workers and memory',
  ]);
  const panels = DASHBOARD.panels.filter(({ type }) => type !== 'row');
  expect(panels.length).toBeGreaterThan(25);
  expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
});

test('the panels have their own ids and places', () => {
  const { panels } = DASHBOARD;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(panels.filter(({ gridPos: { x, w } }) => x < 0 || x + w > 24)).toEqual([]);
  const overlaps = panels.flatMap((panel, index) => panels.slice(index + 1).filter((other) => overlap(panel, other)));
  expect(overlaps).toEqual([]);
});

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

test.each(ALERTS.map((rule) => [rule.alert, rule] as const))(
  'alert %s uses only metrics and labels that svc exports, and has a severity and a summary',
  async (_, { expr, labels, annotations }) => {
    expect(await faultsOf(expr)).toEqual([]);
    expect(['critical', 'warning']).toContain(labels['severity']);
    expect(annotations['summary']).toMatch(/^(?:[A-Z]|svc ).*[^.]$/u);
  },
);

test('each alert links to its section of the runbook, which has no other sections', () => {
  const runbook = readFileSync('docs/runbook.md', 'utf8');
  const sections = [...runbook.matchAll(/^## (\w+)$/gmu)].map(([, name = '']) => name);
  expect(ALERTS.map(({ alert }) => alert)).toEqual(sections);
  const links = ALERTS.map(({ annotations }) => annotations['runbook_url']);
  expect(links).toEqual(sections.map((name) => `docs/runbook.md#${name.toLowerCase()}`));
});

test('the runbook names panels that the dashboard has', () => {
  const named = [...readFileSync('docs/runbook.md', 'utf8').matchAll(/"([A-Z][^"]+)"/gu)].map(
    ([, title = '']) => title,
  );
  expect(named.length).toBeGreaterThan(5);
  const titles = new Set(DASHBOARD.panels.map(({ title }) => title.replace(/, p\d+$/u, '')));
  expect(named.filter((title) => !titles.has(title))).toEqual([]);
});

test('the files of the folder are those that the chart installs', () => {
  for (const name of ['alerts.yaml', 'dashboard.json']) {
    expect(realpathSync(`deploy/observability/${name}`)).toBe(realpathSync(`deploy/helm/svc/files/${name}`));
  }
});

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image?: string;
        readonly build?: string;
        readonly ports?: readonly string[];
        readonly volumes?: readonly string[];
      }
    >
  >;
}

test('the compose file names images by version, mounts files that exist, and publishes ports to this machine only', () => {
  const { services } = readYaml('compose.yaml') as Compose;
  expect(Object.keys(services).toSorted()).toEqual(['grafana', 'otel-collector', 'prometheus', 'svc']);
  for (const [name, { image, build, ports = [], volumes = [] }] of Object.entries(services)) {
    if (build === undefined) expect([name, image]).toEqual([name, expect.stringMatching(/^[\w/-]+:v?\d+\.\d+\.\d+$/u)]);
    else expect(existsSync(join('deploy/observability', build, 'Dockerfile'))).toBe(true);
    for (const volume of volumes)
      expect([volume, existsSync(join('deploy/observability', hostPath(volume)))]).toEqual([volume, true]);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/u);
  }
});

test('Prometheus scrapes the ports that svc and the collector open, and reads the alerts that are mounted', () => {
  const compose = readYaml('compose.yaml') as Compose;
  const prometheus = readYaml('prometheus.yml');
  const collector = readYaml('otel-collector.yaml');
  expect(at(compose, 'services.svc.environment.SVC_METRICS_PORT')).toBe('9464');
  expect(at(prometheus, 'scrape_configs.0.static_configs.0.targets.0')).toBe('svc:9464');
  const exporter = String(at(collector, 'exporters.prometheus.endpoint')).replace('0.0.0.0', 'otel-collector');
  expect(at(prometheus, 'scrape_configs.1.static_configs.0.targets.0')).toBe(exporter);
  const receiver = String(at(collector, 'receivers.otlp.protocols.http.endpoint')).replace('0.0.0.0', 'otel-collector');
  expect(at(compose, 'services.svc.environment.OTEL_EXPORTER_OTLP_ENDPOINT')).toBe(`http://${receiver}`);
  const mounted = compose.services['prometheus']?.volumes?.map((volume) => volume.split(':')[1]);
  expect(mounted).toContain(at(prometheus, 'rule_files.0'));
});

test('each pipeline of the collector uses components that its file declares', () => {
  const collector = readYaml('otel-collector.yaml') as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const pipelines = at(collector, 'service.pipelines') as Readonly<
    Record<string, Readonly<Record<string, readonly string[]>>>
  >;
  expect(Object.keys(pipelines)).toEqual(['traces', 'metrics']);
  for (const pipeline of Object.values(pipelines)) {
    for (const [kind, names] of Object.entries(pipeline)) {
      expect(Object.keys(collector[kind] ?? {})).toEqual(expect.arrayContaining([...names]));
    }
  }
});

test('Grafana finds the dashboard and its data source', () => {
  const compose = readYaml('compose.yaml') as Compose;
  const provider = readYaml('grafana/provisioning/dashboards/svc.yaml');
  const mounts = compose.services['grafana']?.volumes?.map((volume) => volume.split(':')[1]);
  expect(mounts).toContain(`${String(at(provider, 'providers.0.options.path'))}/svc.json`);
  const source = readYaml('grafana/provisioning/datasources/prometheus.yaml');
  expect(at(source, 'datasources.0')).toMatchObject({ type: 'prometheus', url: 'http://prometheus:9090' });
});

/** The part of a volume before the path in the container. */
function hostPath(volume: string): string {
  return volume.split(':')[0] ?? '';
}
