import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

const UNTIDY = 'class A {\n      b string\n}';
const TIDY = 'class A {\n  b string\n}\n';

test('fmt lays out the files that need it and names them', async () => {
  copySamples();
  writeFileSync('svc_src/untidy.svc', UNTIDY);
  expect(await svc('fmt')).toEqual({ code: 0, out: 'laid out: svc_src/untidy.svc\n', error: '' });
  expect(readFileSync('svc_src/untidy.svc', 'utf8')).toBe(TIDY);
  expect(await svc('fmt')).toEqual({ code: 0, out: '', error: '' });
});

test('fmt --check names them, changes nothing and ends with 1', async () => {
  copySamples();
  expect(await svc('fmt', '--check')).toEqual({ code: 0, out: '', error: '' });
  writeFileSync('svc_src/untidy.svc', UNTIDY);
  expect(await svc('fmt', '--check')).toEqual({ code: 1, out: 'not laid out: svc_src/untidy.svc\n', error: '' });
  expect(readFileSync('svc_src/untidy.svc', 'utf8')).toBe(UNTIDY);
});

test('a file with a syntax error is reported and left alone', async () => {
  mkdirSync('svc_src');
  writeFileSync('svc_src/broken.svc', '   class A {\n');
  writeFileSync('svc_src/untidy.svc', UNTIDY);
  const { code, out, error } = await svc('fmt');
  expect({ code, out }).toEqual({ code: 1, out: 'laid out: svc_src/untidy.svc\n' });
  expect(error).toContain('svc_src/broken.svc:');
  expect(readFileSync('svc_src/broken.svc', 'utf8')).toBe('   class A {\n');
});
