import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { checkSources } from '../../src/compiler/compile.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import {
  at,
  CHART,
  checkValues,
  DEFAULTS,
  defaultsOf,
  EVERYTHING,
  schemaOf,
  templatesOf,
  valuesWith,
} from './chart-files.ts';

// These tests read the chart without a renderer. `npm run test:manifests` renders it with Helm.

/** The chart inside the chart. */
const VALKEY = `${CHART}/charts/valkey`;

/** The folders of the charts, with the least number of values that each declares. */
const CHARTS: ReadonlyArray<readonly [string, number]> = [
  [CHART, 40],
  [VALKEY, 6],
];

const textOf = (chart: string): string => [...templatesOf(chart).values()].join('\n');

/**
 * Returns the documents of a template without its actions: lines with only an action disappear, and other actions become
 * the word VALUE. All literal text appears as in the manifest.
 */
function outlineOf(template: string): readonly unknown[] {
  const text = template.replaceAll(/^[ \t]*\{\{[^}]*\}\}[ \t]*\n/gmu, '').replaceAll(/\{\{[^}]*\}\}/gu, 'VALUE');
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });
}

function outlinesOf(chart: string): readonly unknown[] {
  const manifests = [...templatesOf(chart)].filter(([name]) => name.endsWith('.yaml'));
  return manifests.flatMap(([, template]) => outlineOf(template));
}

const outlines = outlinesOf(CHART);
const deployment = outlines.find((outline) => at(outline, 'kind') === 'Deployment');
const container = at(deployment, 'spec.template.spec.containers.0');

/** The values at `inner` of every entry of a list. */
function each(list: unknown, inner: string): readonly unknown[] {
  expect(Array.isArray(list) && list.length > 0).toBe(true);
  return Object.values(list ?? {}).map((entry) => at(entry, inner));
}

/** The paths of all values that are not objects with declared keys. */
function pathsOf(values: unknown, before: string): readonly string[] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return [before];
  const entries = Object.entries(values);
  if (entries.length === 0) return [before];
  return entries.flatMap(([name, value]) => pathsOf(value, before === '' ? name : `${before}.${name}`));
}

function matchesOf(text: string, pattern: RegExp): ReadonlySet<string> {
  return new Set([...text.matchAll(pattern)].map(([, match = '']) => match));
}

test.each(CHARTS)('the templates of %s read every value that values.yaml declares, and no others', (chart, least) => {
  const defaults = defaultsOf(chart);
  const declared = pathsOf(defaults, '');
  const read = [...matchesOf(textOf(chart), /\.Values\.([\w.]+)/gu)];
  expect(declared.length).toBeGreaterThanOrEqual(least);
  expect(read.filter((path) => at(defaults, path) === undefined)).toEqual([]);
  const isRead = (path: string): boolean => read.some((other) => path === other || path.startsWith(`${other}.`));
  expect(declared.filter((path) => !isRead(path))).toEqual([]);
});

test.each(CHARTS)('the templates of %s include all defined templates and no others', (chart) => {
  const defined = matchesOf(textOf(chart), /\bdefine "([\w.]+)"/gu);
  expect(defined.size).toBeGreaterThan(1);
  expect(matchesOf(textOf(chart), /\binclude "([\w.]+)"/gu)).toEqual(defined);
});

test.each(CHARTS)('every block of a template of %s has its end', (chart) => {
  for (const [name, template] of templatesOf(chart)) {
    const begins = template.match(/\{\{-? (?:if|with|range|define) /gu) ?? [];
    expect([name, template.match(/\{\{-? end /gu)?.length ?? 0]).toEqual([name, begins.length]);
  }
});

test('the templates produce these kinds of manifests, each with a name and labels', () => {
  expect(outlines.map((outline) => `${String(at(outline, 'apiVersion'))} ${String(at(outline, 'kind'))}`)).toEqual([
    'v1 ConfigMap',
    'v1 ConfigMap',
    'apps/v1 Deployment',
    'autoscaling/v2 HorizontalPodAutoscaler',
    'networking.k8s.io/v1 Ingress',
    'networking.k8s.io/v1 NetworkPolicy',
    'policy/v1 PodDisruptionBudget',
    'monitoring.coreos.com/v1 PrometheusRule',
    'keda.sh/v1alpha1 ScaledObject',
    'v1 Service',
    'v1 Service',
    'v1 ServiceAccount',
    'monitoring.coreos.com/v1 ServiceMonitor',
  ]);
  for (const outline of outlines) {
    expect(Object.keys(Object(at(outline, 'metadata')))).toEqual(expect.arrayContaining(['name', 'labels']));
  }
});

test('the variables are settings of svc, and the values of `env` cannot set the same ones', () => {
  const variables = each(at(container, 'env'), 'name').filter((name) => name !== 'VALUE');
  expect(variables.length).toBeGreaterThan(5);
  const known = Object.values(SETTINGS).map((setting) => setting.variable as unknown);
  expect(known).toEqual(expect.arrayContaining(variables));
  for (const variable of variables) {
    expect([variable, checkValues(valuesWith({ env: { [String(variable)]: '1' } }))]).toEqual([variable, false]);
  }
});

test('all named ports are ports of the container', () => {
  const ports = each(at(container, 'ports'), 'name');
  expect(ports).toEqual(['http', 'metrics']);
  const services = outlines.filter((outline) => at(outline, 'kind') === 'Service');
  expect(services).toHaveLength(2);
  for (const service of services) {
    expect(ports).toEqual(expect.arrayContaining([...each(at(service, 'spec.ports'), 'targetPort')]));
  }
});

test('the probes call paths below the base path', () => {
  expect(at(container, 'livenessProbe.httpGet')).toEqual({ path: 'VALUE/livez', port: 'http' });
  expect(at(container, 'readinessProbe.httpGet')).toEqual({ path: 'VALUE/readyz', port: 'http' });
  expect(at(container, 'startupProbe.httpGet')).toEqual({ path: 'VALUE/livez', port: 'http' });
});

test('definitions are mounted in the folder that the image serves', () => {
  expect(at(container, 'volumeMounts.1')).toMatchObject({ mountPath: '/srv/svc_src', readOnly: true });
  expect(readFileSync('Dockerfile', 'utf8')).toContain('WORKDIR /srv\nCOPY svc_src svc_src\n');
});

test('the container can write only to /tmp, and has no privileges', () => {
  const pod = at(deployment, 'spec.template.spec');
  expect(at(pod, 'securityContext')).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(at(container, 'securityContext')).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
});

test('by default, the workers of a pod fit into its memory', () => {
  expect(at(DEFAULTS, 'resources.limits.memory')).toBe('640Mi');
  const variables = { SVC_WORKERS: String(DEFAULTS['workers']) };
  const loaded = loadConfig({}, { variables, limits: { cores: 64, memoryBytes: 640 * 2 ** 20 } });
  expect(loaded).toMatchObject({ ok: true, value: { warnings: [], config: { workers: 2 } } });
});

test("by default, a network policy blocks the cloud's metadata service", () => {
  expect(at(DEFAULTS, 'networkPolicy.egressTo.0.ipBlock')).toEqual({ cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] });
  expect(at(DEFAULTS, 'networkPolicy.egressTo.1.ipBlock.cidr')).toBe('::/0');
});

test('the command in values.yaml installs complete definitions', () => {
  const values = readFileSync('deploy/helm/svc/values.yaml', 'utf8');
  const files = [...values.matchAll(/--set-file '[^=]+=([^']+)'/gu)].map(([, path = '']) => path);
  expect(files.length).toBeGreaterThan(1);
  const { diagnostics } = checkSources(
    files.map((path) => new SourceFile(path, readFileSync(path, 'utf8'))),
    { version: '0.1.0', versionCheck: false, beta: false, apiKey: false },
  );
  expect(diagnostics).toEqual([]);
});

const WRONG_VALUES: ReadonlyArray<readonly [string, unknown]> = [
  ['replicas', 'two'],
  ['service.port', 70_000],
  ['basePath', 'llm'],
  ['definitions', { 'a.txt': '' }],
  ['definitions', { '../a.svc': '' }],
  ['env', { SVC_PASSWORD: 'in the open' }],
  ['env', { SVC_PORT: 8080 }],
  ['env', { SVC_DRAIN_TIMEOUT: '10m' }],
  ['drain', { delay: 5 }],
  ['typo', true],
  ['env', { SVC_STORE: 'redis://:password@store' }],
  ['ingress.enabled', true],
  ['ingress.hosts', ['http://llm.example.com']],
  ['ingress.tls', [{ secret: 'llm-tls' }]],
  ['store.key', ''],
  ['valkey', { enabled: 'yes' }],
  ['autoscaling', { enabled: true, targetCPUUtilizationPercentage: 0, targetInFlight: 0 }],
  ['autoscaling.keda', { enabled: true, serverAddress: 'prometheus:9090' }],
];

test('the schema accepts the default values, and values that turn everything on', () => {
  expect(schemaOf(CHART)).toMatchObject({ additionalProperties: false });
  expect([checkValues(DEFAULTS), checkValues(valuesWith(EVERYTHING))]).toEqual([true, true]);
});

test.each(WRONG_VALUES)('the schema refuses %s: %j', (path, value) => {
  expect(checkValues(valuesWith({ [path]: value }))).toBe(false);
});

test('by default, the chart needs no controller, no operator and no store', () => {
  const switches = pathsOf(DEFAULTS, '').filter((path) => /(?:^|\.)enabled$/u.test(path));
  const on = switches.filter((path) => at(DEFAULTS, path) !== false);
  expect(on).toEqual(['podDisruptionBudget.enabled', 'metrics.enabled']);
  expect(switches).toEqual(expect.arrayContaining(['ingress.enabled', 'autoscaling.keda.enabled', 'valkey.enabled']));
  expect(at(DEFAULTS, 'store.existingSecret')).toBe('');
});

test('the chart contains the chart of Valkey, which accepts the values that Helm hands to it', () => {
  const dependency = at(parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8')), 'dependencies.0');
  const { name, version } = parse(readFileSync(`${VALKEY}/Chart.yaml`, 'utf8')) as Record<string, unknown>;
  expect(dependency).toEqual({ name, version, repository: '', condition: 'valkey.enabled' });
  // Helm adds the condition and the global values.
  const values = { ...defaultsOf(VALKEY), enabled: true, global: {} };
  const checkValkey = new Ajv({ strict: false }).compile(schemaOf(VALKEY));
  expect([checkValkey(values), checkValues(valuesWith({ valkey: values }))]).toEqual([true, true]);
  expect(checkValkey({ ...values, maxMemory: 'much' })).toBe(false);
});

test('the URL of Valkey has the name and the port of its Service', () => {
  const service = outlinesOf(VALKEY).find((outline) => at(outline, 'kind') === 'Service');
  expect(at(service, 'metadata.name')).toBe('VALUE-valkey');
  expect(at(service, 'spec.ports.0.port')).toBe(6379);
  expect(templatesOf(CHART).get('deployment.yaml')).toContain('printf "valkey://%s-valkey:6379" .Release.Name');
});

test('the values for the Prometheus adapter serve the metric by which the chart scales', () => {
  const values: unknown = parse(readFileSync('deploy/observability/prometheus-adapter.yaml', 'utf8'));
  const metric = at(DEFAULTS, 'autoscaling.metricName');
  expect(at(values, 'rules.custom.0.name.as')).toBe(metric);
  expect(at(values, 'rules.custom.0.seriesQuery')).toBe('svc_requests_in_flight{namespace!="",pod!=""}');
  expect(readFileSync('src/server/metrics/process-metrics.ts', 'utf8')).toContain(`'${String(metric)}',`);
});
