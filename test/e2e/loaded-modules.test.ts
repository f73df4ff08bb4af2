import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer, temporaryFolder } from '../support/running-server.ts';

const FUNCTION = `
client<llm> Offline {
  provider offline
}
function Hi(name: string) -> string {
  client Offline
  prompt #"Say hi to {{ name }}"#
}
`;

/** The files that V8 says each process ran, by what kind of process it was. */
function loadedFiles(folder: string): { readonly primary: readonly string[]; readonly workers: readonly string[][] } {
  const processes = readdirSync(folder).map((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: Array<{ url: string }> };
    return result.map(({ url }) => url);
  });
  const workers = processes.filter((files) => files.some((url) => url.endsWith('/workers/http-worker.js')));
  return { primary: processes.find((files) => !workers.includes(files)) ?? [], workers };
}

test('workers run no line of the compiler, of its grammar library or of the command line', async () => {
  const folder = temporaryFolder({});
  const server = await startServer({ files: { 'a.svc': FUNCTION }, env: { NODE_V8_COVERAGE: folder } });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/call/Hi`, { method: 'POST', headers, body: '{"name": "Ada"}' });
  expect(answer.status).toBe(200);
  expect(await server.stop()).toBe(0);
  const { primary, workers } = loadedFiles(folder);
  expect(primary.some((url) => url.includes('/node_modules/chevrotain/'))).toBe(true);
  expect(workers.length).toBeGreaterThanOrEqual(2);
  const compiler = /\/node_modules\/(?:chevrotain|ajv|commander)\/|\/dist\/src\/(?:compiler|cli)\//u;
  for (const files of workers) expect(files.filter((url) => compiler.test(url))).toEqual([]);
});
