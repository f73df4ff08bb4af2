import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { loadFunctions, VERSION } from '../../../src/index.ts';

const ROOT = new URL('../../../', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'svc-example-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** The code in a comment: the text between the fences, without the asterisks. */
function exampleIn(source: string): string {
  const [, code = ''] = /```ts\n(.*?)```/su.exec(source) ?? [];
  return code.replaceAll(/^ \* ?/gmu, '').replace(/ \* ?$/u, '');
}

test('the example in the documentation of loadFunctions runs unchanged', async () => {
  const entry = new URL('src/index.ts', ROOT);
  const code = exampleIn(readFileSync(entry, 'utf8'));
  expect(code).toContain("from 'svc-functions'");
  const path = join(folder, 'example.ts');
  writeFileSync(path, code.replace("'svc-functions'", `'${entry.pathname}'`));
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  await import(path);
  const printed: readonly unknown[] = log.mock.calls.map(([value]) => value);
  log.mockRestore();
  expect(printed).toHaveLength(2);
  expect(printed[0]).toMatchObject({ name: expect.any(String) });
  expect(printed[1]).toMatchObject({ name: expect.any(String) });
});

test('functions that are awaited are the functions', async () => {
  const from = new URL('svc_src', ROOT).pathname;
  const functions = await Promise.resolve(loadFunctions({ from, env: {} }));
  expect(functions.functionNames).toContain('ExtractResume');
  await functions.close();
});

test('the version is that of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { readonly version: string };
  expect(VERSION).toBe(manifest.version);
});
