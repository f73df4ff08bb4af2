import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { startServer, temporaryFolder } from '../support/running-server.ts';

/** With a bundle, a process starts twice as fast as with a file for each module: this test notices a bundle that falls apart. */
const MOST_FILES = 20;

/** The files that each kind of process ran, according to V8. */
function loadedFiles(folder: string): { readonly primary: readonly string[]; readonly workers: readonly string[][] } {
  const processes = readdirSync(folder).map((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: Array<{ url: string }> };
    return result.map(({ url }) => url);
  });
  const workers = processes.filter((files) => files.some((url) => url.endsWith('/dist/bin/http-worker.js')));
  return { primary: processes.find((files) => !workers.includes(files)) ?? [], workers };
}

/** The modules in a bundled file. */
function sourcesOf(url: string): readonly string[] {
  const { sources } = JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')) as { sources: readonly string[] };
  return sources.map((source) => new URL(source, url).pathname);
}

test('workers load a few files of svc, and nothing of the compiler, its grammar library or the command line', async () => {
  const folder = temporaryFolder({});
  const server = await startServer({ files: { 'a.svc': HI_FUNCTION }, env: { NODE_V8_COVERAGE: folder } });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/call/Hi`, { method: 'POST', headers, body: '{"name": "Ada"}' });
  expect(answer.status).toBe(200);
  expect(await server.stop()).toBe(0);
  const { primary, workers } = loadedFiles(folder);
  expect(primary.some((url) => url.includes('/node_modules/chevrotain/'))).toBe(true);
  expect(workers.length).toBeGreaterThanOrEqual(2);
  const compiler = /\/node_modules\/(?:chevrotain|ajv|commander|re2js)\/|\/src\/(?:compiler|cli)\//u;
  for (const files of workers) {
    const own = files.filter((url) => url.includes('/dist/bin/'));
    expect(own.length).toBeLessThan(MOST_FILES);
    const loaded = [...files, ...own.flatMap(sourcesOf)];
    expect(loaded.some((file) => file.endsWith('/src/runtime/call/function-run.ts'))).toBe(true);
    expect(loaded.filter((file) => compiler.test(file))).toEqual([]);
  }
});
