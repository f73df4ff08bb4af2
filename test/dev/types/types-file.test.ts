import {
  mkdtempSync,
  lstatSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeTypesFile } from '../../../src/dev/types/write-types.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file is replaced at once if its content differs, and otherwise stays as it is', () => {
  const path = join(folder, 'svc.d.ts');
  expect(writeTypesFile(path, 'one')).toEqual({ ok: true, value: true });
  const { ino } = statSync(path);
  expect(writeTypesFile(path, 'one')).toEqual({ ok: true, value: false });
  expect(statSync(path).ino).toBe(ino);
  expect(writeTypesFile(path, 'two')).toEqual({ ok: true, value: true });
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(readdirSync(folder)).toEqual(['svc.d.ts']);
});

test('a link stays a link', () => {
  writeFileSync(join(folder, 'target.d.ts'), 'one');
  symlinkSync('target.d.ts', join(folder, 'svc.d.ts'));
  expect(writeTypesFile(join(folder, 'svc.d.ts'), 'two')).toEqual({ ok: true, value: true });
  expect(lstatSync(join(folder, 'svc.d.ts')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, 'target.d.ts'), 'utf8')).toBe('two');
});

test('a device is written, not replaced', () => {
  expect(writeTypesFile('/dev/null', 'one')).toEqual({ ok: true, value: true });
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

test('a failure names the file and the reason, and leaves no other file behind', () => {
  expect(writeTypesFile(folder, 'one')).toEqual({
    ok: false,
    failure: `"${folder}" cannot be written: it is a directory`,
  });
  const path = join(folder, 'missing', 'svc.d.ts');
  expect(writeTypesFile(path, 'one')).toEqual({
    ok: false,
    failure: `"${path}" cannot be written: its directory does not exist`,
  });
  expect(readdirSync(folder)).toEqual([]);
});
