import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CHART, checkValues, valuesWith, type Overrides } from '../deploy/chart-files.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
}

/** Renders the manifests of the chart with these values, using the installed `helm`. */
export function render(overrides: Overrides = {}, release = 'demo'): readonly Manifest[] {
  const values = valuesWith(overrides);
  expect(checkValues(values), JSON.stringify(checkValues.errors)).toBe(true);
  const input = JSON.stringify(values);
  const flags = ['template', release, CHART, '--namespace', 'default', '--values', '-'];
  const helm = spawnSync('helm', flags, { input, encoding: 'utf8' });
  if (helm.error !== undefined) throw new Error('Helm is not installed: see https://helm.sh/docs/intro/install.');
  expect(helm.stderr).toBe('');
  return parseAllDocuments(helm.stdout).flatMap((document) => {
    expect(document.errors).toEqual([]);
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });
}
