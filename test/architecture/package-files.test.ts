import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { linksIn } from '../docs/markdown.ts';
import { ROOT } from './source-files.ts';

/** The package as the build assembles it. */
const PACKAGE = join(ROOT, 'dist/package');

/** The files that npm packs. npm compresses all of them to find out, so this runs once. */
const files = packedFiles();

function packedFiles(): readonly string[] {
  const args = ['pack', '--dry-run', '--json', '--loglevel=error'];
  const text = execFileSync('npm', args, { cwd: PACKAGE, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
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

test('the published manifest has no scripts, no dependencies, and an optional peer', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  expect(manifest).toMatchObject({
    name: 'svc-functions',
    version,
    engines: { node: '>=20.19' },
    peerDependenciesMeta: { '@aws-sdk/credential-provider-ini': { optional: true } },
  });
  const absent = ['private', 'scripts', 'dependencies', 'devDependencies', 'optionalDependencies'];
  expect(absent.filter((field) => field in manifest)).toEqual([]);
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
