import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { linksIn } from '../docs/markdown.ts';
import { ROOT } from './source-files.ts';

/** The files that npm packs. npm compresses all of them to find out, so this runs once. */
const files = packedFiles();

function packedFiles(): readonly string[] {
  // Runs the scripts of this package, which `.npmrc` turns off together with those of dependencies.
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts=false', '--loglevel=error'];
  const text = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
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

test('the package contains each file that its manifest names, and its bill of materials', () => {
  const { bin, main, types, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object & {
    readonly [name in 'bin' | 'main' | 'types' | 'exports']: unknown;
  };
  const named = stringsIn([bin, main, types, exports]).map((path) => normalize(path));
  expect(named.length).toBeGreaterThan(5);
  expect([...named, 'sbom.cdx.json'].filter((path) => !files.includes(path))).toEqual([]);
});

test('the links in the pages of the package lead to files of the package', () => {
  // Contributors read that page in a checkout.
  const pages = files.filter((path) => path.endsWith('.md') && path !== '.github/CONTRIBUTING.md');
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/library.md']));
  const dead = pages.flatMap((page) =>
    linksIn(readFileSync(join(ROOT, page), 'utf8'))
      .map((link) => normalize(join(page, '..', link.split('#')[0] ?? '')).replace(/\/$/u, ''))
      .filter(
        (target) => !files.some((path) => path === target || path.startsWith(`${target}/`)) && target !== dirname(page),
      )
      .map((target) => `${page}: ${target}`),
  );
  expect(dead, 'add the file to "files" in package.json').toEqual([]);
});
