import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { runSvc, temporaryFolder } from '../support/running-server.ts';
import { PERSON, SIMPLE, personReader } from '../support/person-reader.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/svc.js', import.meta.url));
const KEY = 'key-of-this-test-0123456789';

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

/** The output with all times as `0 ms`. */
function timeless(text: string): string {
  return text.replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/gu, '0 ms');
}

const hasNamespaces = spawnSync('unshare', ['-rn', 'true']).status === 0;

test('recorded replies replace the provider and the key; a changed prompt is not sent', async () => {
  const text = personReader(
    provider,
    'recorded',
    `${SIMPLE}test Secret {
  functions [Read]
  args { text env.FAKE_KEY }
}
`,
  );
  const cwd = temporaryFolder({ 'svc_src/main.svc': text, '.env': `FAKE_KEY=${KEY}\n` });
  provider.at('recorded', reply(`Your key is ${KEY}: ${PERSON}`));
  expect(await runSvc(['test', '--record', 'replies'], {}, cwd)).toMatchObject({ code: 0 });
  const files = readdirSync(join(cwd, 'replies'));
  expect(files).toHaveLength(2);
  for (const file of files) {
    const content = readFileSync(join(cwd, 'replies', file), 'utf8');
    expect(content).not.toContain(KEY);
    expect(JSON.parse(content)).toMatchObject({ function: 'Read', client: 'Fake', replies: [{ model: 'm' }] });
  }
  provider.clear();
  writeFileSync(join(cwd, '.env'), '');
  const replay = [MAIN, 'test', '--replay', 'replies', '--name', 'Simple'];
  const [program, args]: [string, string[]] = hasNamespaces
    ? ['unshare', ['-rn', process.execPath, ...replay]]
    : [process.execPath, replay];
  const env = { PATH: process.env['PATH'] };
  expect(spawnSync(program, args, { cwd, env, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  writeFileSync(join(cwd, 'svc_src/main.svc'), text.replace('Read: {{ text }}', 'Now read: {{ text }}'));
  const changed = await runSvc(['test', '--replay', 'replies', '--name', 'Simple'], { FAKE_KEY: KEY }, cwd);
  expect(changed.code).toBe(1);
  expect(changed.stdout).toContain(
    'Not recorded: the prompt of the function "Read" with the client "Fake" is not one of those in "replies", so it has changed.',
  );
  expect(changed.stdout).toContain('Now read: Ada, 36');
  expect(provider.requests).toEqual([]);
});

/** Starts `svc test` and collects its output. */
function startTests(cwd: string, args: readonly string[]) {
  const env = { PATH: process.env['PATH'] ?? '', FAKE_KEY: KEY };
  const child = spawn(process.execPath, [MAIN, 'test', ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return { child, output: () => output, closed: once(child, 'close') as Promise<[number | null]> };
}

test('an interrupt cancels the calls and reports the tests that ran', async () => {
  const tests = ['Quick', 'Hanging', 'Waiting'].map(
    (name) => `test ${name} {\n  functions [Read]\n  args { text "${name}" }\n}\n`,
  );
  const text = personReader(provider, 'hangs', tests.join(''));
  provider.at('hangs', (request, wire) => (request.body.includes('Quick') ? reply(PERSON)(request, wire) : undefined));
  provider.clear();
  const { child, output, closed } = startTests(temporaryFolder({ 'svc_src/main.svc': text }), ['--parallel', '1']);
  await expect.poll(() => provider.requests.filter(({ body }) => body.includes('Hanging')).length).toBe(1);
  child.kill('SIGINT');
  expect((await closed)[0]).toBe(130);
  expect(timeless(output())).toBe(`pass Read::Quick  0 ms
not run Read::Hanging
not run Read::Waiting

3 tests: 1 passed, 0 failed, 2 not run, interrupted after 0 ms
`);
});

test('--watch runs the tests again when a file changes, also after an error', async () => {
  const cwd = temporaryFolder({ 'svc_src/main.svc': personReader(provider, 'watched', SIMPLE) });
  const file = join(cwd, 'svc_src/main.svc');
  const { child, output, closed } = startTests(cwd, ['--watch']);
  const runs = (): number => output().split('press Ctrl+C to stop').length - 1;
  await expect.poll(runs).toBe(1);
  appendFileSync(file, 'class {\n');
  await expect.poll(runs).toBe(2);
  expect(output()).toContain('no test ran.');
  writeFileSync(file, personReader(provider, 'watched', SIMPLE.replace('36 }}', '37 }}')));
  await expect.poll(runs).toBe(3);
  expect(timeless(output())).toContain('1 test: 0 passed, 1 failed, in 0 ms');
  child.kill('SIGINT');
  expect((await closed)[0]).toBe(1);
});

test('a report that cannot be written ends with an error before any call', async () => {
  const cwd = temporaryFolder({
    'svc_src/main.svc': personReader(provider, 'unwritable', SIMPLE),
    '.env': `FAKE_KEY=${KEY}\n`,
  });
  expect(await runSvc(['test', '--out', 'missing/report.xml'], {}, cwd)).toMatchObject({
    code: 2,
    stderr: 'svc: --out: "missing/report.xml" cannot be written: its directory does not exist\n',
  });
  expect(provider.requests.filter(({ path }) => path.includes('unwritable'))).toEqual([]);
});

test.runIf(existsSync('/dev/full'))('a command whose output cannot be written exits with code 1', () => {
  const cwd = temporaryFolder({});
  const stdout = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [MAIN, 'keys', 'create', 'a'], {
    cwd,
    stdio: ['ignore', stdout, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(stdout);
  expect(status).toBe(1);
  expect(stderr).toContain('svc: the output cannot be written: the disk is full\n');
});
