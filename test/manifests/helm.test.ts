import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CHART, EVERYTHING, valuesWith, type Overrides } from '../deploy/chart-files.ts';
import { rendered } from '../deploy/rendered-chart.ts';

/** Returns what the installed `helm` renders. */
function renderedByHelm(overrides: Overrides, release: string): readonly unknown[] {
  const input = JSON.stringify(valuesWith(overrides));
  const helm = spawnSync('helm', ['template', release, CHART, '--values', '-'], { input, encoding: 'utf8' });
  if (helm.error !== undefined) throw new Error('Helm is not installed: see https://helm.sh/docs/intro/install.');
  expect(helm.stderr).toBe('');
  return parseAllDocuments(helm.stdout).flatMap((document) => {
    expect(document.errors).toEqual([]);
    return (document.toJS() as unknown) ?? [];
  });
}

/** In an order that does not depend on the program: Helm sorts by kind. */
function sorted(manifests: readonly unknown[]): readonly string[] {
  return manifests.map((manifest) => JSON.stringify(manifest)).toSorted();
}

const CHARTS: ReadonlyArray<readonly [string, Overrides, string]> = [
  ['as it comes', {}, 'demo'],
  ['with everything on', EVERYTHING, 'demo'],
  ['with KEDA', { ...EVERYTHING, 'autoscaling.keda.enabled': true }, 'demo'],
  ['with a store and other definitions', { existingDefinitions: 'mine', 'store.existingSecret': 'redis' }, 'svc'],
];

/** The hash of the definitions depends on how a program writes YAML. */
function withoutSum(manifest: string): string {
  return manifest.replace(/"checksum\/definitions":"\w+"/u, '');
}

test.each(CHARTS)('Helm renders the chart %s as the tests without Helm do', (_, values, release) => {
  const expected = sorted(renderedByHelm(values, release)).map(withoutSum);
  expect(sorted(rendered(values, release)).map(withoutSum)).toEqual(expected);
});
