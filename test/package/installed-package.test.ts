import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readStream } from '../support/sse.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';

// The packed package, installed in an empty folder by each version of Node that svc supports. The binaries of Node are npm
// packages for Linux on x64; elsewhere, the tests run with the Node that runs them.
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const TARBALL_FOLDER = mkdtempSync(join(tmpdir(), 'svc-tarball-'));

/** By major version of Node: the transport that `--transport auto` selects on Linux, according to docs/operating.md. */
const TRANSPORTS = new Map(
  [...readFileSync(join(ROOT, 'docs/operating.md'), 'utf8').matchAll(/^\| ([\d, ]+) \|[^|]*\(`(\w+)`\)/gmu)].flatMap(
    ([, versions = '', transport]) => versions.split(', ').map((major) => [major, transport] as const),
  ),
);
const majors = [...TRANSPORTS.keys()].filter((major) => existsSync(binaryOf(major)));
const [current = ''] = process.versions.node.split('.');
const nodes = majors.length > 0 ? majors.map((major) => [major, binaryOf(major)]) : [[current, process.execPath]];

function binaryOf(major: string): string {
  return join(FOLDER, `node_modules/node-${major}/bin/node`);
}

let tarball = '';

beforeAll(() => {
  // A release tests the file that it publishes.
  tarball = process.env['SVC_TARBALL'] ?? '';
  if (tarball !== '') return;
  const args = ['pack', '--silent', '--pack-destination', TARBALL_FOLDER, './dist/package'];
  tarball = join(TARBALL_FOLDER, execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' }).trim());
});
afterAll(() => rmSync(TARBALL_FOLDER, { recursive: true }));

test('the page names the transport of three versions of Node', () => {
  expect([...TRANSPORTS]).toEqual([
    ['20', 'uws'],
    ['22', 'uws'],
    ['24', 'node'],
  ]);
});

test('the package is valid, and its types resolve in every setting of TypeScript', () => {
  const options = { cwd: TARBALL_FOLDER, encoding: 'utf8' } as const;
  const types = execFileSync(join(FOLDER, 'node_modules/.bin/attw'), [tarball, '--format', 'json'], options);
  const { analysis, problems } = JSON.parse(types) as { readonly analysis: object; readonly problems?: object };
  expect(problems ?? {}).toEqual({});
  expect(analysis).toMatchObject({ packageName: 'svc-functions', types: { kind: 'included' }, problems: [] });
  expect(execFileSync(join(ROOT, 'node_modules/.bin/publint'), [tarball, '--strict'], options)).toContain('All good!');
});

describe.each(nodes)('on Node %s', (major = '', node = '') => {
  const project = mkdtempSync(join(tmpdir(), `svc-on-${major}-`));
  const installed = join(project, 'node_modules/svc-functions');
  const main = join(installed, 'dist/bin/svc.js');
  let server: RunningServer | undefined;

  beforeAll(() => {
    writeFileSync(join(project, 'package.json'), '{}');
    const path = `${dirname(node)}:${process.env['PATH'] ?? ''}`;
    const flags = ['install', '--offline', '--ignore-scripts', '--silent', '--engine-strict', tarball];
    execFileSync('npm', flags, { cwd: project, env: { ...process.env, PATH: path }, stdio: 'inherit' });
    cpSync(join(installed, 'svc_src'), join(project, 'svc_src'), { recursive: true });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(project, { recursive: true });
  });

  function run(...args: readonly string[]): string {
    return execFileSync(node, args, { cwd: project, encoding: 'utf8' });
  }

  test('the installation is one package', () => {
    expect(run('--version')).toMatch(new RegExp(`^v${major}\\.`, 'u'));
    expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'svc-functions',
    ]);
  });

  test('the server answers calls and streams, on the documented transport', async () => {
    server = await startServer({ cwd: project, node, main });
    const body = { resume: 'Ada Lovelace' };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/call/ExtractResume`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    const value: unknown = await answer.json();
    expect(value).toMatchObject({ name: expect.any(String) });
    const { messages } = await readStream(`${server.url}/stream/ExtractResume`, body);
    expect(messages.at(-1)?.data).toEqual({ final_result: value });
    const page = await fetch(`${server.url}/docs`);
    expect(await page.text()).toContain('swagger-ui');
    const running = server;
    await expect.poll(() => /"transport":"(\w+)"/u.exec(running.output())?.[1]).toBe(TRANSPORTS.get(major));
    expect(await server.stop()).toBe(0);
  });

  test('a transport without a binary is refused with a reason', async () => {
    if (TRANSPORTS.get(major) === 'uws') return;
    const start = startServer({ cwd: project, node, main, flags: ['--transport', 'uws'] });
    await expect(start).rejects.toThrow(/The binary of uWebSockets\.js does not load in Node .*Use --transport auto/u);
  });

  test('programs of both kinds use the library', () => {
    const program = `const functions = loadFunctions({ from: './svc_src', env: process.env });
functions
  .call('ExtractResume', { resume: 'Ada Lovelace' })
  .then(({ name }) => console.log(typeof name, VERSION))
  .then(() => functions.close());
`;
    const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      readonly version: string;
    };
    writeFileSync(join(project, 'a.mjs'), `import { loadFunctions, VERSION } from 'svc-functions';\n${program}`);
    writeFileSync(join(project, 'a.cjs'), `const { loadFunctions, VERSION } = require('svc-functions');\n${program}`);
    expect(run('a.mjs')).toBe(`string ${version}\n`);
    expect(run('a.cjs')).toBe(`string ${version}\n`);
  });

  test('the command writes a first function, whose tests pass', () => {
    expect(run(main, 'init', 'first')).toContain('wrote first/contact.svc\n');
    expect(run(main, 'test', 'first')).toContain('1 test: 1 passed, 0 failed');
  });
});
