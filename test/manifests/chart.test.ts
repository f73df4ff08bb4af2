import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/config/settings.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { at, EVERYTHING, type Overrides } from '../deploy/chart-files.ts';
import { render, type Manifest } from './render-chart.ts';

/** The values at `inner` of every entry of the list at `path`. */
function each(value: unknown, path: string, inner: string): readonly unknown[] {
  const list = at(value, path);
  expect(Array.isArray(list) && list.length > 0).toBe(true);
  return Object.values(list ?? {}).map((entry) => at(entry, inner));
}

/** The manifests without those of Valkey. */
function ofSvc(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.filter(({ metadata }) => metadata.labels['app.kubernetes.io/name'] === 'svc');
}

function only(manifests: readonly Manifest[], kind: string): Manifest {
  const found = ofSvc(manifests).filter((manifest) => manifest.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as Manifest;
}

const podOf = (manifests: readonly Manifest[]) => at(only(manifests, 'Deployment'), 'spec.template.spec');

function variablesOf(manifests: readonly Manifest[]): Record<string, string> {
  const names = each(podOf(manifests), 'containers.0.env', 'name');
  const values = each(podOf(manifests), 'containers.0.env', 'value');
  return Object.fromEntries(names.map((name, index) => [String(name), String(values[index])]));
}

function definitionsSum(text: string): unknown {
  const manifests = render({ definitions: { 'a.svc': text } });
  return at(only(manifests, 'Deployment'), 'spec.template.metadata.annotations.checksum/definitions');
}

test('by default, the chart has a deployment, two services, an account and a disruption budget', () => {
  const kinds = render().map((manifest) => manifest.kind);
  expect(kinds.toSorted()).toEqual(['Deployment', 'PodDisruptionBudget', 'Service', 'Service', 'ServiceAccount']);
});

test('with everything on, the chart has every manifest, each with a name and labels', () => {
  const manifests = ofSvc(render(EVERYTHING));
  expect(manifests.map((manifest) => manifest.kind).toSorted()).toEqual([
    'ConfigMap',
    'ConfigMap',
    'Deployment',
    'HorizontalPodAutoscaler',
    'Ingress',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'PrometheusRule',
    'Service',
    'Service',
    'ServiceAccount',
    'ServiceMonitor',
  ]);
  for (const { metadata } of manifests) {
    expect(metadata.name).toMatch(/^demo-svc(?:-alerts|-dashboard|-definitions|-metrics)?$/u);
    expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'svc', 'app.kubernetes.io/instance': 'demo' });
  }
});

test('all selectors match the pods, and all named ports are ports of the container', () => {
  const manifests = render(EVERYTHING);
  const labels = at(only(manifests, 'Deployment'), 'spec.template.metadata.labels');
  const ports = each(podOf(manifests), 'containers.0.ports', 'name');
  expect(ports).toEqual(['http', 'metrics']);
  for (const service of ofSvc(manifests).filter((manifest) => manifest.kind === 'Service')) {
    expect(labels).toMatchObject(Object(at(service, 'spec.selector')));
    expect(ports).toEqual(expect.arrayContaining([...each(service, 'spec.ports', 'targetPort')]));
  }
  expect(labels).toMatchObject(Object(at(only(manifests, 'Deployment'), 'spec.selector.matchLabels')));
  expect(labels).toMatchObject(Object(at(only(manifests, 'PodDisruptionBudget'), 'spec.selector.matchLabels')));
  expect(labels).toMatchObject(Object(at(only(manifests, 'NetworkPolicy'), 'spec.podSelector.matchLabels')));
});

test('the monitor matches the service of the metrics and no other', () => {
  const manifests = render(EVERYTHING);
  const wanted = Object.entries(Object(at(only(manifests, 'ServiceMonitor'), 'spec.selector.matchLabels')));
  expect(wanted.length).toBeGreaterThan(0);
  const found = manifests.filter(({ kind, metadata }) => {
    return kind === 'Service' && wanted.every(([name, value]) => metadata.labels[name] === value);
  });
  expect(found.map((service) => service.metadata.name)).toEqual(['demo-svc-metrics']);
});

test('the variables are settings of svc, with values that svc accepts', () => {
  const variables = variablesOf(render(EVERYTHING));
  const known = new Set<string>(Object.values(SETTINGS).map((setting) => setting.variable));
  expect(Object.keys(variables).filter((name) => !known.has(name))).toEqual([]);
  const loaded = loadConfig({}, { variables, limits: { cores: 1 } });
  expect(loaded).toMatchObject({
    ok: true,
    value: {
      warnings: [],
      config: {
        port: 2024,
        metricsPort: 9464,
        workers: 4,
        basePath: '/llm',
        drainDelayMs: 5000,
        drainTimeoutMs: 60_000,
      },
    },
  });
});

test('the pod has more time to stop than its drain can take', () => {
  expect(at(podOf(render()), 'terminationGracePeriodSeconds')).toBe(75);
  const longer = { 'drain.timeoutSeconds': 600, 'drain.delaySeconds': 20 };
  expect(at(podOf(render(longer)), 'terminationGracePeriodSeconds')).toBe(630);
});

test('the probes call paths below the base path', () => {
  const container = at(podOf(render({ basePath: '/llm' })), 'containers.0');
  expect(at(container, 'livenessProbe.httpGet')).toEqual({ path: '/llm/livez', port: 'http' });
  expect(at(container, 'readinessProbe.httpGet')).toEqual({ path: '/llm/readyz', port: 'http' });
  expect(at(container, 'startupProbe.httpGet')).toEqual({ path: '/llm/livez', port: 'http' });
});

test('definitions are mounted byte for byte in the folder that the image serves', () => {
  const manifests = render(EVERYTHING);
  const definitions = manifests.find(({ metadata }) => metadata.name === 'demo-svc-definitions');
  expect(at(definitions, 'data')).toEqual(EVERYTHING['definitions']);
  const pod = podOf(manifests);
  expect(at(pod, 'volumes.1')).toEqual({ name: 'definitions', configMap: { name: 'demo-svc-definitions' } });
  expect(at(pod, 'containers.0.volumeMounts.1')).toMatchObject({ mountPath: '/srv/svc_src', readOnly: true });
  expect(readFileSync('Dockerfile', 'utf8')).toContain('WORKDIR /srv\nCOPY svc_src svc_src\n');
});

test('by default, the workers of a pod fit into its memory', () => {
  const pod = podOf(render());
  expect(at(pod, 'containers.0.resources.limits.memory')).toBe('640Mi');
  const loaded = loadConfig(
    {},
    { variables: variablesOf(render()), limits: { cores: 64, memoryBytes: 640 * 2 ** 20 } },
  );
  expect(loaded.ok && loaded.value.config.workers).toBe(2);
});

test('the chart installs the dashboard, and the alerts with links to the runbook', () => {
  const manifests = render(EVERYTHING);
  const dashboard = manifests.find(({ metadata }) => metadata.name === 'demo-svc-dashboard');
  expect(dashboard?.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
  const text = at(dashboard, 'data') as Readonly<Record<string, string>>;
  expect(text['svc.json']).toBe(readFileSync('deploy/observability/dashboard.json', 'utf8'));
  const rules = readFileSync('deploy/observability/alerts.yaml', 'utf8');
  const expected = rules.replaceAll('docs/runbook.md', 'https://runbooks.example.com/svc');
  expect(at(only(manifests, 'PrometheusRule'), 'spec')).toEqual(parse(expected));
});

test('the chart mounts an existing ConfigMap and creates none', () => {
  const manifests = render({ ...EVERYTHING, existingDefinitions: 'mine' });
  expect(manifests.map(({ metadata }) => metadata.name)).not.toContain('demo-svc-definitions');
  expect(at(podOf(manifests), 'volumes.1.configMap.name')).toBe('mine');
});

test('pods restart if a definition changes, and only then', () => {
  expect(definitionsSum('class A {}')).toBe(definitionsSum('class A {}'));
  expect(definitionsSum('class A {}')).not.toBe(definitionsSum('class B {}'));
});

test('the container can write only to /tmp, and has no privileges', () => {
  const pod = podOf(render());
  expect(at(pod, 'securityContext')).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(at(pod, 'containers.0.securityContext')).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
});

test("a network policy blocks the cloud's metadata service", () => {
  const policy = only(render(EVERYTHING), 'NetworkPolicy');
  expect(at(policy, 'spec.egress.1.to.0.ipBlock')).toEqual({ cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] });
  expect(at(policy, 'spec.egress.1.to.1.ipBlock.cidr')).toBe('::/0');
});

test('the autoscaler uses CPU and calls in flight, and the deployment states no number of replicas', () => {
  const manifests = render(EVERYTHING);
  expect(each(only(manifests, 'HorizontalPodAutoscaler'), 'spec.metrics', 'type')).toEqual(['Resource', 'Pods']);
  expect(at(only(manifests, 'Deployment'), 'spec.replicas')).toBeUndefined();
  expect(at(only(render(), 'Deployment'), 'spec.replicas')).toBe(2);
});

test('a release whose name contains the name of the chart does not repeat it', () => {
  expect(only(render({}, 'svc'), 'Deployment').metadata.name).toBe('svc');
});

test('an Ingress leads the paths below the base path of each host to the service', () => {
  const ingress = only(render(EVERYTHING), 'Ingress');
  const backend = { service: { name: 'demo-svc', port: { name: 'http' } } };
  const http = { paths: [{ path: '/llm', pathType: 'Prefix', backend }] };
  expect(at(ingress, 'spec')).toEqual({
    ingressClassName: 'nginx',
    tls: [{ hosts: ['llm.example.com'], secretName: 'llm-tls' }],
    rules: ['llm.example.com', '*.example.org'].map((host) => ({ host, http })),
  });
  const plain = only(render({ 'ingress.enabled': true, 'ingress.hosts': ['a.example.com'] }), 'Ingress');
  expect(Object.keys(Object(at(plain, 'spec')))).toEqual(['rules']);
  expect(at(plain, 'spec.rules.0.http.paths.0.path')).toBe('/');
});

test('the autoscaler can ignore the CPU', () => {
  const values = { 'autoscaling.enabled': true, 'autoscaling.targetCPUUtilizationPercentage': 0 };
  const autoscaler = only(render({ ...values, 'autoscaling.targetInFlight': 50 }), 'HorizontalPodAutoscaler');
  expect(at(autoscaler, 'spec.metrics')).toEqual([
    {
      type: 'Pods',
      pods: { metric: { name: 'svc_requests_in_flight' }, target: { type: 'AverageValue', averageValue: '50' } },
    },
  ]);
  expect(at(autoscaler, 'spec.behavior.scaleDown.stabilizationWindowSeconds')).toBe(300);
});

test('with KEDA, a ScaledObject replaces the autoscaler, with the same limits', () => {
  const manifests = render({ ...EVERYTHING, 'autoscaling.keda.enabled': true, 'autoscaling.scaleDownSeconds': 60 });
  expect(manifests.map(({ kind }) => kind)).not.toContain('HorizontalPodAutoscaler');
  const spec = at(only(manifests, 'ScaledObject'), 'spec');
  expect(spec).toMatchObject({ scaleTargetRef: { name: 'demo-svc' }, minReplicaCount: 2, maxReplicaCount: 10 });
  expect(at(spec, 'advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilizationWindowSeconds')).toBe(60);
  expect(at(spec, 'triggers')).toEqual([
    { type: 'cpu', metricType: 'Utilization', metadata: { value: '70' } },
    {
      type: 'prometheus',
      metricType: 'AverageValue',
      metadata: {
        serverAddress: 'http://prometheus-operated.monitoring:9090',
        query: 'sum(svc_requests_in_flight{namespace="default",service="demo-svc-metrics"})',
        threshold: '50',
      },
    },
  ]);
  expect(at(only(manifests, 'Deployment'), 'spec.replicas')).toBeUndefined();
});

function storeVariable(values: Overrides): unknown {
  const all = at(podOf(render(values)), 'containers.0.env') as ReadonlyArray<{ readonly name: string }>;
  return all.find(({ name }) => name === 'SVC_STORE');
}

test('the URL of the store comes from a secret, which wins over a Valkey of the release', () => {
  const stores = { 'store.existingSecret': 'redis', 'store.key': 'url', 'valkey.enabled': true };
  expect(storeVariable(stores)).toEqual({
    name: 'SVC_STORE',
    valueFrom: { secretKeyRef: { name: 'redis', key: 'url' } },
  });
  expect(storeVariable({ 'valkey.enabled': true })).toEqual({ name: 'SVC_STORE', value: 'valkey://demo-valkey:6379' });
  expect(storeVariable({})).toBeUndefined();
});

test('a Valkey of the release has the name that svc calls, and only the release reaches it', () => {
  const manifests = render(EVERYTHING).filter((manifest) => !ofSvc([manifest]).includes(manifest));
  const kinds = ['Deployment', 'NetworkPolicy', 'Service'];
  expect(manifests.map((manifest) => manifest.kind).toSorted()).toEqual(kinds);
  expect(new Set(manifests.map(({ metadata }) => metadata.name))).toEqual(new Set(['demo-valkey']));
  const [deployment, policy, service] = kinds.map((kind) => manifests.find((manifest) => manifest.kind === kind));
  const labels = at(deployment, 'spec.template.metadata.labels');
  const owner = { 'app.kubernetes.io/instance': 'demo' };
  for (const path of ['spec.selector', 'spec.podSelector.matchLabels']) {
    const selector = at(path === 'spec.selector' ? service : policy, path);
    expect(labels).toMatchObject({ ...owner, ...Object(selector) });
  }
  expect(at(policy, 'spec.ingress')).toEqual([
    { ports: [{ port: 'valkey' }], from: [{ podSelector: { matchLabels: owner } }] },
  ]);
  const egress = at(only(render(EVERYTHING), 'NetworkPolicy'), 'spec.egress') as readonly unknown[];
  const own = egress.find((rule) => at(rule, 'ports.0.port') === 6379);
  expect(labels).toMatchObject(Object(at(own, 'to.0.podSelector.matchLabels')));
  expect(render().map(({ metadata }) => metadata.name)).not.toContain('demo-valkey');
});
