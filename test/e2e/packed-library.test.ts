import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

// A program that uses svc as its users do: with the packed package in node_modules, and nothing else.
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const project = mkdtempSync(join(tmpdir(), 'svc-packed-'));
const installed = join(project, 'node_modules/svc-functions');
let packages: readonly string[] = [];

beforeAll(() => {
  writeFileSync(join(project, 'package.json'), '{"type": "module"}');
  // Packs the built package and installs it, without the network: npm leaves out optional packages that it cannot fetch.
  run(
    'npm',
    ['install', '--offline', '--ignore-scripts', '--silent', '--install-links', join(ROOT, 'dist/package')],
    project,
  );
  packages = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
  link('typescript');
  link('@types/node');
  cpSync(join(ROOT, 'svc_src'), join(project, 'svc_src'), { recursive: true });
  run(process.execPath, [join(installed, 'dist/bin/svc.js'), 'types', '--out', 'svc.d.ts'], project);
});
afterAll(() => rmSync(project, { recursive: true }));

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
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
  expect(blocks).toHaveLength(6);
  return blocks.join('\n');
}

/** TypeScript checks the declarations too, except its own. */
const STRICT = [
  '--strict',
  '--skipDefaultLibCheck',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--types',
  'node',
];

const TYPED = `import { loadFunctions } from 'svc-functions';
import type { CallSettings, TypedFunctions } from 'svc-functions';
import type { Functions, Resume, Ticket } from './svc.js';
const functions: TypedFunctions<Functions> = loadFunctions<Functions>({ from: './svc_src', env: process.env });
`;

const RESOLVED = `import { loadFunctions, type CallSettings, type FunctionEvent } from 'svc-functions';
const settings: CallSettings = { timeoutMs: 1000 };
export async function first(): Promise<string> {
  const functions = loadFunctions({ from: './svc_src', env: process.env });
  const { name } = await functions.call<{ name: string }>('ExtractResume', { resume: '' }, settings);
  return name;
}
export type Event = FunctionEvent<string>;
`;

/** The modules that TypeScript compiles together. */
const MODULES = {
  'wrong.ts': `import { ClientRegistry, loadFunctions } from 'svc-functions';
const functions = loadFunctions({ form: './svc_src', env: {} });
loadFunctions({ from: './svc_src' });
new ClientRegistry().setPrimary(1);
const value = await functions.call('F', {});
value.name;
await functions.call('F', {}, { timeout: 1 });
`,
  'typed.ts': `${TYPED}
const settings: CallSettings = { client: 'Offline', timeoutMs: 1000 };
const resume: Resume = await functions.call('ExtractResume', { resume: '' }, settings);
const category: 'Billing' | 'Outage' | 'HowTo' | 'Other' = await functions.call('ClassifyTicket', { message: '' });
const earlier: Ticket[] = [{ category, urgency: 'Low', summary: resume.email ?? '' }];
await functions.call('TriageTicket', { message: '', earlier });
await functions.call('TriageTicket', { message: '', earlier: null });
await functions.call('TriageTicket', { message: '', earlier: undefined });
const document = await functions.call('ReadDocument', { text: '', hints: { a: 'b' } });
const total: number = document.kind === 'receipt' ? document.total : 0;
for await (const event of functions.stream('TriageTicket', { message: '' })) {
  if (event.type === 'partial') { const so: 'Low' | 'Normal' | 'High' | null = event.value.urgency; console.log(so, total); }
  if (event.type === 'final') { const ticket: Ticket = event.value; console.log(ticket); }
}
const names: readonly ('Chat' | 'ReadContact' | 'ReadDocument' | 'CountLanguages' | 'ExtractResume' | 'ClassifyTicket' | 'TriageTicket')[] = functions.functionNames;
console.log(names);
await functions.close();
`,
  'mistyped.ts': `${TYPED}const ok = await functions.call('ExtractResume', { resume: '' });
await functions.call('ExtractResme', { resume: '' });
await functions.call('ExtractResume', {});
await functions.call('ExtractResume', { resume: 5 });
await functions.call('ExtractResume', { resume: '', more: 1 });
await functions.call('TriageTicket', { message: '', earlier: [{ category: 'Bills', urgency: 'Low', summary: '' }] });
ok.nme;
ok.email.length;
ok.years < 10;
const wrong: number = await functions.call('Chat', { messages: [] });
functions.stream('Nothing', {});
for await (const event of functions.stream('ExtractResume', { resume: '' })) {
  if (event.type === 'partial') event.value.name.length;
  if (event.type === 'final') event.value.name.length;
  if (event.type === 'end') console.log(wrong);
}
loadFunctions<{ F: string }>({ from: './svc_src', env: {} });
`,
  'module.mts': RESOLVED,
  'module.cts': RESOLVED,
};

/** The lines with errors in each file, after one run of TypeScript over the documented program and all modules. */
const errors = new Map<string, number[]>();

beforeAll(() => {
  const sources = { 'main.ts': documentedProgram(), ...MODULES };
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(project, name), text);
  // Without --skipLibCheck, TypeScript checks the declarations too. It writes the programs, although some modules have errors.
  const flags = ['--module', 'nodenext', '--target', 'es2023', '--pretty', 'false', ...STRICT];
  const { stdout } = spawnSync(TSC, [...flags, ...Object.keys(sources)], { cwd: project, encoding: 'utf8' });
  for (const [, file = '', line] of stdout.matchAll(/^(\S+?)(?:\((\d+),\d+\))?: error/gmu)) {
    errors.set(file, [...new Set([...(errors.get(file) ?? []), Number(line)])]);
  }
});

test('the documented program and typed functions compile strictly, types resolve in both module systems, and declarations are complete', () => {
  expect([...errors.keys()].toSorted()).toEqual(['mistyped.ts', 'wrong.ts']);
});

test('the program in the documentation prints the expected lines', () => {
  const lines = run(process.execPath, ['main.js'], project).trimEnd().split('\n');
  expect(lines[0]).toMatch(/^Ada Lovelace \d+$/u);
  expect(lines.filter((line) => line.startsWith('so far:')).length).toBeGreaterThan(0);
  expect(lines[1]).toMatch(/^(?:now|later)$/u);
  expect(lines.filter((line) => line.startsWith('name: ')).length).toBeGreaterThan(0);
  expect(lines).toContain('plausible: succeeded');
  expect(lines.slice(-5)).toEqual([
    'done: Ada Lovelace',
    'Grace Hopper',
    'Offline attempts: 1 cost: unknown',
    expect.stringMatching(/^invalid_options .*There is no client "Nobody"/u),
    'svc_options.client',
  ]);
});

test('TypeScript refuses wrong uses of the library', () => {
  expect(errors.get('wrong.ts')).toEqual([2, 3, 4, 6, 7]);
});

test('TypeScript refuses wrong names, arguments and uses of results of typed functions', () => {
  expect(errors.get('mistyped.ts')).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21]);
});

test('an optional argument can be undefined when a program runs', async () => {
  writeFileSync(
    join(project, 'undefined.mjs'),
    `import { loadFunctions } from 'svc-functions';
const functions = loadFunctions({ from: './svc_src', env: process.env });
console.log(typeof (await functions.call('TriageTicket', { message: '', earlier: undefined })).summary);
await functions.close();
`,
  );
  expect(run(process.execPath, ['undefined.mjs'], project)).toBe('string\n');
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
      'templates',
    ]),
  );
  expect(readdirSync(join(installed, 'dist')).toSorted()).toEqual(['assets', 'bin', 'lib', 'packages']);
});

test('an installation without binaries is one package of at most 17 MB', () => {
  expect(packages).toEqual(['svc-functions']);
  expect(sizes(installed).reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(17e6);
});

function sizes(folder: string): ReadonlyArray<readonly [path: string, size: number]> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths
    .map((path) => [path, statSync(join(folder, path))] as const)
    .flatMap(([path, stat]) => (stat.isFile() ? [[path, stat.size] as const] : []));
}

test('importing the library loads one file of at most 2 MB', () => {
  const program = `require('svc-functions');
console.log(Object.keys(require.cache).flatMap((path) => path.split('/svc-functions/')[1] ?? []).join(' '));
`;
  writeFileSync(join(project, 'loaded.cjs'), program);
  expect(run(process.execPath, ['loaded.cjs'], project)).toBe('dist/lib/index.cjs\n');
  expect(statSync(join(installed, 'dist/lib/index.cjs')).size).toBeLessThan(2e6);
});

test('a program that imports and requires the library has it once', () => {
  const program = `import { createRequire } from 'node:module';
import * as imported from 'svc-functions';
const required = createRequire(import.meta.url)('svc-functions');
console.log(Object.keys(imported).sort().join(' '));
console.log(Object.keys(required).every((name) => required[name] === imported[name]));
`;
  writeFileSync(join(project, 'twice.mjs'), program);
  const names = 'CallError ClientRegistry DefinitionError FunctionLibrary VERSION loadFunctions';
  expect(run(process.execPath, ['twice.mjs'], project)).toBe(`${names}\ntrue\n`);
});

const SETTINGS = [
  ['node16 in a CommonJS module', 'module16.cts', ['--module', 'node16', '--target', 'es2023']],
  ['bundler', 'bundled.ts', ['--module', 'preserve', '--moduleResolution', 'bundler']],
] as const;

test.each(SETTINGS)('types resolve with %s, and declarations are complete', (_setting, file, flags) => {
  writeFileSync(join(project, file), RESOLVED);
  expect(run(TSC, [...flags, '--noEmit', ...STRICT, file], project)).toBe('');
});

test('the command in the package writes a first function, and its tests pass', () => {
  const svc = join(installed, 'dist/bin/svc.js');
  expect(run(process.execPath, [svc, 'init', 'first'], project)).toContain('wrote first/svc_src/contact.svc\n');
  expect(run(process.execPath, [svc, 'test', 'first'], project)).toContain('1 test: 1 passed, 0 failed');
});

test('the command runs from the package', () => {
  const version = run(process.execPath, [join(installed, 'dist/bin/svc.js'), '--version'], project);
  const manifest: unknown = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(version.trim()).toBe((manifest as { readonly version: string }).version);
});
