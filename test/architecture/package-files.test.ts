import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { linksIn } from '../docs/markdown.ts';
import { ROOT } from './source-files.ts';

/** The package as the build assembles it. */
const PACKAGE = join(ROOT, 'dist/package');

/** The packages of its binaries. */
const BINARY_FOLDER = join(ROOT, 'dist/node_modules');
const BINARIES = readdirSync(BINARY_FOLDER)
  .toSorted()
  .map((name) => JSON.parse(readFileSync(join(BINARY_FOLDER, name, 'package.json'), 'utf8')) as BinaryManifest);

interface BinaryManifest {
  readonly name: string;
  readonly os: readonly string[];
  readonly cpu: readonly string[];
  readonly libc: readonly string[];
  readonly engines: Readonly<Record<string, string>>;
}

/** The files that npm would publish, which it checks without the network or an account. It compresses all of them, so this runs once. */
const files = packedFiles(PACKAGE);

function packedFiles(folder: string): readonly string[] {
  const args = [
    'publish',
    '--dry-run',
    '--json',
    '--registry=http://127.0.0.1:9',
    '--fetch-retries=0',
    '--loglevel=error',
  ];
  const text = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = Object.values(JSON.parse(text) as object) as ReadonlyArray<{
    readonly files: ReadonlyArray<{ readonly path: string }>;
  }>;
  if (packed === undefined) throw new Error(`npm packed nothing: ${text}`);
  return packed.files.map(({ path }) => path);
}

/** The strings in a value of JSON, at any depth. */
function stringsIn(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(stringsIn);
}

const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Readonly<Record<string, unknown>>;

test('the published manifest has no scripts, no dependencies but optional binaries of the same version, and an optional peer', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  expect(manifest).toMatchObject({
    name: 'svc-functions',
    version,
    engines: { node: '>=20.19' },
    optionalDependencies: Object.fromEntries(BINARIES.map(({ name }) => [name, version])),
    peerDependenciesMeta: {
      '@aws-sdk/credential-provider-ini': { optional: true },
      'better-sqlite3': { optional: true },
    },
  });
  const absent = ['private', 'scripts', 'dependencies', 'devDependencies'];
  expect(absent.filter((field) => field in manifest)).toEqual([]);
});

test('each package of a binary is for one system and one version of Node, and contains nothing else', () => {
  expect(BINARIES.map(({ name, cpu, engines }) => [name, cpu, engines])).toEqual([
    ['svc-functions-uws-linux-arm64-115', ['arm64'], { node: '20.x' }],
    ['svc-functions-uws-linux-arm64-127', ['arm64'], { node: '22.x' }],
    ['svc-functions-uws-linux-x64-115', ['x64'], { node: '20.x' }],
    ['svc-functions-uws-linux-x64-127', ['x64'], { node: '22.x' }],
  ]);
  for (const { name, os, libc } of BINARIES) {
    expect({ os, libc }).toEqual({ os: ['linux'], libc: ['glibc'] });
    expect(packedFiles(join(BINARY_FOLDER, name))).toEqual(['LICENSE', 'README.md', 'package.json', 'uws.node']);
  }
});

test('only the built package can be published', () => {
  expect(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))).toMatchObject({ private: true });
});

test('the package contains each file that its manifest names, and its bill of materials', () => {
  const { bin, main, types, exports } = manifest;
  const named = stringsIn([bin, main, types, exports]).map((path) => normalize(path));
  expect(named.length).toBeGreaterThan(5);
  expect([...named, 'sbom.cdx.json'].filter((path) => !files.includes(path))).toEqual([]);
});

test('the links in the pages of the package lead to files of the package', () => {
  // Contributors read that page in a checkout.
  const pages = files.filter((path) => path.endsWith('.md') && path !== '.github/CONTRIBUTING.md');
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/library.md']));
  const dead = pages.flatMap((page) =>
    linksIn(readFileSync(join(PACKAGE, page), 'utf8'))
      .map((link) => normalize(join(page, '..', link.split('#')[0] ?? '')).replace(/\/$/u, ''))
      .filter(
        (target) => !files.some((path) => path === target || path.startsWith(`${target}/`)) && target !== dirname(page),
      )
      .map((target) => `${page}: ${target}`),
  );
  expect(dead, 'add the file to CONTENTS in .build/package.mjs').toEqual([]);
});
