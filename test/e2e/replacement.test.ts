import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { childrenOf, startLoad, waitUntil, type Load } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer, type ServerOptions } from '../support/running-server.ts';

const FILES = {
  'main.svc': `
client<llm> Quick {
  provider offline
  options { latency_ms 50 }
}
function Hi(name: string) -> string {
  client Quick
  prompt #"Say hi to {{ name }}"#
}
`,
};

/** A client whose key comes from the environment; without the key, it fails before it calls a provider. */
const KEYED = `
client<llm> Keyed {
  provider openai-generic
  options {
    base_url "http://127.0.0.1:9"
    model m
    api_key env.LATE_KEY
  }
}
function Ask(name: string) -> string {
  client Keyed
  prompt #"Ask {{ name }}"#
}
`;

let server: RunningServer | undefined;
afterEach(async () => {
  await server?.stop('SIGKILL');
  server = undefined;
});

async function start(options: ServerOptions): Promise<RunningServer> {
  server = await startServer(options);
  return server;
}

/** A replacement does not depend on its reason, so each transport has one of them. */
const REASONS = [
  [TRANSPORTS[0] ?? 'node', '--max-worker-age', '10s', 'age'],
  ['node', '--max-worker-memory', '48MiB', 'memory'],
] as const;

// Each worker serves for ten seconds before its replacement, so these tests run concurrently.
test.concurrent.for(REASONS)(
  'on %s, workers beyond %s %s are replaced under load without a failed call',
  async ([transport, flag, value, reason], { onTestFinished }) => {
    const running = await startServer({ files: FILES, flags: ['--transport', transport, flag, value] });
    onTestFinished(() => void running.stop('SIGKILL'));
    const first = new Set(childrenOf(pidOf(running)).slice(0, 2));
    const load = startLoad(`${running.url}/call/Hi`, { name: 'Ada' }, 2);
    await waitUntil('both workers to be replaced', () => childrenOf(pidOf(running)).every((pid) => !first.has(pid)));
    await waitUntil('the log of it', () => running.output().split('a worker is replaced').length > 2);
    expect(running.output()).toContain(`"reason":"${reason}"`);
    await expectNoFailure(load);
  },
);

test('SIGHUP while the server starts does not end it; it reloads once it serves', async () => {
  const started = await start({
    files: FILES,
    flags: ['--workers', '1'],
    onSpawn: (child) => void signalEarly(child, 'SIGHUP'),
  });
  await waitUntil('the reload', () => started.output().includes('the definitions did not change'));
  expect((await call(started, 'Hi')).status).toBe(200);
});

test('SIGTERM while the server starts ends it with exit code 0', async () => {
  const starting = startServer({
    files: FILES,
    flags: ['--workers', '1'],
    onSpawn: (child) => void signalEarly(child, 'SIGTERM'),
  });
  await expect(starting).rejects.toThrow('ended with 0');
});

test('a reload that is requested during another one is not lost, and unused programs are removed', async () => {
  const folder = temporaryFolder(FILES);
  const temporary = temporaryFolder({});
  const started = await start({ from: folder, flags: ['--workers', '1'], env: { TMPDIR: temporary } });
  for (const name of ['One', 'Two', 'Three']) {
    writeFileSync(
      join(folder, `${name}.svc`),
      FILES['main.svc'].replaceAll('Quick', `Quick${name}`).replace('Hi', name),
    );
    started.child.kill('SIGHUP');
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  await waitUntil('the last definitions', async () => (await call(started, 'Three')).status === 200);
  const directory = readdirSync(temporary).find((name) => name.startsWith('svc-')) ?? '';
  const programs = () => readdirSync(join(temporary, directory)).filter((name) => !name.startsWith('step-'));
  await waitUntil('the others to be removed', () => programs().length <= 2);
  // The texts of the definitions are beside the program.
  expect(programs().map((name) => name.endsWith('.sources'))).toEqual([false, true]);
});

test('a reload reads the variables of .env, and keeps their values out of the log', async () => {
  const folder = temporaryFolder({ ...FILES, 'keyed.svc': KEYED, '.env': 'OTHER=1\n' });
  const dotenv = ['--dotenv', '--dotenv-path', join(folder, '.env')];
  const started = await start({ from: folder, flags: ['--workers', '1', ...dotenv, '--log-level', 'debug'] });
  expect(await failureOf(call(started, 'Ask'))).toBe('missing_credential');
  writeFileSync(join(folder, '.env'), 'OTHER=1\nLATE_KEY=canary-7f3a9c\n');
  started.child.kill('SIGHUP');
  await waitUntil('the reload', () => started.output().includes('all workers serve the new definitions'));
  // The old worker still answers once on the open connection.
  await waitUntil('the key', async () => (await failureOf(call(started, 'Ask'))) === 'client_error');
  await call(started, 'Ask', 'canary-7f3a9c');
  await waitUntil('the log of the call', () => started.output().includes('[redacted]'));
  expect(started.output()).not.toContain('canary-7f3a9c');
});

async function expectNoFailure(load: Load): Promise<void> {
  const counts = await load.stop();
  expect(counts.served).toBeGreaterThan(100);
  expect(counts.failed, counts.errors.join()).toBe(0);
  expect(counts.refused).toBe(0);
}

function call(to: RunningServer, name: string, argument = 'Ada'): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${to.url}/call/${name}`, { method: 'POST', headers, body: JSON.stringify({ name: argument }) });
}

async function failureOf(answer: Promise<Response>): Promise<unknown> {
  const body: unknown = await (await answer).json();
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
}

/** Sends a signal as soon as svc has its handlers, long before it serves. Node itself has none for SIGHUP (Linux). */
async function signalEarly(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  await waitUntil('the handlers', () => {
    const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)/mu.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
    return (BigInt(`0x${mask}`) & (1n << BigInt(constants.signals.SIGHUP - 1))) !== 0n;
  });
  child.kill(signal);
}

function pidOf({ child }: RunningServer): number {
  if (child.pid === undefined) throw new Error('the server has no process id');
  return child.pid;
}
