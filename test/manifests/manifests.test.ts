import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { EVERYTHING, type Overrides } from '../deploy/chart-files.ts';
import { render, type Manifest } from './render-chart.ts';

const MODULES = fileURLToPath(new URL('node_modules', import.meta.url));
const COMPILER = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));
const MONITORING = 'monitoring.coreos.com/v1';

/** The addresses of the schemas for every kind of manifest in the chart. */
function packageOf(apiVersion: string): string {
  if (apiVersion === MONITORING) return `@kubernetes-models/prometheus-operator/${MONITORING}`;
  if (apiVersion.startsWith('keda.sh/')) return `@kubernetes-models/keda/${apiVersion}`;
  return `kubernetes-models/${apiVersion}`;
}

interface Model {
  validate(): void;
}

/** Throws the violations of the published schema. */
async function validate(manifest: Manifest): Promise<void> {
  const path = join(MODULES, packageOf(manifest.apiVersion), 'index.js');
  const models = (await import(pathToFileURL(path).href)) as Record<string, new (data: unknown) => Model>;
  const Constructor = models[manifest.kind];
  if (Constructor === undefined) throw new Error(`no schema for ${manifest.apiVersion} ${manifest.kind}`);
  new Constructor(manifest).validate();
}

/** Returns the errors of the type checker: the schemas accept unknown fields, the types generated from them do not. */
function checkFields(manifests: readonly Manifest[]): string {
  const folder = mkdtempSync(join(MODULES, '.manifests-'));
  const source = manifests.map(({ kind, apiVersion, ...rest }, index) => {
    const importer = `import { ${kind} as Kind${index} } from '${packageOf(apiVersion)}';`;
    return `${importer}\nnew Kind${index}(${JSON.stringify(rest)});\n`;
  });
  writeFileSync(join(folder, 'manifests.ts'), source.join(''));
  const flags = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    join(folder, 'manifests.ts'),
  ];
  const run = spawnSync(COMPILER, flags, { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return run.stdout;
}

const CHARTS: ReadonlyArray<readonly [string, Overrides]> = [
  ['as it comes', {}],
  ['with everything on', EVERYTHING],
  ['with KEDA', { ...EVERYTHING, 'autoscaling.keda.enabled': true }],
];

test.each(CHARTS)('the chart %s matches the published schemas and has no unknown field', async (_, values) => {
  const manifests = render(values);
  expect(manifests.length).toBeGreaterThanOrEqual(5);
  for (const manifest of manifests) await validate(manifest);
  expect(checkFields(manifests)).toBe('');
});

test('the test finds a value of the wrong type and a misspelt field', async () => {
  const deployment = render().find(({ kind }) => kind === 'Deployment');
  if (deployment === undefined) throw new Error('no deployment');
  await expect(validate({ ...deployment, spec: { replicas: 'two' } } as Manifest)).rejects.toThrow('replicas');
  expect(checkFields([{ ...deployment, spce: {} } as Manifest])).toContain('spce');
});

test('a linter accepts the Dockerfile', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const { status, stdout, stderr } = spawnSync('node_modules/.bin/dockerfile-utils', ['lint', `${root}Dockerfile`], {
    cwd: `${root}test/manifests`,
    encoding: 'utf8',
  });
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
});
