import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { childrenOf, startLoad, waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';

let server: RunningServer | undefined;
afterEach(async () => {
  await server?.stop('SIGKILL');
  server = undefined;
});

/** Definitions with a function `Say` that answers with the text. */
function saying(text: string, extra = ''): string {
  return `client<llm> Fixed {
  provider offline
  options { reply "${text}", latency_ms 20 }
}
function Say(about: string) -> string {
  client Fixed
  prompt #"{{ about }}"#
}
${extra}`;
}

async function startDev(from: string, onSpawn?: (child: ChildProcess) => void): Promise<RunningServer> {
  server = await startServer({ command: 'dev', from, ...(onSpawn === undefined ? {} : { onSpawn }) });
  return server;
}

/** The answer of `Say`, or the status of an error. */
async function answer({ url }: RunningServer): Promise<unknown> {
  const response = await fetch(`${url}/call/Say`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: '{"about": "tests"}',
  });
  return response.ok ? response.json() : response.status;
}

/** A folder with the program that opens addresses in a browser, and the addresses that it opened. */
function browser(): { readonly programs: string; readonly addresses: () => string } {
  const programs = temporaryFolder({ 'xdg-open': '#!/bin/sh\nprintf %s "$1" >> "$0.addresses"\n' });
  chmodSync(join(programs, 'xdg-open'), 0o755);
  const path = join(programs, 'xdg-open.addresses');
  return { programs, addresses: () => (existsSync(path) ? readFileSync(path, 'utf8') : '') };
}

/** The name of the only function in a file of types; an empty string while there is no file. */
function functionIn(path: string): string {
  return existsSync(path) ? (/readonly (\w+): \{\n/u.exec(readFileSync(path, 'utf8'))?.[1] ?? '') : '';
}

/** A project whose server most tests share: each writes definitions of its own. */
const project = temporaryFolder({ 'svc_src/main.svc': saying('first'), '.env': 'REPLY=one\n' });
const DEFINITIONS = join(project, 'svc_src/main.svc');
const TYPES = join(project, 'svc_src/svc.d.ts');
const opened = browser();
let shared: RunningServer;

beforeAll(async () => {
  const flags = ['--dotenv', '--open', '--types', TYPES];
  shared = await startServer({ command: 'dev', cwd: project, flags, env: { PATH: opened.programs } });
});

afterAll(() => shared.stop('SIGKILL'));

test('--open opens the playground in a browser', async () => {
  await expect.poll(opened.addresses).toBe(`http://localhost:${shared.port}/playground`);
});

test('--types writes the types at the start and after a reload that changes them, and does not start a reload', async () => {
  await expect.poll(shared.output).toContain(`  types       ${TYPES}\n`);
  expect(functionIn(TYPES)).toBe('Say');
  const first = statSync(TYPES).ino;
  writeFileSync(DEFINITIONS, saying('second'));
  await expect.poll(shared.output).toMatch(/reloaded 1 function/u);
  expect(statSync(TYPES).ino).toBe(first);
  writeFileSync(DEFINITIONS, saying('second', 'class {'));
  await expect.poll(shared.output).toMatch(/not reloaded/u);
  expect(functionIn(TYPES)).toBe('Say');
  writeFileSync(DEFINITIONS, saying('third').replace('Say', 'Tell'));
  await expect.poll(() => functionIn(TYPES)).toBe('Tell');
  await expect.poll(shared.output).toContain(`wrote ${TYPES}\n`);
  expect(readdirSync(dirname(TYPES)).toSorted()).toEqual(['main.svc', 'svc.d.ts']);
  const saves = shared.output().match(/changed\n/gu);
  expect({ saves: saves?.length, written: shared.output().split('wrote ').length - 1 }).toEqual({
    saves: 3,
    written: 1,
  });
});

test('svc dev reads a changed .env', async () => {
  writeFileSync(DEFINITIONS, saying('first').replace('"first"', 'env.REPLY'));
  await expect.poll(() => answer(shared)).toBe('one');
  writeFileSync(join(project, '.env'), 'REPLY=two\n');
  await expect.poll(() => answer(shared)).toBe('two');
});

test('svc dev reports a typo with a code frame, keeps serving the last good definitions, and serves the fixed ones', async () => {
  writeFileSync(DEFINITIONS, saying('first'));
  await expect.poll(() => answer(shared)).toBe('first');
  const before = shared.output().length;
  const load = startLoad(`${shared.url}/call/Say`, { about: 'load' }, 2);
  await waitUntil('the first calls', () => load.counts.served > 10);
  writeFileSync(DEFINITIONS, saying('second', 'class Resume {\n  name strng\n}\n'));
  const output = (): string =>
    shared
      .output()
      .slice(before)
      .replaceAll(/^\d\d:\d\d:\d\d 200 .*\n/gmu, '');
  await expect.poll(output).toMatch(/not reloaded: 1 file: 1 error.* svc keeps serving the last good definitions\./u);
  await expect
    .poll(output)
    .toMatch(/main\.svc:10:8\n +\|\n +9 \| class Resume \{\n +10 \| {3}name strng\n +\| {8}\^{5}/u);
  expect(await answer(shared)).toBe('first');
  writeFileSync(DEFINITIONS, saying('second', 'class Resume {\n  name string\n}\n'));
  await expect.poll(() => answer(shared)).toBe('second');
  await waitUntil('the end of the reload', () => /not reloaded: [^]*reloaded 1 function/u.test(output()));
  const { refused, failed, errors } = await load.stop();
  expect({ refused, failed, errors }).toEqual({ refused: 0, failed: 0, errors: [] });
});

test('the playground learns of errors in the definitions, also from a worker that starts later', async () => {
  writeFileSync(DEFINITIONS, saying('playing'));
  await expect.poll(() => answer(shared)).toBe('playing');
  const problems = async (): Promise<unknown> => {
    const response = await fetch(`${shared.url}/playground/program.json`, { headers: { connection: 'close' } });
    const { problems: found } = (await response.json()) as {
      readonly problems: ReadonlyArray<{ readonly place: string }>;
    };
    return found.map(({ place }) => place.replace(/^.*main/u, 'main'));
  };
  await expect.poll(problems).toEqual([]);
  writeFileSync(DEFINITIONS, saying('second', 'class Resume {\n  name strng\n}\n'));
  await expect.poll(problems).toEqual(['main.svc:10:8']);
  const workers = childrenOf(shared.child.pid ?? 0);
  for (const pid of workers) process.kill(pid, 'SIGKILL');
  await expect.poll(() => childrenOf(shared.child.pid ?? 0).some((pid) => !workers.includes(pid))).toBe(true);
  await expect.poll(() => problems().catch(() => 'no answer')).toEqual(['main.svc:10:8']);
  writeFileSync(DEFINITIONS, saying('second'));
  await expect.poll(problems).toEqual([]);
});

test('svc dev serves the last of rapid saves in every manner, and follows files that move and folders that disappear', async () => {
  const from = temporaryFolder({ 'a/main.svc': saying('0') });
  const running = await startDev(from);
  const file = join(from, 'a/main.svc');
  for (let save = 1; save <= 30; save += 1) {
    if (save % 3 === 0) writeFileSync(file, saying(String(save)).slice(0, 100));
    if (save % 3 === 1) rmSync(file);
    writeFileSync(save % 2 === 0 ? file : `${file}.tmp`, saying(String(save)));
    if (save % 2 === 1) renameSync(`${file}.tmp`, file);
    await new Promise((resolve) => setTimeout(resolve, save % 7));
  }
  await expect.poll(() => answer(running)).toBe('30');
  writeFileSync(file, saying('second'));
  renameSync(file, join(from, 'a/other.svc'));
  await expect.poll(() => answer(running)).toBe('second');
  const reports = (): number => running.output().split('no definition files').length;
  const before = reports();
  rmSync(join(from, 'a'), { recursive: true });
  await waitUntil('the report', () => reports() > before);
  expect(await answer(running)).toBe('second');
  mkdirSync(join(from, 'b'));
  writeFileSync(join(from, 'b/main.svc'), saying('third'));
  await expect.poll(() => answer(running)).toBe('third');
});

test('svc dev waits for definitions without errors before it listens', async () => {
  const from = temporaryFolder({ 'main.svc': saying('first').replace('Say', 'Say Say') });
  let output = '';
  const running = await startDev(from, (child) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('svc starts once you have fixed')) writeFileSync(join(from, 'main.svc'), saying('fixed'));
    });
  });
  expect(await answer(running)).toBe('fixed');
});

test('svc dev serves only this machine, with one worker, opens no browser, and stops at once', async () => {
  const { programs, addresses } = browser();
  const env = { PATH: programs };
  const running = await startServer({ command: 'dev', files: { 'main.svc': saying('first') }, env });
  server = running;
  await expect.poll(running.output).toContain(`http://localhost:${running.port}/docs`);
  expect(running.output()).toContain(`listening on http://localhost:${running.port}`);
  await expect(fetch(`http://127.0.0.2:${running.port}/livez`)).rejects.toThrow('fetch failed');
  // One that serves, and the spare.
  await expect.poll(() => childrenOf(running.child.pid ?? 0).length).toBe(2);
  expect(await answer(running)).toBe('first');
  await expect.poll(running.output).toMatch(/\d\d:\d\d:\d\d 200 ok \/call\/Say [\d.]+ ms · Fixed\n/u);
  expect(await running.stop('SIGINT')).toBe(0);
  expect(addresses()).toBe('');
});

test('without a program that opens a browser, --open is one line with the address; so is a file that --types cannot write, until it can', async () => {
  const from = temporaryFolder({ 'main.svc': saying('first') });
  const folder = join(from, 'types');
  const file = join(folder, 'svc.d.ts');
  const env = { PATH: temporaryFolder({}) };
  const running = await startServer({ command: 'dev', from, flags: ['--open', '--types', file], env });
  server = running;
  const address = `http://localhost:${running.port}/playground`;
  await expect
    .poll(running.output)
    .toContain(`warning --open: "xdg-open" cannot be started; open ${address} yourself\n`);
  const failure = `error --types: "${file}" cannot be written: its directory does not exist\n`;
  await expect.poll(running.output).toContain(failure);
  expect(await answer(running)).toBe('first');
  mkdirSync(folder);
  writeFileSync(join(from, 'main.svc'), saying('second'));
  await expect.poll(() => answer(running)).toBe('second');
  await expect.poll(() => functionIn(file)).toBe('Say');
  expect(running.output().split(failure)).toHaveLength(2);
});
