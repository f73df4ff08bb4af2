import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, PageReader, startsServer } from '../support/documented-page.ts';
import { waitUntil } from '../support/load.ts';

/** Runs the examples of docs/cli.md in order, in one directory. test/cli/exit-codes.test.ts has a command line for every exit code. */
const PAGE = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
const ALL_BLOCKS = blocksOf(PAGE);

/** `svc calls` needs SQLite: test/calls/documented-calls.test.ts follows docs/calls.md. */
const BLOCKS = ALL_BLOCKS.filter(({ code }) => !code.startsWith('svc calls '));

/** A part of what the example of each command prints, or of the file that it writes. */
const PRINTED: Readonly<Record<string, { readonly file?: string; readonly part: string }>> = {
  init: { part: 'wrote svc_src/classify.svc\n' },
  dev: { file: 'svc.d.ts', part: 'LabelMessage' },
  check: { part: '"diagnostics": []' },
  test: { file: 'report.xml', part: '<testcase' },
  fmt: { part: '' },
  lsp: { part: '"serverInfo":{"name":"svc"' },
  serve: { file: 'svc.log', part: '"level":' },
  mcp: { part: '"name":"LabelMessage"' },
  keys: { file: 'keys.yaml', part: 'name: team-a' },
  healthcheck: { part: '' },
  logs: { part: ' listening on http' },
  batch: { part: '1 row: 1 answered, 0 failed' },
  openapi: { file: 'openapi.yaml', part: 'openapi: 3.0.3' },
  types: { file: 'svc.d.ts', part: 'LabelMessage' },
  help: { part: 'Usage: svc serve [options] [path]' },
};

let reader: PageReader;

beforeAll(async () => {
  reader = await PageReader.start();
  writeFileSync(join(reader.folder, 'messages.jsonl'), '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
  const messages = [
    { id: 1, method: 'initialize', params: { capabilities: {} } },
    { id: 2, method: 'shutdown' },
    { method: 'exit' },
  ];
  const framed = messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
  const text = framed.map((content) => `Content-Length: ${String(content.length)}\r\n\r\n${content}`).join('');
  writeFileSync(join(reader.folder, 'editor-messages.txt'), text);
  writeFileSync(join(reader.folder, 'rows.jsonl'), '{"message": "Where is my invoice?"}\n');
});

afterAll(async () => {
  await reader.stop();
});

/** The text of a file that a command writes; empty while there is none. */
function textOf(file: string): string {
  const path = join(reader.folder, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

test('the page has an example of every command, and none is skipped', () => {
  expect(BLOCKS.map(({ code }) => code.split(' ')[1]?.trim())).toEqual(Object.keys(PRINTED));
  expect(ALL_BLOCKS.length).toBe(BLOCKS.length + 1);
  expect(BLOCKS.filter(({ mark, language }) => mark !== undefined || language !== 'sh')).toEqual([]);
});

test('the examples run in the order of the page', async () => {
  for (const block of BLOCKS) {
    const { file, part = '' } = PRINTED[block.code.split(' ')[1]?.trim() ?? ''] ?? {};
    let printed = '';
    if (startsServer(block)) await reader.serve(block.code);
    else printed = await reader.run(block.code);
    if (file === undefined) expect(printed, block.code).toContain(part);
    else await waitUntil(`${file} of ${block.code}`, () => textOf(file).includes(part));
  }
  expect(await reader.stop()).toBe(0);
});
