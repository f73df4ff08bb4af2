import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadFunctions, type FunctionLibrary } from '../../src/index.ts';
import { temporaryFolder } from '../support/running-server.ts';

interface Example {
  readonly run: (functions: FunctionLibrary) => Promise<unknown>;
}

test('the calls in process on the page of dynamic types run', async () => {
  const page = readFileSync('docs/dynamic-types.md', 'utf8');
  const [, definitions = ''] = /```svc\n(.*?)```/su.exec(page) ?? [];
  const [, code = ''] = /```ts\n(.*?)```/su.exec(page) ?? [];
  const folder = temporaryFolder({ 'main.svc': definitions });
  const path = join(folder, 'example.mjs');
  writeFileSync(path, `export async function run(functions) {\n${code}\nreturn [contact, other];\n}\n`);
  const { run } = (await import(path)) as Example;
  const functions = loadFunctions({ from: folder, env: {} });
  const contact = { name: expect.any(String) as string, age: expect.any(Number) as number };
  expect(await run(functions)).toMatchObject([contact, contact]);
  await functions.close();
});
