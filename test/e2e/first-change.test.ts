import { execFile } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf } from '../support/documented-page.ts';
import { temporaryFolder } from '../support/running-server.ts';

/** Follows "A first change" of .github/CONTRIBUTING.md in a copy of the sources. */
const PAGE = readFileSync(join(ROOT, '.github/CONTRIBUTING.md'), 'utf8');
const SECTION = PAGE.slice(PAGE.indexOf('## A first change'), PAGE.indexOf('## What a change needs'));
const BLOCKS = blocksOf(SECTION);
const CATALOGUE = 'src/diagnostics/catalogue/check.ts';
const CHECK = 'src/compiler/2-check/rules.ts';
const ERRORS = 'docs/errors.md';

const run = promisify(execFile);

/** In place of the one of npm, which takes longer to start than the program that it runs here. */
const NPX = '#!/bin/sh\nprogram=$1\nshift\nexec "node_modules/.bin/$program" "$@"\n';

/** Leaves out what `npm ci` installs in folders of tests, and what they generate. */
function isSource(path: string): boolean {
  return !/node_modules|\/generated$/u.test(path.slice(ROOT.length));
}

/** A copy of what the tests of the compiler need. */
function copyOfSources(): string {
  const copy = temporaryFolder({});
  for (const name of ['src', 'workers', 'test', 'docs', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(copy, name), {
      recursive: true,
      filter: isSource,
    });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Writes a text before the first line of a file that begins with `next`. */
function insertBefore(file: string, next: string, text: string): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  const at = lines.findIndex((line) => line.startsWith(next));
  expect(at, `${file} has a line "${next}"`).toBeGreaterThan(0);
  writeFileSync(file, [...lines.slice(0, at), text.replace(/\n$/u, ''), ...lines.slice(at)].join('\n'));
}

test('each step of the example works', async () => {
  const copy = copyOfSources();
  const programs = temporaryFolder({ npx: NPX });
  chmodSync(join(programs, 'npx'), 0o755);
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}` };
  const marked = (mark: string): string => BLOCKS.find((block) => block.mark === mark)?.code ?? '';
  const shell = (commands: string): Promise<unknown> => run('sh', ['-eu', '-c', commands], { cwd: copy, env });
  const [sample, tests] = BLOCKS.filter(({ language, mark }) => language === 'sh' && mark === undefined);
  const rule = BLOCKS.find(({ file }) => file !== undefined);
  const [, entry = ''] = /^````markdown\n([^]*?)^````$/mu.exec(SECTION) ?? [];

  await shell(sample?.code ?? '');
  await expect(shell(marked('this command fails'))).rejects.toMatchObject({
    stdout: expect.stringContaining("'empty-description' has no errors"),
  });
  insertBefore(join(copy, CATALOGUE), "  'check/skip-required'", marked(`after check/empty-alias in ${CATALOGUE}`));
  writeFileSync(join(copy, rule?.file ?? ''), rule?.code ?? '');
  insertBefore(join(copy, CHECK), 'import { environmentVariables }', marked(`imported in ${CHECK}`));
  insertBefore(join(copy, CHECK), '    environmentVariables,', marked(`in RULES of ${CHECK}`));
  insertBefore(join(copy, ERRORS), '### check/skip-required', entry);
  await shell(tests?.code ?? '');
});

test('the test follows all blocks but these', () => {
  const skipped = BLOCKS.filter(({ mark }) => mark?.startsWith('not run') === true);
  expect(skipped.map(({ mark }) => mark)).toEqual([
    'not run: the tests have the packages',
    'not run: it builds svc',
    'not run: it runs all tests',
  ]);
  expect(BLOCKS).toHaveLength(10);
});
