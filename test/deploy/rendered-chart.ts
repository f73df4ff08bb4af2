import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { at, CHART, checkValues, valuesWith, type Overrides } from './chart-files.ts';
import { GoTemplates } from './go-template.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
}

/** Renders the manifests of the chart with these values, without Helm, in the order of the names of their files. */
export function rendered(overrides: Overrides = {}, release = 'demo'): readonly Manifest[] {
  const values = valuesWith(overrides);
  expect(checkValues(values), JSON.stringify(checkValues.errors)).toBe(true);
  return textsOf(CHART, values, release).flatMap((text) =>
    parseAllDocuments(text).flatMap((document) => {
      expect(document.errors, text).toEqual([]);
      const value = document.toJS() as Manifest | null;
      return value === null ? [] : [value];
    }),
  );
}

/** The texts of a chart, and of those in its folder `charts` whose condition holds. */
function textsOf(folder: string, values: Readonly<Record<string, unknown>>, release: string): readonly string[] {
  const chart = parse(readFileSync(`${folder}/Chart.yaml`, 'utf8')) as ChartFile;
  const templates = new GoTemplates();
  const names = readdirSync(`${folder}/templates`).filter((name) => name !== 'NOTES.txt');
  for (const name of names) templates.add(name, readFileSync(`${folder}/templates/${name}`, 'utf8'));
  const data = {
    Values: values,
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: release, Namespace: 'default', Service: 'Helm' },
    Files: { Get: (path: string) => readFileSync(`${folder}/${path}`, 'utf8') },
  };
  const own = names.filter((name) => name.endsWith('.yaml')).map((name) => templates.render(name, data));
  const inner = (chart.dependencies ?? []).filter(({ condition }) => at(values, condition) === true);
  return [
    ...own,
    ...inner.flatMap(({ name }) => textsOf(`${folder}/charts/${name}`, innerValues(folder, name, values), release)),
  ];
}

/** The values of a chart inside another one: its own, with those that the outer chart has under its name. */
function innerValues(folder: string, name: string, outer: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const path = `${folder}/charts/${name}/values.yaml`;
  expect(existsSync(path)).toBe(true);
  return { ...(parse(readFileSync(path, 'utf8')) as object), ...Object(outer[name]) };
}

interface ChartFile {
  readonly name: string;
  readonly version: string;
  readonly appVersion: string;
  readonly dependencies?: ReadonlyArray<{ readonly name: string; readonly condition: string }>;
}
