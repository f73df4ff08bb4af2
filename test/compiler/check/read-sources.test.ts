import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSources } from '../../../src/compiler/read-sources.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-sources-'));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, content: string | Uint8Array = 'class A {\n}\n'): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Returns the paths relative to the root, or the failure. */
function paths(dir = root): readonly string[] | string {
  const read = readSources(dir);
  return read.ok ? read.value.files.map((file) => relative(root, join(process.cwd(), file.path))) : read.failure;
}

test('only definition files are found, at any depth, sorted by path', () => {
  write('z.svc');
  write('a/b/c.baml');
  write('a.baml');
  write('readme.md');
  write('a.svc.bak');
  expect(paths()).toEqual(['a.baml', 'a/b/c.baml', 'z.svc']);
});

test('paths are relative to the working directory', () => {
  write('a.svc');
  const read = readSources(root);
  expect(read.ok && read.value.files[0]?.path).toBe(relative(process.cwd(), join(root, 'a.svc')));
});

test('the root of a project means its definition directory', () => {
  write('baml_src/a.baml');
  write('other/b.svc');
  expect(paths()).toEqual(['baml_src/a.baml']);
  write('svc_src/a.svc');
  expect(paths()).toEqual(['svc_src/a.svc']);
  const read = readSources(root);
  expect(read.ok && read.value.path).toBe(join(root, 'svc_src'));
});

test('svc reads a definition directory itself, whatever it contains', () => {
  write('baml_src/baml_src/a.baml');
  write('baml_src/svc_src/b.baml');
  write('baml_src/other/c.baml');
  const files = ['baml_src/baml_src/a.baml', 'baml_src/other/c.baml', 'baml_src/svc_src/b.baml'];
  expect(paths(join(root, 'baml_src'))).toEqual(files);
  const read = readSources(`${root}/baml_src/`);
  expect(read.ok && read.value.files).toHaveLength(3);
});

test('a file can be read alone', () => {
  write('svc_src/a.svc');
  write('svc_src/b.baml');
  expect(paths(join(root, 'svc_src/b.baml'))).toEqual(['svc_src/b.baml']);
  const read = readSources(join(root, 'svc_src/b.baml'));
  expect(read.ok && read.value.path).toBe(join(root, 'svc_src/b.baml'));
});

test('a directory that contains definition files means itself', () => {
  write('main.svc');
  write('svc_src/a.svc');
  expect(paths()).toEqual(['main.svc', 'svc_src/a.svc']);
});

test('a missing directory, a file of another kind and a directory without definitions have different messages', () => {
  write('notes.txt');
  expect(paths(join(root, 'nowhere'))).toMatch(/nowhere" does not exist/);
  expect(paths(join(root, 'notes.txt'))).toMatch(/notes\.txt" is not a definition file \(\*\.svc, \*\.baml\)/);
  mkdirSync(join(root, 'empty'));
  expect(paths(join(root, 'empty'))).toMatch(/no definition files \(\*\.svc, \*\.baml\) under .*: .*"svc init"/);
});

test('the message for a file that is not UTF-8 names the file', () => {
  write('good.svc');
  write('bad.svc', new Uint8Array([0x63, 0xff, 0xfe]));
  expect(paths()).toMatch(/bad\.svc" is not valid UTF-8/);
});

test.skipIf(process.getuid?.() === 0)('a file that cannot be read is named', () => {
  write('secret.svc');
  chmodSync(join(root, 'secret.svc'), 0);
  expect(paths()).toMatch(/secret\.svc" cannot be read: permission denied/);
});

test('a directory with the name of a definition file is not read', () => {
  write('odd.svc/inner.svc');
  expect(paths()).toEqual(['odd.svc/inner.svc']);
});

test('the text does not include a byte order mark', () => {
  write('bom.svc', '\uFEFFclass A {\n}\n');
  const read = readSources(root);
  expect(read.ok && read.value.files[0]?.text.startsWith('class')).toBe(true);
});

test('each file of a mounted ConfigMap is read once, through its link', () => {
  write('..2026_11_21/a.svc', 'class Mounted {\n}\n');
  symlinkSync('..2026_11_21', join(root, '..data'));
  symlinkSync('..data/a.svc', join(root, 'a.svc'));
  expect(paths()).toEqual(['a.svc']);
  const read = readSources(root);
  expect(read.ok && read.value.files[0]?.text).toContain('Mounted');
});

test.skipIf(process.getuid?.() === 0)('directories that are not read need no permission, others do', () => {
  write('svc_src/a.svc');
  write('node_modules/b/b.svc');
  chmodSync(join(root, 'node_modules/b'), 0);
  chmodSync(join(root, 'node_modules'), 0);
  expect(paths()).toEqual(['svc_src/a.svc']);
  chmodSync(join(root, 'node_modules'), 0o700);
  chmodSync(join(root, 'node_modules/b'), 0o700);
});

test('baml_src is read with all its directories, except those of a ConfigMap', () => {
  write('baml_src/.draft/a.baml');
  write('baml_src/node_modules/pkg/b.baml');
  write('baml_src/..data/c.baml');
  write('node_modules/d.baml');
  const files = ['baml_src/.draft/a.baml', 'baml_src/node_modules/pkg/b.baml'];
  expect(paths()).toEqual(files);
  expect(paths(join(root, 'baml_src'))).toEqual(files);
});

test('hidden files are read, hidden directories are not', () => {
  write('.git/a.svc');
  write('.draft.svc');
  write('sub/.cache/b.svc');
  expect(paths()).toEqual(['.draft.svc']);
});
