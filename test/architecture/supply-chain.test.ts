import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.ts';
import { UNHASHED_PACKAGES } from './unhashed-packages.ts';

interface LockEntry {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
}

const LOCK_FILES = [
  'package-lock.json',
  'editors/vscode/package-lock.json',
  'site/package-lock.json',
  'test/bundlers/package-lock.json',
  'test/calls/package-lock.json',
  'test/doors/package-lock.json',
  'test/gateways/package-lock.json',
  'test/generators/package-lock.json',
  'test/manifests/package-lock.json',
  'test/package/package-lock.json',
  'test/readers/package-lock.json',
  'test/schemas/package-lock.json',
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
  '.github/workflows/audit.yml: actions/checkout@v4',
  '.github/workflows/audit.yml: actions/setup-node@v4',
  '.github/workflows/release.yml: actions/checkout@v4',
  '.github/workflows/release.yml: actions/download-artifact@v4',
  '.github/workflows/release.yml: actions/setup-node@v4',
  '.github/workflows/release.yml: actions/upload-artifact@v4',
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

/** The packages in the bundled programs, according to their source maps. */
function packagesInPrograms(): ReadonlySet<string> {
  const folder = join(ROOT, 'dist/bin');
  const sources = readdirSync(folder)
    .filter((name) => name.endsWith('.map'))
    .flatMap(
      (name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { readonly sources: string[] }).sources,
    );
  const names = sources.flatMap((path) => /.*\/(node_modules\/(?:@[^/]+\/)?[^/]+)/u.exec(path)?.[1] ?? []);
  return new Set(names);
}

test('every package in the programs is listed, and its licence is in the package', () => {
  const listed = JSON.parse(readFileSync(join(ROOT, 'dist/packages/packages.json'), 'utf8')) as readonly string[];
  const inPrograms = [...packagesInPrograms()];
  expect(inPrograms.length).toBeGreaterThan(30);
  expect(inPrograms.filter((path) => !listed.includes(path))).toEqual([]);
  const licences = readFileSync(join(ROOT, 'dist/packages/packages.LICENSE'), 'utf8').split('\n---\n');
  expect(licences).toHaveLength(listed.length);
  expect(licences.filter((text) => !/licen[cs]e|permission|copyright/iu.test(text))).toEqual([]);
});

test('the bill of materials lists every package of which svc contains a copy, with its version and hash', () => {
  const bill = JSON.parse(readFileSync(join(ROOT, 'dist/package/sbom.cdx.json'), 'utf8')) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: { readonly name: string } };
    readonly components: ReadonlyArray<{
      readonly 'bom-ref': string;
      readonly hashes?: ReadonlyArray<{ readonly alg: string }>;
    }>;
  };
  expect(bill.bomFormat).toBe('CycloneDX');
  expect(bill.metadata.component.name).toBe('svc-functions');
  const folders = ['dist/packages/packages.json', 'dist/assets/playground/packages.json'].flatMap(
    (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as readonly string[],
  );
  const copied = new Set(['node_modules/swagger-ui-dist', ...folders]);
  // npm names a component as the folder of the package, but identifies it as the package.
  const listed = new Set(bill.components.map((component) => component['bom-ref'].split('|')[0]));
  const lock = lockEntries('package-lock.json').filter(([path]) => copied.has(path));
  expect(lock).toHaveLength(copied.size);
  expect(bill.components).toHaveLength(copied.size);
  const expected = lock.map(
    ([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//u, '')}@${version}`,
  );
  expect(expected.filter((reference) => !listed.has(reference))).toEqual([]);
  // `npm audit --omit=dev`, which CI runs, must see all of them.
  expect(lock.filter(([, { dev }]) => dev === true)).toEqual([]);
  // What the lists must contain if they are complete: packages of the programs, of the library, on first use, and of the pages.
  const names = new Set([...listed].map((reference) => reference?.replace(/@[^@]+$/u, '')));
  const examples = ['pino', 'quick-format-unescaped', 'ajv', 'undici', 'piscina', 'uws-pack', 'preact', 'crelt'];
  expect(examples.filter((name) => !names.has(name))).toEqual([]);
  expect(bill.components.filter(({ hashes }) => hashes?.[0]?.alg !== 'SHA-512')).toEqual([]);
});
