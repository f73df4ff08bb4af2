import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
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
const BINARIES = readdirSync(join(ROOT, 'dist/node_modules')).toSorted();
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

/** The packages of a release. */
let tarballs: readonly string[] = [];
let registry: Server;

beforeAll(async () => {
  // A release tests the files that it publishes.
  const folder = process.env['SVC_TARBALLS'] ?? TARBALL_FOLDER;
  if (folder === TARBALL_FOLDER) {
    const packages = ['./dist/package', ...BINARIES.map((name) => `./dist/node_modules/${name}`)];
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, ...packages], { cwd: ROOT });
  }
  tarballs = readdirSync(folder).flatMap((name) => (name.endsWith('.tgz') ? [join(folder, name)] : []));
  registry = await startRegistry(tarballs);
});
afterAll(() => {
  registry.close();
  rmSync(TARBALL_FOLDER, { recursive: true });
});

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(tarball: string): Manifest {
  const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
  return JSON.parse(text) as Manifest;
}

/** A registry that has these packages and no others. */
async function startRegistry(files: readonly string[]): Promise<Server> {
  const packages = new Map(
    files.map((file) => {
      const manifest = manifestOf(file);
      const bytes = readFileSync(file);
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      return [manifest.name, { manifest, bytes, integrity }] as const;
    }),
  );
  const server = createServer(({ url = '', headers }, response) => {
    const [name = '', isTarball] = url.slice(1).split('/-/');
    const found = packages.get(name);
    if (found === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    const { manifest, bytes, integrity } = found;
    if (isTarball !== undefined) {
      response.end(bytes);
      return;
    }
    const dist = { tarball: `http://${headers.host ?? ''}/${name}/-/${name}.tgz`, integrity };
    const versions = { [manifest.version]: { ...manifest, dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: manifest.version }, versions }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

test('the page names the transport of four versions of Node', () => {
  expect([...TRANSPORTS]).toEqual([
    ['20', 'uws'],
    ['22', 'uws'],
    ['24', 'node'],
    ['26', 'node'],
  ]);
});

test('the package is valid, and its types resolve in every setting of TypeScript', () => {
  const options = { cwd: TARBALL_FOLDER, encoding: 'utf8' } as const;
  const tarball = tarballs.find((path) => manifestOf(path).name === 'svc-functions') ?? '';
  const types = execFileSync(join(FOLDER, 'node_modules/.bin/attw'), [tarball, '--format', 'json'], options);
  const { analysis, problems } = JSON.parse(types) as { readonly analysis: object; readonly problems?: object };
  expect(problems ?? {}).toEqual({});
  expect(analysis).toMatchObject({ packageName: 'svc-functions', types: { kind: 'included' }, problems: [] });
  expect(execFileSync(join(ROOT, 'node_modules/.bin/publint'), [tarball, '--strict'], options)).toContain('All good!');
});

function packagesIn(folder: string): readonly string[] {
  return readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
}

function megabytesOf(folder: string): number {
  const modules = join(folder, 'node_modules');
  const paths = readdirSync(modules, { recursive: true, encoding: 'utf8' }).map((path) =>
    statSync(join(modules, path)),
  );
  return paths.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0) / 1e6;
}

describe.each(nodes)('on Node %s', (major = '', node = '') => {
  const project = mkdtempSync(join(tmpdir(), `svc-on-${major}-`));
  const installed = join(project, 'node_modules/svc-functions');
  const main = join(installed, 'dist/bin/svc.js');
  let server: RunningServer | undefined;

  beforeAll(async () => {
    await install(project);
    cpSync(join(installed, 'svc_src'), join(project, 'svc_src'), { recursive: true });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(project, { recursive: true });
  });

  function run(...args: readonly string[]): string {
    return execFileSync(node, args, { cwd: project, encoding: 'utf8' });
  }

  /** Installs svc as users do, in this version of Node. */
  async function install(folder: string, ...flags: readonly string[]): Promise<void> {
    writeFileSync(join(folder, 'package.json'), '{}');
    const { port } = registry.address() as AddressInfo;
    const own = [`--registry=http://127.0.0.1:${port}`, `--cache=${join(folder, '.cache')}`, '--engine-strict'];
    const args = ['install', '--silent', '--no-audit', ...own, ...flags, 'svc-functions'];
    const env = { ...process.env, PATH: `${dirname(node)}:${process.env['PATH'] ?? ''}` };
    // Not synchronously: the registry is in this process.
    const npm = spawn('npm', args, { cwd: folder, env, stdio: 'inherit' });
    expect(await once(npm, 'close')).toEqual([0, null]);
  }

  test('the installation is one package, and the one binary for this version of Node', () => {
    expect(run('--version')).toMatch(new RegExp(`^v${major}\\.`, 'u'));
    const binary = `svc-functions-uws-${process.platform}-${process.arch}-${run('-p', 'process.versions.modules').trim()}`;
    const expected = BINARIES.includes(binary) ? ['svc-functions', binary] : ['svc-functions'];
    expect(packagesIn(project)).toEqual(expected);
    expect(expected).toHaveLength(TRANSPORTS.get(major) === 'uws' ? 2 : 1);
    expect(megabytesOf(project)).toBeLessThan(expected.length === 2 ? 24 : 17);
  });

  test('without optional packages, the installation has no binary, and the server reports how to get one', async () => {
    const small = mkdtempSync(join(tmpdir(), `svc-small-${major}-`));
    await install(small, '--omit=optional');
    expect(packagesIn(small)).toEqual(['svc-functions']);
    expect(megabytesOf(small)).toBeLessThan(17);
    cpSync(join(installed, 'svc_src'), join(small, 'svc_src'), { recursive: true });
    const started = await startServer({
      cwd: small,
      node,
      main: join(small, 'node_modules/svc-functions/dist/bin/svc.js'),
    });
    await expect.poll(() => /"transport":"(\w+)"/u.exec(started.output())?.[1]).toBe('node');
    expect(started.output().includes('is not installed; install svc with this version of Node')).toBe(
      TRANSPORTS.get(major) === 'uws',
    );
    expect(await started.stop()).toBe(0);
    rmSync(small, { recursive: true });
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
    expect(run(main, 'init', 'first')).toContain('wrote first/svc_src/contact.svc\n');
    expect(run(main, 'test', 'first')).toContain('1 test: 1 passed, 0 failed');
  });
});
