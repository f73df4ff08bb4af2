import { readFileSync } from 'node:fs';
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
