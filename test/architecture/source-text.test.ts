import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, textFiles } from './source-files.ts';
import { linesAgainst, longFiles, MAX_LINES, TEXT_RULES } from './text-rules.ts';

const all = textFiles();

test('the rules apply to all files of the project', () => {
  expect(all.length).toBeGreaterThan(80);
  const paths = all.map((file) => file.path);
  expect(paths).toEqual(expect.arrayContaining(['package.json', '.npmrc', '.ci/run', 'src/base/json.ts', 'README.md']));
});

test.each(TEXT_RULES)('$why', (rule) => {
  expect(linesAgainst(rule, all)).toEqual([]);
});

test('no source file is longer than the limit', () => {
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
])('in %s, a rule refuses: %s', (path, line) => {
  const found = TEXT_RULES.flatMap((rule) => linesAgainst(rule, [{ path, text: `first line\n${line}\n` }]));
  expect(found).toEqual([`${path}:2: ${line}`]);
});

test('the rules accept exceptions', () => {
  const allowed = [
    { path: 'src/config/load-config.ts', text: `process.${'env'}` },
    { path: 'src/cli/main.ts', text: `console.error('usage')` },
    { path: 'src/index.ts', text: ` * loadFunctions({ env: process.${'env'} })` },
    { path: 'src/index.ts', text: `const ALL = '${'process'}.env';` },
    { path: 'bench/run.ts', text: `console.log('table'); process.${'env'}` },
    {
      path: 'src/base/a.ts',
      text: `// oxlint-${'disable'}-next-line no-control-regex -- the pattern searches for them`,
    },
    { path: 'docs/a.md', text: 'POST /homework/ and ./work' },
  ];
  expect(TEXT_RULES.flatMap((rule) => linesAgainst(rule, allowed))).toEqual([]);
});

test('a file over the limit is found', () => {
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
])('the linter applies %s everywhere', (rule) => {
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
])('the compiler option %s is on', (option) => {
  const config = readJson('tsconfig.json') as { compilerOptions: Record<string, unknown> };
  expect(config.compilerOptions[option]).toBe(true);
});

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}
