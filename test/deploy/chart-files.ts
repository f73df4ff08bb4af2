import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'yaml';

/** The folder of the chart, relative to the root of the project. */
export const CHART = 'deploy/helm/svc';

/** The values that `values.yaml` of a chart declares. */
export function defaultsOf(chart: string): Readonly<Record<string, unknown>> {
  return parse(readFileSync(`${chart}/values.yaml`, 'utf8')) as Record<string, unknown>;
}

/** The schema with which Helm checks the values of a chart. */
export function schemaOf(chart: string): object {
  return JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')) as object;
}

/** The text of each template of a chart by its file name. */
export function templatesOf(chart: string): ReadonlyMap<string, string> {
  const folder = `${chart}/templates`;
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')]));
}

export const DEFAULTS = defaultsOf(CHART);
export const checkValues = new Ajv({ strict: false }).compile(schemaOf(CHART));

/** Values by their paths, as in `--set a.b=c`. */
export type Overrides = Readonly<Record<string, unknown>>;

/** The default values with some of them replaced. */
export function valuesWith(overrides: Overrides): Record<string, unknown> {
  const values = structuredClone(DEFAULTS) as Record<string, unknown>;
  for (const [path, value] of Object.entries(overrides)) {
    const parts = path.split('.');
    const last = parts.pop() ?? '';
    const owner = parts.length === 0 ? values : at(values, parts.join('.'));
    Object.assign(Object(owner), { [last]: value });
  }
  return values;
}

/** Values that turn on everything that the chart can do. */
export const EVERYTHING: Overrides = {
  'autoscaling.enabled': true,
  'autoscaling.targetInFlight': 50,
  'networkPolicy.enabled': true,
  'networkPolicy.ingressFrom': [{ namespaceSelector: {} }],
  'metrics.serviceMonitor.enabled': true,
  'metrics.dashboard.enabled': true,
  'metrics.alerts.enabled': true,
  'metrics.alerts.labels': { release: 'prometheus' },
  'metrics.alerts.runbook': 'https://runbooks.example.com/svc',
  'metrics.serviceMonitor.labels': { release: 'prometheus' },
  definitions: { 'a.svc': 'class A {\n  b string @description("x: {{ y }}")\n}\n' },
  existingSecret: 'keys',
  'ingress.enabled': true,
  'ingress.className': 'nginx',
  'ingress.annotations': { 'nginx.ingress.kubernetes.io/proxy-read-timeout': '600' },
  'ingress.hosts': ['llm.example.com', '*.example.org'],
  'ingress.tls': [{ hosts: ['llm.example.com'], secretName: 'llm-tls' }],
  'valkey.enabled': true,
  workers: 4,
  basePath: '/llm',
  podAnnotations: { team: 'search' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'llm', operator: 'Exists' }],
  imagePullSecrets: [{ name: 'registry' }],
};

/** The value at a path like `spec.ports.0.name`; undefined if there is none. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    return typeof inner === 'object' && inner !== null
      ? Object.entries(inner).find(([key]) => key === name)?.[1]
      : undefined;
  }, value);
}
