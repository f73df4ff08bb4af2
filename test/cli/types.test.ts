import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

test('types prints the types of the definitions, or writes them to a file', async () => {
  copySamples();
  const { code, out, error } = await svc('types');
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toContain('export interface Functions {');
  expect(await svc('types', 'svc_src', '--out', 'svc.d.ts')).toEqual({ code: 0, out: '', error: '' });
  expect(readFileSync('svc.d.ts', 'utf8')).toBe(out);
});

test('for definitions with errors, types reports them, ends with 1 and writes nothing', async () => {
  copySamples();
  writeFileSync('svc_src/zz.svc', 'class {');
  const { code, out, error } = await svc('types', '--out', 'svc.d.ts');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error).toContain('svc_src/zz.svc');
  expect(existsSync('svc.d.ts')).toBe(false);
});

test('a file that cannot be written is one line, and the exit code is 1', async () => {
  copySamples();
  const { code, out, error } = await svc('types', '--out', 'missing/svc.d.ts');
  expect({ code, out, error }).toEqual({
    code: 1,
    out: '',
    error: 'svc: "missing/svc.d.ts" cannot be written: its directory does not exist\n',
  });
});

test('--watch needs a file to write', async () => {
  copySamples();
  expect(await svc('types', '--watch')).toMatchObject({ code: 2, out: '' });
});
