import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf } from '../support/documented-page.ts';
import { waitUntil } from '../support/load.ts';
import { runSvc, startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';

/**
 * Runs docs/tools.md as a reader would: the commands of its first block, then the files that its blocks name in their first
 * line, and the other commands. A block of text after a program or commands is their output.
 */
const PAGE = readFileSync(join(ROOT, 'docs/tools.md'), 'utf8');

const BLOCKS = blocksOf(PAGE);
const FILES = BLOCKS.flatMap(({ file, code }) => (file === undefined ? [] : [[file, code] as const]));
const PROGRAMS = BLOCKS.filter(({ language, output }) => language === 'ts' && output !== undefined);
const COMMANDS = BLOCKS.filter(({ language, output }) => language === 'sh' && output !== undefined);

const project = temporaryFolder({ 'package.json': '{"type": "module"}' });
let server: RunningServer;

/** The text for the server of this test. */
function here(text: string): string {
  return text.replaceAll('localhost:2024', `127.0.0.1:${server.port}`);
}

/** The OpenAPI document of the server, as text. */
async function document(): Promise<string> {
  return (await fetch(`${server.url}/openapi.json`)).text();
}

beforeAll(async () => {
  const [first] = BLOCKS;
  const commands = first?.code.trim().split('\n') ?? [];
  expect(commands.pop()).toBe('svc dev');
  for (const command of commands) {
    const [program, ...args] = command.split(' ');
    expect(program).toBe('svc');
    expect(await runSvc(args, {}, project)).toMatchObject({ code: 0, stderr: '' });
  }
  server = await startServer({ command: 'dev', cwd: project });
  for (const [path, code] of FILES) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), here(code));
  }
  await waitUntil('the reload', async () => (await document()).includes('/stream/Assist'));
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  const flags = [
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--strict',
    '--types',
    'node',
    '--rewriteRelativeImportExtensions',
  ];
  const sources = FILES.flatMap(([path]) => (path.endsWith('.ts') ? [path] : []));
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...flags, ...sources], { cwd: project, stdio: 'inherit' });
}, 180_000);

afterAll(async () => {
  await server.stop();
});

test('the page has the definitions, programs and commands that these tests run', () => {
  expect(FILES.map(([path]) => path)).toEqual(['tools.ts', 'agent.ts', 'svc_src/assistant.svc', 'assistant.ts']);
  expect([PROGRAMS.length, COMMANDS.length]).toEqual([2, 2]);
});

test('the definitions that the page quotes are those that svc init writes', () => {
  const written = readFileSync(join(project, 'svc_src/agent.svc'), 'utf8');
  const quoted = BLOCKS.filter(({ language, file }) => language === 'baml' && file === undefined);
  expect(quoted).toHaveLength(2);
  for (const { code } of quoted) expect(written).toContain(code);
});

test.each(PROGRAMS.map((block) => [block.file, block] as const))(
  '%s prints the documented lines',
  (file = '', { output }) => {
    const printed = execFileSync(process.execPath, [file.replace(/ts$/u, 'js')], { cwd: project, encoding: 'utf8' });
    expect(printed).toBe(output);
    expect(PAGE).toContain(`\`node ${file}\``);
  },
);

test.each(COMMANDS.map((block) => [block.code.split('\n')[0], block] as const))(
  '%s … prints the documented lines',
  (_line, { code, output }) => {
    expect(execFileSync('sh', ['-eu', '-c', here(code)], { cwd: project, encoding: 'utf8' })).toBe(output);
  },
);

test('the tests of the definitions pass', async () => {
  const { code, stdout } = await runSvc(['test'], {}, project);
  expect(stdout).toContain('3 passed, 0 failed');
  expect(code).toBe(0);
});
