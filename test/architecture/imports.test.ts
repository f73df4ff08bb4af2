import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readImportGraph, type ImportGraph } from './import-graph.ts';
import { importCycles, importsAgainstTable, packagesOutsideOwner } from './import-rules.ts';
import { IMPORT_TABLE, PACKAGE_OWNERS } from './import-table.ts';
import { ROOT, textFiles } from './source-files.ts';

const graph = await readImportGraph(ROOT);

test('the import graph contains every source file', () => {
  const files = textFiles('src', 'workers')
    .map((file) => file.path)

    .filter((path) => /\.tsx?$/u.test(path));
  expect(files.length).toBeGreaterThan(40);
  expect(graph.files.toSorted()).toEqual(files.toSorted());
});

test('the import table allows every import', () => {
  expect(importsAgainstTable(graph, IMPORT_TABLE)).toEqual([]);
});

test('imports form no cycle', () => {
  expect(importCycles(graph)).toEqual([]);
});

test('an exported name has one meaning: only one file declares it', () => {
  const declaration = /^export (?:abstract |async )?(?:class|const|enum|function|interface|type) (\w+)/gmu;
  const files = new Map<string, Set<string>>();
  for (const { path, text } of textFiles('src', 'workers')) {
    for (const [, name = ''] of text.matchAll(declaration)) files.set(name, (files.get(name) ?? new Set()).add(path));
  }
  expect(files.size).toBeGreaterThan(1_000);
  expect([...files].filter(([, { size }]) => size > 1)).toEqual([]);
});

test('every npm package has one owner', () => {
  expect(packagesOutsideOwner(graph, PACKAGE_OWNERS)).toEqual([]);
});

test('the dependencies are the packages that svc imports, and Swagger UI, whose files the build copies', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, object>;
  const peers = Object.keys(manifest['peerDependencies'] ?? {});
  expect(peers).toEqual(['@aws-sdk/credential-provider-ini', 'better-sqlite3']);
  const imported = new Set(graph.imports.flatMap(({ to, isPackage }) => (isPackage ? [to] : [])));
  const expected = [...imported, 'swagger-ui-dist'].filter((name) => !peers.includes(name));
  expect(Object.keys(manifest['dependencies'] ?? {}).toSorted()).toEqual(expected.toSorted());
});

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** The graph of a small program for one test, given as paths with their source text. */
async function graphOf(sources: Readonly<Record<string, string>>): Promise<ImportGraph> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-imports-'));
  folders.push(folder);
  for (const [path, text] of Object.entries({ 'workers/entry.ts': '', ...sources })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return readImportGraph(folder);
}

test.each([
  ['a plane imports the other', 'src/runtime/a.ts', '../compiler/b.ts', 'src/compiler/b.ts'],
  ['the other plane imports the first', 'src/compiler/a.ts', '../runtime/b.ts', 'src/runtime/b.ts'],
  ['the runtime imports the server', 'src/runtime/a.ts', '../server/b.ts', 'src/server/b.ts'],
  ['emitting imports parsing', 'src/compiler/3-emit/a.ts', '../1-parse/b.ts', 'src/compiler/1-parse/b.ts'],
  ['checking imports emitting', 'src/compiler/2-check/a.ts', '../3-emit/b.ts', 'src/compiler/3-emit/b.ts'],
  ['parsing imports checking', 'src/compiler/1-parse/a.ts', '../2-check/b.ts', 'src/compiler/2-check/b.ts'],
  ['a phase imports the pipeline', 'src/compiler/2-check/a.ts', '../compile.ts', 'src/compiler/compile.ts'],
  ['the base imports another room', 'src/base/a.ts', '../schema/b.ts', 'src/schema/b.ts'],
  ['the schema imports more than spans', 'src/schema/a.ts', '../diagnostics/b.ts', 'src/diagnostics/b.ts'],
  ['the command line reaches past the server', 'src/cli/a.ts', '../runtime/b.ts', 'src/runtime/b.ts'],
  ['the page of the playground imports the server', 'src/playground/a.tsx', '../server/b.ts', 'src/server/b.ts'],
  ['the server imports the page of the playground', 'src/server/a.ts', '../playground/b.ts', 'src/playground/b.ts'],
  ['the server imports a worker', 'src/server/a.ts', '../../workers/b.ts', 'workers/b.ts'],
  ['a file is in no room', 'src/tools/a.ts', '../base/b.ts', 'src/base/b.ts'],
])('the table refuses: %s', async (_rule, from, specifier, to) => {
  const broken = await graphOf({
    [from]: `import type { B } from '${specifier}';\nexport type A = B;\n`,
    [to]: 'export type B = 1;\n',
  });
  expect(importsAgainstTable(broken, IMPORT_TABLE)).toEqual([`${from} -> ${to}`]);
});

test.each([
  ['import', `import { b } from '../server/b.ts';\nexport const a = b;\n`],
  ['type import', `import type { B } from '../server/b.ts';\nexport type A = B;\n`],
  ['re-export', `export * from '../server/b.ts';\n`],
  ['import for effect', `import '../server/b.ts';\n`],
  ['dynamic import', `export const a = import('../server/b.ts');\n`],
])('the table applies to an %s', async (_kind, text) => {
  const broken = await graphOf({
    'src/runtime/a.ts': text,
    'src/server/b.ts': 'export const b = 1;\nexport type B = 1;\n',
  });
  expect(importsAgainstTable(broken, IMPORT_TABLE)).toEqual(['src/runtime/a.ts -> src/server/b.ts']);
});

test('a cycle of type imports is found', async () => {
  const broken = await graphOf({
    'src/base/a.ts': `import type { B } from './b.ts';\nexport type A = B;\n`,
    'src/base/b.ts': `export type { C as B } from './c.ts';\n`,
    'src/base/c.ts': `import type { A } from './a.ts';\nexport type C = A | 1;\n`,
  });
  expect(importCycles(broken)).toEqual(['src/base/a.ts -> src/base/b.ts -> src/base/c.ts -> src/base/a.ts']);
});

test('a second owner of a package is found, and a package without an owner', async () => {
  const broken = await graphOf({
    'src/server/a.ts': `import { Pool } from 'undici';\nexport const a = Pool;\n`,
    'src/runtime/model/b.ts': `import type { X } from 'openai/resources/chat';\nimport { y } from '@scope/name/deep';\nexport type B = X;\nexport const c = y;\n`,
    'src/server/c.ts': `import { createRequire } from 'node:module';\nconst load = createRequire(import.meta.url);\nexport const c: unknown = load('yaml');\n`,
  });
  expect(packagesOutsideOwner(broken, PACKAGE_OWNERS).toSorted()).toEqual([
    'src/runtime/model/b.ts -> @scope/name',
    'src/server/a.ts -> undici',
    'src/server/c.ts -> yaml',
  ]);
});
