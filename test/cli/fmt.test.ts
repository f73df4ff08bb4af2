import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

const UNFORMATTED = 'class A {\n      b string\n}';
const FORMATTED = 'class A {\n  b string\n}\n';

test('fmt formats the files that need it and lists them', async () => {
  copySamples();
  writeFileSync('svc_src/unformatted.svc', UNFORMATTED);
  expect(await svc('fmt')).toEqual({ code: 0, out: 'formatted: svc_src/unformatted.svc\n', error: '' });
  expect(readFileSync('svc_src/unformatted.svc', 'utf8')).toBe(FORMATTED);
  expect(await svc('fmt')).toEqual({ code: 0, out: '', error: '' });
});

test('fmt formats only the file or directory that is passed as the argument', async () => {
  copySamples();
  mkdirSync('elsewhere');
  for (const path of ['svc_src/a.svc', 'svc_src/b.baml', 'elsewhere/c.svc']) writeFileSync(path, UNFORMATTED);
  expect(await svc('fmt', 'svc_src/b.baml')).toEqual({ code: 0, out: 'formatted: svc_src/b.baml\n', error: '' });
  expect(await svc('fmt', 'elsewhere')).toEqual({ code: 0, out: 'formatted: elsewhere/c.svc\n', error: '' });
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(UNFORMATTED);
});

test('fmt --check lists them, changes nothing and ends with 1', async () => {
  copySamples();
  expect(await svc('fmt', '--check')).toEqual({ code: 0, out: '', error: '' });
  writeFileSync('svc_src/unformatted.svc', UNFORMATTED);
  expect(await svc('fmt', '--check')).toEqual({ code: 1, out: 'not formatted: svc_src/unformatted.svc\n', error: '' });
  expect(readFileSync('svc_src/unformatted.svc', 'utf8')).toBe(UNFORMATTED);
});

test('fmt reports a file with a syntax error and does not change it', async () => {
  mkdirSync('svc_src');
  writeFileSync('svc_src/broken.svc', '   class A {\n');
  writeFileSync('svc_src/unformatted.svc', UNFORMATTED);
  const { code, out, error } = await svc('fmt');
  expect({ code, out }).toEqual({ code: 1, out: 'formatted: svc_src/unformatted.svc\n' });
  expect(error).toContain('svc_src/broken.svc:');
  expect(readFileSync('svc_src/broken.svc', 'utf8')).toBe('   class A {\n');
});

test('fmt does not change a file with an unreadable test, although svc serves it', async () => {
  const text = '   test T {\n  functions [F]\n args { x "a" + }\n}\n';
  mkdirSync('svc_src');
  writeFileSync('svc_src/tests.svc', text);
  expect((await svc('check')).code).toBe(0);
  const { code, out, error } = await svc('fmt');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error).toContain('svc_src/tests.svc:3:');
  expect(readFileSync('svc_src/tests.svc', 'utf8')).toBe(text);
});

test('fmt does not change a file with an open string in a block that svc skips', async () => {
  const text = 'function   Later() -> string {\n  "\n}\n';
  mkdirSync('svc_src');
  writeFileSync('svc_src/workflow.svc', text);
  expect(await svc('fmt')).toMatchObject({ code: 1, out: '' });
  expect(readFileSync('svc_src/workflow.svc', 'utf8')).toBe(text);
});
