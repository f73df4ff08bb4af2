import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, textFiles } from './source-files.ts';
import { linesAgainst, longFiles, MAX_LINES, TEXT_LAWS } from './text-laws.ts';

const all = textFiles();

test('the files that the laws are held against are found', () => {
  expect(all.length).toBeGreaterThan(80);
  const paths = all.map((file) => file.path);
  expect(paths).toEqual(expect.arrayContaining(['package.json', '.npmrc', '.ci/run', 'src/base/json.ts', 'README.md']));
});

test.each(TEXT_LAWS)('$why', (law) => {
  expect(linesAgainst(law, all)).toEqual([]);
});

test('no source file is longer than one subject needs', () => {
  expect(longFiles(all)).toEqual([]);
});

test.each([
  ['src/server/a.ts', `const key = process.${'env'}['KEY'];`],
  ['workers/a.ts', `console.log('hello');`],
  ['test/a.test.ts', `// @${'ts-ignore'}`],
  ['test/a.test.ts', `process.${'cpuU'}sage()`],
  ['test/a.test.ts', `fc.${'assert'}(property);`],
  ['src/base/a.ts', `// oxlint-${'disable'}-next-line`],
  ['docs/a.md', `${'TO'}${'DO'}: write this`],
  ['README.md', `see ${'/wor'}k/notes`],
  ['.ci/run', `cd ${'/roo'}t/svc`],
  ['package-lock.json', `https://${'registr'}y.example.org/x`],
])('in %s a law refuses: %s', (path, line) => {
  const found = TEXT_LAWS.flatMap((law) => linesAgainst(law, [{ path, text: `first line\n${line}\n` }]));
  expect(found).toEqual([`${path}:2: ${line}`]);
});

test('the laws leave alone what others may do', () => {
  const allowed = [
    { path: 'src/config/load-config.ts', text: `process.${'env'}` },
    { path: 'src/cli/main.ts', text: `console.error('usage')` },
    { path: 'src/index.ts', text: ` * loadFunctions({ env: process.${'env'} })` },
    { path: 'bench/run.ts', text: `console.log('table'); process.${'env'}` },
    { path: 'src/base/a.ts', text: `// oxlint-${'disable'}-next-line no-control-regex -- they are what is looked for` },
    { path: 'docs/a.md', text: 'POST /homework/ and ./work' },
  ];
  expect(TEXT_LAWS.flatMap((law) => linesAgainst(law, allowed))).toEqual([]);
});

test('a file over the limit is seen', () => {
  const text = 'line\n'.repeat(MAX_LINES + 1);
  expect(longFiles([{ path: 'src/a.ts', text }])).toEqual([`src/a.ts: ${MAX_LINES + 1}`]);
});

test.each([
  'typescript/no-explicit-any',
  'typescript/no-non-null-assertion',
  'typescript/ban-ts-comment',
  'typescript/no-floating-promises',
  'typescript/switch-exhaustiveness-check',
  'import/no-cycle',
])('the linter refuses what %s refuses, everywhere', (rule) => {
  const config = readJson('.oxlintrc.json') as { rules: Record<string, unknown>; overrides?: unknown };
  expect([config.rules[rule]].flat()[0]).toBe('error');
  expect(config.overrides).toBeUndefined();
});

test.each([
  'strict',
  'noUncheckedIndexedAccess',
  'exactOptionalPropertyTypes',
  'noPropertyAccessFromIndexSignature',
  'erasableSyntaxOnly',
  'verbatimModuleSyntax',
  'noImplicitReturns',
])('the compiler is told %s', (option) => {
  const config = readJson('tsconfig.json') as { compilerOptions: Record<string, unknown> };
  expect(config.compilerOptions[option]).toBe(true);
});

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}
