import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.ts';
import { UNHASHED_PACKAGES } from './unhashed-packages.ts';

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
}

const LOCK_FILES = [
  'package-lock.json',
  'test/generators/package-lock.json',
  'test/manifests/package-lock.json',
  'test/diagnostics/official-schema/package-lock.json',
];

function lockEntries(path: string): ReadonlyArray<readonly [path: string, entry: LockEntry]> {
  const lock = JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockEntry>>;
  };
  return Object.entries(lock.packages).filter(([name]) => name !== '');
}

test('every lock file is checked', () => {
  const found = execFileSync('git', ['ls-files', '*package-lock.json'], { cwd: ROOT, encoding: 'utf8' });
  expect(found.trim().split('\n').toSorted()).toEqual(LOCK_FILES.toSorted());
});

test.each(LOCK_FILES)('every package in %s has a hash, except for those that are listed with a reason', (path) => {
  const entries = lockEntries(path);
  expect(entries.length).toBeGreaterThan(0);
  const unhashed = entries.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/u.test(integrity ?? ''));
  const names = unhashed.map(([name, { version }]) => `${name.replace('node_modules/', '')}@${String(version)}`);
  expect(names.toSorted()).toEqual(path === 'package-lock.json' ? UNHASHED_PACKAGES.toSorted() : []);
});

test('a package without a hash is never part of an installation of svc', () => {
  const unhashed = lockEntries('package-lock.json').filter(([, { integrity }]) => integrity === undefined);
  expect(unhashed.filter(([, { dev, optional }]) => dev !== true || optional !== true)).toEqual([]);
});

/** A digest or a commit identifies fixed content; a tag can move. */
const PINNED = /@(?:sha256:[\da-f]{64}|[\da-f]{40})$/u;

/**
 * References that are not pinned yet. To pin one, add its digest (`docker buildx imagetools inspect`) or commit
 * (`git ls-remote`) in the file, and remove the line here.
 */
const UNPINNED: ReadonlySet<string> = new Set([
  'Dockerfile: node:22-bookworm-slim',
  '.github/workflows/search.yml: actions/checkout@v4',
  '.github/workflows/search.yml: actions/setup-node@v4',
  '.github/workflows/test.yml: actions/checkout@v4',
  '.github/workflows/test.yml: actions/setup-node@v4',
]);

/** The images and actions that a build runs. Stages of the same file are not images. */
function references(path: string): readonly string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const images = [...text.matchAll(/^FROM\s+(?:--\S+\s+)?(?<image>\S+)(?:\s+AS\s+(?<stage>\S+))?\s*$/gimu)];
  const stages = new Set(images.map(({ groups }) => groups?.['stage']));
  const copied = [...text.matchAll(/--from=(?<image>\S+)/gu)];
  const actions = [...text.matchAll(/^\s*(?:-\s+)?uses:\s*["']?(?<image>[^\s"'#]+)/gmu)];
  return [...images, ...copied, ...actions]
    .map(({ groups }) => groups?.['image'] ?? '')
    .filter((image) => !stages.has(image) && !image.startsWith('./'))
    .map((image) => `${path}: ${image}`);
}

test('base images and actions are pinned by digest, except for those that are listed with a reason', () => {
  const workflows = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`);
  const found = ['Dockerfile', ...workflows].flatMap(references);
  expect(found.length).toBeGreaterThan(3);
  expect(new Set(found.filter((reference) => !PINNED.test(reference)))).toEqual(UNPINNED);
});

test('the search finds references in every form', () => {
  expect(references('test/architecture/pinning-sample.txt')).toEqual([
    'test/architecture/pinning-sample.txt: a:1',
    'test/architecture/pinning-sample.txt: b@sha256:0',
    'test/architecture/pinning-sample.txt: c:2',
    'test/architecture/pinning-sample.txt: d/e@v1',
    'test/architecture/pinning-sample.txt: f/g@v2',
  ]);
});

interface Packed {
  readonly files: ReadonlyArray<{ readonly path: string }>;
}

/** Runs the scripts of this package, which `.npmrc` turns off together with those of dependencies. */
function packed(): Packed {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts=false', '--loglevel=error'];
  const text = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const result = JSON.parse(text) as Record<string, Packed> | readonly Packed[];
  const [first] = Object.values(result) as readonly Packed[];
  if (first === undefined) throw new Error(`npm packed nothing: ${text}`);
  return first;
}

test('the package contains its bill of materials: every dependency with its version and hash', () => {
  expect(packed().files.map(({ path }) => path)).toContain('sbom.cdx.json');
  const bill = JSON.parse(readFileSync(join(ROOT, 'sbom.cdx.json'), 'utf8')) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: { readonly name: string } };
    readonly components: ReadonlyArray<{
      readonly name: string;
      readonly version: string;
      readonly hashes?: ReadonlyArray<{ readonly alg: string }>;
    }>;
  };
  expect(bill.bomFormat).toBe('CycloneDX');
  expect(bill.metadata.component.name).toBe('svc-functions');
  const shipped = lockEntries('package-lock.json').filter(([, { dev }]) => dev !== true);
  const versions = new Map(bill.components.map(({ name, version }) => [name, version]));
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  expect(Object.keys(dependencies).filter((name) => !versions.has(name))).toEqual([]);
  // Its assets contain copies of Swagger UI and of the packages of the playground, which are development dependencies.
  const copied = ['swagger-ui-dist', 'preact', '@codemirror/view', '@lezer/json', 'crelt'];
  for (const name of copied) expect(versions.get(name), name).toBeDefined();
  const bundled = JSON.parse(readFileSync(join(ROOT, 'dist/assets/playground/packages.json'), 'utf8')) as string[];
  expect(bill.components).toHaveLength(shipped.length + 1 + bundled.length);
  expect(bill.components.filter(({ hashes }) => hashes?.[0]?.alg !== 'SHA-512')).toEqual([]);
});
