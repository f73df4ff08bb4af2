import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf } from '../support/documented-page.ts';
import { chatCompletion } from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';

// Programs that use the packed package and are bundled as docs/bundling.md describes. Bundles run in a folder of their own, without
// node_modules.
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const BLOCKS = blocksOf(readFileSync(join(ROOT, 'docs/bundling.md'), 'utf8'));

const work = mkdtempSync(join(tmpdir(), 'svc-bundlers-'));
const project = join(work, 'project');

/** By the first word of its command after `npx`. Its configuration is in the file of that name. */
const BUNDLERS = ['esbuild', 'webpack', 'rollup', 'vite', 'bun'] as const;

const DEFINITIONS = `
client<llm> Chat {
  provider openai
  options {
    model "m"
    base_url env.URL
    api_key env.KEY
  }
}
client<llm> Responses {
  provider openai-responses
  options {
    model "m"
    base_url env.URL
    api_key env.KEY
  }
}
client<llm> Profile {
  provider aws-bedrock
  options {
    model "m"
    region "r"
    profile "signed-in"
  }
}
class Person {
  name string
}
function Read(text: string) -> Person {
  client Chat
  prompt #"{% if text|regex_match("^Ad[a-z]$") %}matched{% endif %}"#
}
`;

/** Uses every part of the library that it loads on first use: undici, both resources of openai, YAML, regular expressions. */
const PROGRAM = `
const functions = loadFunctions({ from: './definitions.svc', env: process.env, prices: './prices.yaml' });
async function main() {
  for (const client of ['Chat', 'Responses']) {
    const onMeta = ({ cost, prompt }) => console.log(client, cost, JSON.stringify(prompt));
    console.log((await functions.call('Read', { text: 'Ada' }, { client, onMeta })).name);
  }
  for await (const event of functions.stream('Read', { text: 'Ada' }, { client: 'Chat' })) {
    if (event.type === 'final') console.log('final', event.value.name);
  }
  const clientRegistry = new ClientRegistry().addLlmClient('Own', 'offline', { reply: '{"name": "Grace"}' }).setPrimary('Own');
  console.log((await functions.call('Read', { text: '' }, { clientRegistry })).name);
  await functions.call('Read', { text: '' }, { client: 'Profile' }).catch((error) => console.log(error instanceof CallError, error.message));
  await functions.close();
  console.log(VERSION);
}
main();
`;

const SOURCES = {
  'main.mjs': `import { CallError, ClientRegistry, loadFunctions, VERSION } from 'svc-functions';\n${PROGRAM}`,
  'main.cjs': `const { CallError, ClientRegistry, loadFunctions, VERSION } = require('svc-functions');\n${PROGRAM}`,
};

const DATA = {
  'definitions.svc': DEFINITIONS,
  'prices.yaml': '- { model: m, input: 1000000, output: 0 }\n',
  'aws-config': '[profile signed-in]\nsso_session = s\n',
};

let provider: Server;
let env: NodeJS.ProcessEnv = {};

beforeAll(async () => {
  cpSync(FOLDER, project, { recursive: true, verbatimSymlinks: true });
  // Its own installation script would link it.
  unlinkSync(join(project, 'node_modules/.bin/bun'));
  symlinkSync('../@oven/bun-linux-x64/bin/bun', join(project, 'node_modules/.bin/bun'));
  const pack = ['pack', '--silent', '--pack-destination', work, './dist/package'];
  const tarball = join(work, execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }).trim());
  const install = ['install', '--offline', '--ignore-scripts', '--silent', '--no-audit', tarball];
  execFileSync('npm', install, { cwd: project, stdio: 'inherit' });
  cpSync(join(ROOT, 'svc_src'), join(project, 'svc_src'), { recursive: true });
  for (const [name, text] of Object.entries({ ...SOURCES, ...DATA })) writeFileSync(join(project, name), text);

  provider = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/responses' ? RESPONSE : chatCompletion(REPLY)));
    request.resume();
  });
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  env = {
    PATH: `${join(project, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: work,
    URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
    KEY: 'k',
    AWS_CONFIG_FILE: 'aws-config',
    NEXT_TELEMETRY_DISABLED: '1',
  };
});
afterAll(() => {
  provider.close();
  rmSync(work, { recursive: true });
});

const REPLY = '{"name": "Ada"}';
const RESPONSE = {
  id: 'r',
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: REPLY, annotations: [] }] }],
  usage: { input_tokens: 7, output_tokens: 3 },
};

/** A program that does not block the provider, which answers in this process. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collected(child);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output.all}`);
  return output.standard;
}

function collected({ stdout, stderr }: ChildProcess): { standard: string; all: string } {
  const output = { standard: '', all: '' };
  stdout?.on('data', (chunk: Buffer) => (output.standard += chunk.toString()));
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk: Buffer) => (output.all += chunk.toString()));
  return output;
}

/** The command of a tool on the page, without `npx`: the tool is on the path. */
function commandOf(tool: string): string {
  const block = BLOCKS.find(({ language, code }) => language === 'sh' && code.startsWith(`npx ${tool}`));
  if (block === undefined) throw new Error(`no command of ${tool}`);
  return block.code.replaceAll('npx ', '');
}

/** A file on the page, with its first line. */
function documentedFile(path: string): string {
  const block = BLOCKS.find(({ file }) => file === path);
  if (block === undefined) throw new Error(`no file ${path}`);
  return block.code;
}

/** A documented command or configuration, for another source and another format. */
function adapted(text: string, source: string, format: string): string {
  const from = text.replaceAll('main.mjs', source);
  if (format === 'esm') return from;
  return from
    .replaceAll('bundle.mjs', 'bundle.cjs')
    .replace('--format=esm', '--format=cjs')
    .replace("format: 'es'", "format: 'cjs'")
    .replace('  experiments: { outputModule: true },\n', '')
    .replace(', module: true', '');
}

/** Moves what a bundler wrote to an empty folder, next to the files that programs read. */
function deploy(name: string, output: string): string {
  const folder = join(work, name.replaceAll(/\W+/gu, '-'));
  mkdirSync(folder);
  cpSync(join(project, output), folder, { recursive: true, verbatimSymlinks: true });
  rmSync(join(project, output), { recursive: true });
  for (const [file, text] of Object.entries(DATA)) writeFileSync(join(folder, file), text);
  return folder;
}

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };

/** The lines that the program prints, in whatever form it runs. */
const PRINTED = [
  expect.stringMatching(/^Chat 7 .*matched/u),
  'Ada',
  expect.stringMatching(/^Responses 7 .*matched/u),
  'Ada',
  'final Ada',
  'Grace',
  expect.stringMatching(/^true .*needs the package @aws-sdk\/credential-provider-ini/u),
  version,
];

test('the page has an example for each bundler', () => {
  expect(BUNDLERS.map((name) => commandOf(name).split(' ')[0]?.trim())).toEqual(BUNDLERS);
  const marked = BLOCKS.filter(({ mark }) => mark !== undefined);
  expect(marked.map(({ mark }) => mark)).toEqual(['not run: it needs zip']);
});

test.each(Object.keys(SOURCES))('%s runs without a bundler', async (source) => {
  const printed = await run('node', [source], project);
  expect(printed.trimEnd().split('\n')).toEqual(PRINTED);
});

const MATRIX = BUNDLERS.flatMap((bundler) =>
  ['esm', 'cjs'].flatMap((format) => Object.keys(SOURCES).map((source) => [bundler, source, format] as const)),
);

test.each(MATRIX)('%s bundles %s as %s', async (bundler, source, format) => {
  const config = `${bundler}.config.mjs`;
  if (BLOCKS.some(({ file }) => file === config))
    writeFileSync(join(project, config), adapted(documentedFile(config), source, format));
  await run('sh', ['-euc', adapted(commandOf(bundler), source, format)], project);
  const folder = deploy(`${bundler} ${source} ${format}`, 'out');
  const printed = await run('node', [`bundle.${format === 'esm' ? 'mjs' : 'cjs'}`], folder);
  expect(printed.trimEnd().split('\n')).toEqual(PRINTED);
});

test('the documented program prints a name', async () => {
  writeFileSync(join(project, 'documented.mjs'), documentedFile('main.mjs'));
  expect(await run('node', ['documented.mjs'], project)).toBe('Ada Lovelace\n');
});

test('the function for AWS Lambda answers from its archive', async () => {
  writeFileSync(join(project, 'handler.mjs'), documentedFile('handler.mjs'));
  await run('sh', ['-euc', commandOf('esbuild handler.mjs')], project);
  const folder = deploy('lambda', 'out');
  const call = `const { handler } = await import('./handler.mjs');
console.log((await handler({ resume: 'Ada Lovelace' })).name);`;
  expect(await run('node', ['--input-type=module', '--eval', call], folder)).toBe('Ada Lovelace\n');
});

test.each(Object.keys(SOURCES))('the files that Vercel finds for %s suffice', async (source) => {
  const listed = (await run('nft', ['print', source], project)).split('\n').map((path) => path.trim());
  const fileList = listed.filter((path) => existsSync(join(project, path)) && path !== '');
  const files = fileList.filter((path) => path.includes('svc-functions/dist/'));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((path) => !/svc-functions\/dist\/(?:lib|packages)\//u.test(path))).toEqual([]);
  mkdirSync(join(project, 'out'));
  for (const path of fileList) cpSync(join(project, path), join(project, 'out', path));
  const folder = deploy(`vercel ${source}`, 'out');
  expect((await run('node', [source], folder)).trimEnd().split('\n')).toEqual(PRINTED);
});

test.each([
  ['in its bundle', ''],
  ['as a package', `  serverExternalPackages: ['svc-functions'],\n`],
])('a route of Next.js calls functions, with the library %s', async (name, setting) => {
  mkdirSync(join(project, 'app/api/resume'), { recursive: true });
  const route = 'app/api/resume/route.js';
  writeFileSync(join(project, route), documentedFile(route));
  const config = documentedFile('next.config.mjs').replace("  output: 'standalone',\n", (line) => line + setting);
  writeFileSync(join(project, 'next.config.mjs'), config);
  await run('sh', ['-euc', commandOf('next')], project);
  const folder = deploy(`next ${name}`, '.next/standalone');
  const port = await freePort();
  const settings = { ...env, PORT: String(port), HOSTNAME: '127.0.0.1' };
  const server = spawn('node', ['server.js'], { cwd: folder, env: settings, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collected(server);
  try {
    await expect.poll(() => output.all).toContain('Ready');
    const body = JSON.stringify({ resume: 'Ada Lovelace' });
    const answer = await fetch(`http://127.0.0.1:${port}/api/resume`, { method: 'POST', body });
    expect(answer.status, output.all).toBe(200);
    expect(await answer.json()).toMatchObject({ name: 'Ada Lovelace' });
  } finally {
    server.kill();
    await once(server, 'close');
  }
});
