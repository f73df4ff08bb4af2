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
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
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
  options { reply "${text}", latency_ms 5 }
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

test('svc dev reports a typo with a code frame, keeps serving the last good definitions, and serves the fixed ones', async () => {
  const from = temporaryFolder({ 'main.svc': saying('first') });
  const running = await startDev(from);
  const load = startLoad(`${running.url}/call/Say`, { about: 'load' }, 2);
  await waitUntil('the first calls', () => load.counts.served > 20);
  writeFileSync(join(from, 'main.svc'), saying('second', 'class Resume {\n  name strng\n}\n'));
  const output = (): string => running.output().replaceAll(/^\d\d:\d\d:\d\d 200 .*\n/gmu, '');
  await expect.poll(output).toMatch(/not reloaded: 1 file: 1 error.* svc keeps serving the last good definitions\./u);
  await expect
    .poll(output)
    .toMatch(/main\.svc:10:8\n +\|\n +9 \| class Resume \{\n +10 \| {3}name strng\n +\| {8}\^{5}/u);
  expect(await answer(running)).toBe('first');
  writeFileSync(join(from, 'main.svc'), saying('second', 'class Resume {\n  name string\n}\n'));
  await expect.poll(() => answer(running)).toBe('second');
  await waitUntil('the end of the reload', () => /reloaded 1 function/u.test(running.output()));
  const { refused, failed, errors } = await load.stop();
  expect({ refused, failed, errors }).toEqual({ refused: 0, failed: 0, errors: [] });
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

/** A folder with the program that opens addresses in a browser, and the addresses that it opened. */
function browser(): { readonly programs: string; readonly addresses: () => string } {
  const programs = temporaryFolder({ 'xdg-open': '#!/bin/sh\nprintf %s "$1" >> "$0.addresses"\n' });
  chmodSync(join(programs, 'xdg-open'), 0o755);
  const path = join(programs, 'xdg-open.addresses');
  return { programs, addresses: () => (existsSync(path) ? readFileSync(path, 'utf8') : '') };
}

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

test('svc dev reads a changed .env', async () => {
  const folder = temporaryFolder({
    'svc_src/main.svc': saying('first').replace('"first"', 'env.REPLY'),
    '.env': 'REPLY=one\n',
  });
  const running = await startServer({ command: 'dev', cwd: folder, flags: ['--dotenv'] });
  server = running;
  expect(await answer(running)).toBe('one');
  writeFileSync(join(folder, '.env'), readFileSync(join(folder, '.env'), 'utf8').replace('one', 'two'));
  await expect.poll(() => answer(running)).toBe('two');
});

/** The types of `Say` in a file; an empty string while there is no file. */
function typesIn(path: string): string {
  return existsSync(path) ? (/readonly (\w+): \{\n/u.exec(readFileSync(path, 'utf8'))?.[1] ?? '') : '';
}

test('--types writes the types at the start and after a reload that changes them, and does not start a reload', async () => {
  const from = temporaryFolder({ 'main.svc': saying('first') });
  const file = join(from, 'svc.d.ts');
  const running = await startServer({ command: 'dev', from, flags: ['--types', file] });
  server = running;
  await expect.poll(running.output).toContain(`  types       ${file}\n`);
  expect(typesIn(file)).toBe('Say');
  const first = statSync(file).ino;
  writeFileSync(join(from, 'main.svc'), saying('second'));
  await expect.poll(running.output).toMatch(/reloaded 1 function/u);
  expect(statSync(file).ino).toBe(first);
  writeFileSync(join(from, 'main.svc'), saying('second', 'class {'));
  await expect.poll(running.output).toMatch(/not reloaded/u);
  expect(typesIn(file)).toBe('Say');
  writeFileSync(join(from, 'main.svc'), saying('third').replace('Say', 'Tell'));
  await expect.poll(() => typesIn(file)).toBe('Tell');
  await expect.poll(running.output).toContain(`wrote ${file}\n`);
  expect(readdirSync(from).toSorted()).toEqual(['main.svc', 'svc.d.ts']);
  const saves = running.output().match(/changed\n/gu);
  expect({ saves: saves?.length, written: running.output().split('wrote ').length - 1 }).toEqual({
    saves: 3,
    written: 1,
  });
});

test('a file that --types cannot write is one line, and svc dev keeps serving', async () => {
  const from = temporaryFolder({ 'main.svc': saying('first') });
  const folder = join(from, 'types');
  const file = join(folder, 'svc.d.ts');
  const running = await startServer({ command: 'dev', from, flags: ['--types', file] });
  server = running;
  const failure = `error --types: "${file}" cannot be written: its directory does not exist\n`;
  await expect.poll(running.output).toContain(failure);
  mkdirSync(folder);
  writeFileSync(join(from, 'main.svc'), saying('second'));
  await expect.poll(() => answer(running)).toBe('second');
  await expect.poll(() => typesIn(file)).toBe('Say');
  expect(running.output().split(failure)).toHaveLength(2);
});

test('--open opens the playground in a browser', async () => {
  const { programs, addresses } = browser();
  const env = { PATH: programs };
  server = await startServer({ command: 'dev', files: { 'main.svc': saying('first') }, flags: ['--open'], env });
  const { port } = server;
  await expect.poll(addresses).toBe(`http://localhost:${port}/playground`);
});

test('without a program that opens a browser, --open is one line with the address', async () => {
  const env = { PATH: temporaryFolder({}) };
  server = await startServer({ command: 'dev', files: { 'main.svc': saying('first') }, flags: ['--open'], env });
  const address = `http://localhost:${server.port}/playground`;
  await expect
    .poll(server.output)
    .toContain(`warning --open: "xdg-open" cannot be started; open ${address} yourself\n`);
  expect(await answer(server)).toBe('first');
});

test('the playground learns of errors in the definitions, also from a worker that starts later', async () => {
  const from = temporaryFolder({ 'main.svc': saying('first') });
  const running = await startDev(from);
  const problems = async (): Promise<unknown> => {
    const response = await fetch(`${running.url}/playground/program.json`, { headers: { connection: 'close' } });
    const { problems: found } = (await response.json()) as {
      readonly problems: ReadonlyArray<{ readonly place: string }>;
    };
    return found.map(({ place }) => place.replace(/^.*main/u, 'main'));
  };
  expect(await problems()).toEqual([]);
  writeFileSync(join(from, 'main.svc'), saying('second', 'class Resume {\n  name strng\n}\n'));
  await expect.poll(problems).toEqual(['main.svc:10:8']);
  const workers = childrenOf(running.child.pid ?? 0);
  for (const pid of workers) process.kill(pid, 'SIGKILL');
  await expect.poll(() => childrenOf(running.child.pid ?? 0).some((pid) => !workers.includes(pid))).toBe(true);
  await expect.poll(() => problems().catch(() => 'no answer')).toEqual(['main.svc:10:8']);
  writeFileSync(join(from, 'main.svc'), saying('second'));
  await expect.poll(problems).toEqual([]);
});
