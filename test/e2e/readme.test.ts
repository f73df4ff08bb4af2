import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf, outputPattern, PageReader } from '../support/documented-page.ts';

/** Runs the blocks of the README against the samples. */
const BLOCKS = blocksOf(readFileSync(join(ROOT, 'README.md'), 'utf8'));
const SAMPLES = join(ROOT, 'svc_src');

let reader: PageReader;
let newcomer: PageReader;

beforeAll(async () => {
  reader = await PageReader.start();
  newcomer = await PageReader.start();
  cpSync(SAMPLES, join(reader.folder, 'svc_src'), { recursive: true });
  await reader.serve('svc serve --port 8080');
});

afterAll(async () => {
  await reader.stop();
});

function blocks(language: string): ReadonlyArray<(typeof BLOCKS)[number]> {
  return BLOCKS.filter((block) => block.language === language && block.mark === undefined);
}

test('the tests run all blocks but these', () => {
  expect(BLOCKS.flatMap(({ code, mark }) => (mark === undefined ? [] : [[code.trim(), mark]]))).toEqual([
    ['npm ci && npm start -- --port 8080', 'not run: the tests run the program that is already built'],
    ['npm ci && npm test', 'not run: it runs all tests'],
  ]);
  expect(['sh', 'baml', 'ts'].map((language) => blocks(language).length)).toEqual([2, 1, 1]);
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

test('the commands for a first function succeed in an empty directory', async () => {
  const printed = await newcomer.run(blocks('sh')[1]?.code ?? '');
  expect(printed).toContain('wrote svc_src/contact.svc\n');
  expect(printed).toContain('1 test: 1 passed, 0 failed');
  expect(printed).toContain('no problems');
});

test('the example of the library runs in a Node program', async () => {
  const { name } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly name: string };
  mkdirSync(join(reader.folder, 'node_modules'));
  symlinkSync(ROOT, join(reader.folder, 'node_modules', name));
  await reader.save('call.mjs', `${blocks('ts')[0]?.code ?? ''}console.log(resume.name);\n`);
  expect(await reader.run('node call.mjs')).toBe('Ada Lovelace\n');
});
