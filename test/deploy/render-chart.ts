import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { GoTemplates } from './go-template.ts';

const CHART = 'deploy/helm/svc';
const read = (path: string) => readFileSync(`${CHART}/${path}`, 'utf8');
const defaults = parse(read('values.yaml'));
/** The schema that Helm checks values with. */
export const checkValues = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')));

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
}

/** Overrides of values, one level deep as `--set a.b=c` does it. */
export type Overrides = Readonly<Record<string, unknown>>;

export function valuesWith(overrides: Overrides): Record<string, unknown> {
  const values = structuredClone(defaults);
  for (const [path, value] of Object.entries(overrides)) {
    const parts = path.split('.');
    const last = parts.pop() ?? '';
    parts.reduce((object, part) => object[part], values)[last] = value;
  }
  return values;
}

/** What the chart's templates make of its values. */
export function render(overrides: Overrides = {}, release = 'demo'): readonly Manifest[] {
  const values = valuesWith(overrides);
  expect(checkValues(values), JSON.stringify(checkValues.errors)).toBe(true);
  const templates = new GoTemplates();
  templates.add(read('templates/_names.tpl'));
  const chart = parse(read('Chart.yaml'));
  const data = {
    Values: values,
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: release, Namespace: 'default', Service: 'Helm' },
  };
  const files = readdirSync(`${CHART}/templates`).filter((name) => name.endsWith('.yaml'));
  expect(files.length).toBeGreaterThanOrEqual(8);
  return files.flatMap((name) => documentsOf(templates.add(read(`templates/${name}`))(data)));
}

function documentsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    expect(document.errors).toEqual([]);
    const value = document.toJS();
    return value === null ? [] : [value];
  });
}

/** Everything that the chart can do. */
export const EVERYTHING: Overrides = {
  'autoscaling.enabled': true,
  'autoscaling.targetInFlight': 50,
  'networkPolicy.enabled': true,
  'networkPolicy.ingressFrom': [{ namespaceSelector: {} }],
  'metrics.serviceMonitor.enabled': true,
  'metrics.serviceMonitor.labels': { release: 'prometheus' },
  definitions: { 'a.svc': 'class A {\n  b string @description("x: {{ y }}")\n}\n' },
  existingSecret: 'keys',
  workers: 4,
  basePath: '/llm',
  podAnnotations: { team: 'search' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'llm', operator: 'Exists' }],
  imagePullSecrets: [{ name: 'registry' }],
};
