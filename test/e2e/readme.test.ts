import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader } from '../support/documented-page.ts';
import { waitUntil } from '../support/load.ts';

/** Runs the blocks of the README against the samples. */
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const BLOCKS = blocksOf(README);
const SAMPLES = join(ROOT, 'svc_src');

/** The first command of the page. */
const START = BLOCKS[0]?.code ?? '';

let reader: PageReader;
let newcomer: PageReader;

beforeAll(async () => {
  reader = await PageReader.start();
  newcomer = await PageReader.start();
  cpSync(SAMPLES, join(reader.folder, 'svc_src'), { recursive: true });
  await reader.serve(START.replace('npm ci && npm run dev --', 'svc dev'));
});

afterAll(async () => {
  await Promise.all([reader.stop(), newcomer.stop()]);
});

function blocks(language: string): ReadonlyArray<(typeof BLOCKS)[number]> {
  return BLOCKS.filter((block) => block.language === language && block.mark === undefined);
}

test('the tests run all blocks but these', () => {
  expect(BLOCKS.flatMap(({ code, mark }) => (mark === undefined ? [] : [[code.trim(), mark]]))).toEqual([
    ['npm ci && npm run dev -- --port 8080', 'not run: the tests run the program that is already built'],
    ['npm ci && npm test', 'not run: it runs all tests'],
  ]);
  expect(['sh', 'baml', 'ts'].map((language) => blocks(language).length)).toEqual([2, 1, 1]);
});

test('the first command serves the page of the picture, and prints its link', async () => {
  // The first worker answers before the start is announced.
  const link = `${reader.url}/playground`;
  await waitUntil('the link', () => reader.output.includes(link));
  const page = await fetch(link);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')]);
  expect(README).toContain('<http://localhost:8080/playground>');
});

test('the call of the first screen streams the documented events', async () => {
  const [call] = blocks('sh');
  expect((await reader.run(call?.code ?? '')).trim()).toMatch(outputPattern(call?.output ?? ''));
});

test('the function of the first screen is the one that the call runs', () => {
  const sample = readFileSync(join(SAMPLES, 'resume.svc'), 'utf8').split('\n');
  const shown = (blocks('baml')[0]?.code ?? '').trimEnd().split('\n');
  let at = 0;
  const missing = shown.filter((line) => {
    const found = sample.indexOf(line, at);
    if (found >= 0) at = found + 1;
    return found < 0;
  });
  expect(missing).toEqual([]);
});

test('the commands for a first project succeed in an empty directory, and the last one serves it', async () => {
  const [commands = '', server = ''] = (blocks('sh')[1]?.code ?? '').split(/^(?=svc dev)/mu);
  const printed = await newcomer.run(commands);
  expect(printed).toContain('wrote shop/svc_src/contact.svc\n');
  expect(printed).toContain('1 test: 1 passed, 0 failed');
  expect(printed).toContain('no problems');
  await newcomer.serve(`cd shop && ${server}`);
  expect((await fetch(`${newcomer.url}/playground`)).status).toBe(200);
});

test('the example of the library runs in a Node program', async () => {
  const { name } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly name: string };
  mkdirSync(join(reader.folder, 'node_modules'));
  symlinkSync(ROOT, join(reader.folder, 'node_modules', name));
  await reader.save('call.mjs', `${blocks('ts')[0]?.code ?? ''}console.log(resume.name);\n`);
  expect(await reader.run('node call.mjs')).toBe('Ada Lovelace\n');
});
