import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

// A program that uses svc as its users do: with the packed package and its dependencies in node_modules.
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'svc-packed-'));
const installed = join(project, 'node_modules/svc');

beforeAll(() => {
  const packed = run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], ROOT).trim();
  mkdirSync(installed, { recursive: true });
  run(
    'tar',
    ['-xzf', join(project, packed.split('\n').at(-1) ?? ''), '-C', installed, '--strip-components=1'],
    project,
  );
  for (const name of dependencies()) link(name);
  link('typescript');
  link('@types/node');
  cpSync(join(installed, 'svc_src'), join(project, 'svc_src'), { recursive: true });
  writeFileSync(join(project, 'package.json'), '{"type": "module"}');
});
afterAll(() => rmSync(project, { recursive: true }));

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function dependencies(): readonly string[] {
  const manifest: unknown = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  return Object.keys((manifest as { readonly dependencies: object }).dependencies);
}

function link(name: string): void {
  const target = join(project, 'node_modules', name);
  mkdirSync(join(target, '..'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), target);
}

/** The code blocks of the page, as one program. */
function documentedProgram(): string {
  const page = readFileSync(join(installed, 'docs/library.md'), 'utf8');
  const blocks = [...page.matchAll(/```ts\n(.*?)```/gsu)].map(([, code = '']) => code);
  expect(blocks).toHaveLength(4);
  return blocks.join('\n');
}

const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--types', 'node'];

test('the program in the documentation compiles strictly and prints the expected lines', () => {
  writeFileSync(join(project, 'main.ts'), documentedProgram());
  const target = ['--module', 'nodenext', '--target', 'es2023', ...STRICT];
  run(join(ROOT, 'node_modules/.bin/tsc'), [...target, 'main.ts'], project);
  const lines = run(process.execPath, ['main.js'], project).trimEnd().split('\n');
  expect(lines[0]).toMatch(/^name \d+ \d+$/u);
  expect(lines.filter((line) => line.startsWith('so far:')).length).toBeGreaterThan(0);
  expect(lines.slice(-4)).toEqual([
    expect.stringMatching(/^done: name \d+$/u),
    'Grace Hopper',
    expect.stringMatching(/^invalid_options .*There is no client "Nobody"/u),
    'svc_options.client',
  ]);
});

test('TypeScript refuses wrong uses of the library', () => {
  writeFileSync(
    join(project, 'wrong.ts'),
    `import { ClientRegistry, loadFunctions } from 'svc';
const functions = loadFunctions({ form: './svc_src' });
new ClientRegistry().setPrimary(1);
const value = await functions.call('F', {});
value.name;
await functions.call('F', {}, { timeout: 1 });
`,
  );
  const target = ['--module', 'nodenext', '--target', 'es2023', '--noEmit', '--pretty', 'false', ...STRICT];
  let output = '';
  try {
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...target, 'wrong.ts'], { cwd: project, encoding: 'utf8' });
  } catch (error) {
    output = String((error as { readonly stdout: unknown }).stdout);
  }
  const lines = [...output.matchAll(/^wrong\.ts\((\d+),/gmu)].map(([, line]) => Number(line));
  expect([...new Set(lines)]).toEqual([2, 3, 5, 6]);
});

test('the package contains all that it needs, and no sources or tests', () => {
  expect(readdirSync(installed).toSorted()).toEqual(
    expect.arrayContaining([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'docs',
      'package.json',
      'sbom.cdx.json',
      'svc_src',
    ]),
  );
  expect(readdirSync(join(installed, 'dist')).toSorted()).toEqual(['assets', 'bin', 'src']);
});

test('the command runs from the package', () => {
  const version = run(process.execPath, [join(installed, 'dist/bin/svc.js'), '--version'], project);
  const manifest: unknown = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(version.trim()).toBe((manifest as { readonly version: string }).version);
});
