import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { startServer, temporaryFolder } from '../support/running-server.ts';

/**
 * With a bundle, a process starts twice as fast as with a file for each of its hundreds of modules: this test notices a bundle that falls
 * apart. Each package and each feature that is loaded on first use has a file of its own, and so has what several programs share.
 */
const MOST_FILES = 40;

/** The files that each process and each thread ran, according to V8. */
function loadedFiles(folder: string): readonly string[][] {
  return readdirSync(folder).map((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: Array<{ url: string }> };
    return result.map(({ url }) => url);
  });
}

/** Those that ran this program of svc. */
function running(program: string, all: readonly string[][]): readonly string[][] {
  return all.filter((files) => files.some((url) => url.endsWith(`/dist/bin/${program}`)));
}

/** The files, and the modules in those of svc. */
function withModules(files: readonly string[]): readonly string[] {
  return [...files, ...files.filter((url) => url.includes('/dist/bin/')).flatMap(sourcesOf)];
}

/** The modules in a bundled file. A file that only exports another one again has no map. */
function sourcesOf(url: string): readonly string[] {
  if (!existsSync(fileURLToPath(`${url}.map`))) return [];
  const { sources } = JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')) as { sources: readonly string[] };
  return sources.map((source) => new URL(source, url).pathname);
}

test('only the compile thread loads the compiler, its grammar library and AJV; workers load a few files of svc', async () => {
  const folder = temporaryFolder({});
  const server = await startServer({ files: { 'a.svc': HI_FUNCTION }, env: { NODE_V8_COVERAGE: folder } });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/call/Hi`, { method: 'POST', headers, body: '{"name": "Ada"}' });
  expect(answer.status).toBe(200);
  const types = '{"name": "Ada", "svc_options": {"type_builder": "class A {\\n  b int\\n}"}}';
  const extended = await fetch(`${server.url}/call/Hi`, { method: 'POST', headers, body: types });
  expect(extended.status).toBe(200);
  expect(await server.stop()).toBe(0);
  const all = loadedFiles(folder);
  const workers = running('http-worker.js', all);
  expect(workers.length).toBeGreaterThanOrEqual(2);
  for (const files of workers) {
    expect(files.filter((url) => url.includes('/dist/bin/')).length).toBeLessThan(MOST_FILES);
    const loaded = withModules(files);
    expect(loaded.some((file) => file.endsWith('/src/runtime/call/function-run.ts'))).toBe(true);
    // No variable turns on traces or metrics.
    expect(loaded.filter((file) => /\/node_modules\/@opentelemetry\/|\/src\/telemetry\//u.test(file))).toEqual([]);
    expect(loaded.filter((file) => /\/node_modules\/commander\/|\/src\/cli\//u.test(file))).toEqual([]);
  }
  const [primary = [], ...others] = running('svc.js', all);
  expect(others).toEqual([]);
  const compiler =
    /\/node_modules\/(?:chevrotain|ajv|ajv-formats)\/|\/src\/compiler\/|\/dist\/packages\/(?:re2js|yaml)/u;
  // No request has an idempotency key.
  const answers = /\/src\/policy\/memory-answers/u;
  for (const files of [primary, ...workers])
    expect(withModules(files).filter((file) => answers.test(file))).toEqual([]);
  for (const files of [primary, ...workers])
    expect(withModules(files).filter((file) => compiler.test(file))).toEqual([]);
  for (const files of all) expect(withModules(files).filter((file) => file.includes('/vscode-'))).toEqual([]);
  // The server has no store.
  const store = /\/node_modules\/(?:ioredis|@ioredis)\/|\/src\/policy\/store\//u;
  for (const files of all) expect(withModules(files).filter((file) => store.test(file))).toEqual([]);
  const compiled = withModules(running('compile-thread.js', all).flat());
  for (const part of ['/node_modules/chevrotain/', '/node_modules/ajv/', '/src/compiler/compile.ts']) {
    expect(compiled.some((file) => file.includes(part))).toBe(true);
  }
});
