import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { checkSources } from '../../src/compiler/compile.ts';
import { SETTINGS } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { at, checkValues, DEFAULTS, EVERYTHING, SCHEMA, TEMPLATES, valuesWith } from './chart-files.ts';

// These tests read the chart without a renderer. `npm run test:manifests` renders it with Helm.

const MANIFESTS = [...TEMPLATES].filter(([name]) => name.endsWith('.yaml'));
const ALL = [...TEMPLATES.values()].join('\n');

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

const outlines = MANIFESTS.flatMap(([, template]) => outlineOf(template));
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

function isRead(path: string): boolean {
  return [...READ].some((read) => path === read || path.startsWith(`${read}.`));
}

function namesAfter(word: string): ReadonlySet<unknown> {
  return new Set([...ALL.matchAll(new RegExp(`\\b${word} "([\\w.]+)"`, 'gu'))].map(([, name]) => name));
}

const READ = new Set([...ALL.matchAll(/\.Values\.([\w.]+)/gu)].map(([, path = '']) => path));

test('values.yaml declares every value that a template reads', () => {
  expect(READ.size).toBeGreaterThan(30);
  expect([...READ].filter((path) => at(DEFAULTS, path) === undefined)).toEqual([]);
});

test('templates read every declared value', () => {
  const declared = pathsOf(DEFAULTS, '');
  expect(declared.length).toBeGreaterThan(40);
  expect(declared.filter((path) => !isRead(path))).toEqual([]);
});

test('templates include all defined templates and no others', () => {
  expect(namesAfter('include')).toEqual(namesAfter('define'));
});

test('every block of a template has its end', () => {
  for (const [name, template] of TEMPLATES) {
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
  expect(SCHEMA).toMatchObject({ additionalProperties: false });
  expect([checkValues(DEFAULTS), checkValues(valuesWith(EVERYTHING))]).toEqual([true, true]);
});

test.each(WRONG_VALUES)('the schema refuses %s: %j', (path, value) => {
  expect(checkValues(valuesWith({ [path]: value }))).toBe(false);
});

test('the values for the Prometheus adapter serve the metric by which the chart scales', () => {
  const values: unknown = parse(readFileSync('deploy/observability/prometheus-adapter.yaml', 'utf8'));
  const metric = at(DEFAULTS, 'autoscaling.metricName');
  expect(at(values, 'rules.custom.0.name.as')).toBe(metric);
  expect(at(values, 'rules.custom.0.seriesQuery')).toBe('svc_requests_in_flight{namespace!="",pod!=""}');
  expect(readFileSync('src/server/metrics/process-metrics.ts', 'utf8')).toContain(`name: '${String(metric)}'`);
});
