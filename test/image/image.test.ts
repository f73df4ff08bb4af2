import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';

// The image of the Dockerfile without an engine: its steps run on the smallest Debian that debootstrap makes, and its program starts with
// chroot, as the user of the image, with a file system that is read-only except for /tmp. Needs root, debootstrap and the Debian archive.
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The base image adds Node and its user to Debian; this is the package of npm with the same binary. */
const NODE = join(ROOT, 'test/package/node_modules/node-22/bin/node');
const image = mkdtempSync(join(tmpdir(), 'svc-image-'));

interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** The instructions of each stage of the Dockerfile. */
const [build = [], last = []] = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gmu, '')
  .replaceAll(/\\\n\s*/gu, '')
  .split(/^FROM .*$/mu)
  .slice(1)
  .map((stage): readonly Instruction[] =>
    [...stage.matchAll(/^([A-Z]+) (.*)$/gmu)].map(([, name = '', value = '']) => ({ name, value })),
  );

function valueOf(name: string): string {
  const values = last.flatMap((instruction) => (instruction.name === name ? [instruction.value] : []));
  const [value] = values;
  if (value === undefined || (values.length > 1 && name !== 'WORKDIR'))
    throw new Error(`${values.length} times ${name}`);
  return value;
}

function listOf(text: string): readonly string[] {
  return JSON.parse(text) as readonly string[];
}

function inImage(directory: string, command: string): void {
  execFileSync('chroot', [image, 'sh', '-euc', `cd ${directory} && ${command}`], { stdio: 'inherit' });
}

/** Does what the instructions do, with the files that the build of this checkout made. */
function apply(instructions: readonly Instruction[]): void {
  let directory = '/';
  for (const { name, value } of instructions) {
    if (name === 'WORKDIR') {
      directory = value;
      mkdirSync(join(image, directory), { recursive: true });
    } else if (name === 'COPY') {
      const paths = value.split(' ').filter((path) => !path.startsWith('--'));
      const target = join(image, directory, paths.at(-1) ?? '');
      for (const path of paths.slice(0, -1)) {
        const source = path.startsWith('/app/') ? join(image, '/build', path) : join(ROOT, path);
        cpSync(source, target.endsWith('/') ? join(target, path.split('/').at(-1) ?? '') : target, { recursive: true });
      }
    } else if (name === 'RUN') inImage(directory, value);
  }
}

beforeAll(() => {
  execFileSync('debootstrap', ['--variant=minbase', 'bookworm', image], { stdio: 'ignore' });
  copyFileSync(NODE, join(image, 'usr/local/bin/node'));
  chmodSync(image, 0o755);
  // The steps of the first stage after the build, which `npm run build` replaces.
  cpSync(join(ROOT, 'dist'), join(image, 'build/app/dist'), { recursive: true });
  const after = build.findIndex(({ value }) => value.startsWith('npm run build')) + 1;
  for (const { value } of build.slice(after)) inImage('/build/app', value);
  apply(last);
  rmSync(join(image, 'build'), { recursive: true });
});
afterAll(() => rmSync(image, { recursive: true }));

/** Runs a program as a container with `--read-only --tmpfs /tmp` would. It has the process id of the child. */
const CONTAIN = `
mount --bind "$1" "$1"
mount --bind /dev "$1/dev"
mount --bind /proc "$1/proc"
mount -o remount,ro,bind "$1"
mount -t tmpfs tmpfs "$1/tmp"
root=$1 user=$2 directory=$3
shift 3
exec chroot --userspec="$user" "$root" env --chdir="$directory" "$@"
`;

function contain(
  program: readonly string[],
  port: number,
): { output: () => string; ended: Promise<unknown>; stop: () => void } {
  const directory = last.findLast(({ name }) => name === 'WORKDIR')?.value ?? '';
  const args = ['--mount', 'sh', '-euc', CONTAIN, 'sh', image, valueOf('USER'), directory, ...program];
  const env = { PATH: process.env['PATH'], SVC_PORT: String(port), NODE_ENV: 'production' };
  const child = spawn('unshare', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    output: () => output,
    ended: once(child, 'close'),
    stop: () => child.kill(valueOf('STOPSIGNAL') as 'SIGTERM'),
  };
}

const healthcheck = listOf(/ CMD (.*)$/u.exec(valueOf('HEALTHCHECK'))?.[1] ?? '[]');
const server = [...listOf(valueOf('ENTRYPOINT')), ...listOf(valueOf('CMD'))];

test('the image has one binary, no packages of the build, and a user other than root', () => {
  expect(readdirSync(join(image, 'app/dist/node_modules'))).toEqual([`svc-functions-uws-linux-${process.arch}-127`]);
  expect(readdirSync(join(image, 'app')).toSorted()).toEqual([
    'LICENSE',
    'dist',
    'package.json',
    'sbom.cdx.json',
    'templates',
  ]);
  expect(valueOf('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/u);
});

test('the file system of the image is read-only, except for /tmp', async () => {
  const probe = contain(['sh', '-c', 'id -u; touch /tmp/a && echo tmp; touch /srv/a /app/a /a'], 0);
  await probe.ended;
  expect(probe.output()).toMatch(/^1000\ntmp\n/u);
  expect(probe.output().match(/Read-only file system/gu)).toHaveLength(3);
});

test('the program of the image serves on the fast transport, is healthy, and drains', async () => {
  const port = await freePort();
  const unhealthy = contain(healthcheck, port);
  expect(await unhealthy.ended).not.toEqual([0, null]);
  const running = contain(server, port);
  try {
    await expect.poll(running.output).toContain('"transport":"uws"');
    const answer = await fetch(`http://127.0.0.1:${port}/call/ExtractResume`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resume: 'Ada Lovelace' }),
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ name: 'Ada Lovelace' });
    const healthy = contain(healthcheck, port);
    expect([await healthy.ended, healthy.output()]).toEqual([[0, null], expect.any(String)]);
  } finally {
    running.stop();
    expect(await running.ended).toEqual([0, null]);
  }
});
