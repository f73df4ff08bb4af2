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

test.each([
  [
    'only definition files, at any depth, sorted by path',
    ['z.svc', 'a/b/c.baml', 'a.baml', 'readme.md', 'a.svc.bak'],
    ['a.baml', 'a/b/c.baml', 'z.svc'],
  ],
  ['a directory with definition files itself', ['main.svc', 'svc_src/a.svc'], ['main.svc', 'svc_src/a.svc']],
  ['a directory with the name of a file as a directory', ['odd.svc/inner.svc'], ['odd.svc/inner.svc']],
  ['hidden files, but not hidden directories', ['.git/a.svc', '.draft.svc', 'sub/.cache/b.svc'], ['.draft.svc']],
])('svc reads %s', (_, files, read) => {
  for (const file of files) write(file);
  expect(paths()).toEqual(read);
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
