import { afterEach, expect, test } from 'vitest';
import { childrenOf, startLoad, waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';

const FILES = {
  'main.svc': `
client<llm> Quick {
  provider offline
  options { latency_ms 5 }
}
client<llm> Slow {
  provider offline
  options {
    reply "one two three four five six seven eight nine ten"
    chunk_size 4
    chunk_delay_ms 100
  }
}
function Hi(name: string) -> string {
  client Quick
  prompt #"Say hi to {{ name }}"#
}
function Count(to: int) -> string {
  client Slow
  prompt #"Count to {{ to }}"#
}
`,
};

let server: RunningServer | undefined;
afterEach(async () => {
  await server?.stop('SIGKILL');
  server = undefined;
});

async function start(flags: readonly string[] = []): Promise<RunningServer> {
  server = await startServer({ files: FILES, flags });
  return server;
}

function pidOf(running: RunningServer): number {
  const pid = running.child.pid;
  if (pid === undefined) throw new Error('the server has no process id');
  return pid;
}

test('a worker killed under load is replaced; no connection is refused, only calls in flight fail', async () => {
  const running = await start();
  const load = startLoad(`${running.url}/call/Hi`, { name: 'Ada' }, 16);
  await waitUntil('the first calls', () => load.counts.served > 200);
  const before = childrenOf(pidOf(running));
  const victim = before[0] ?? 0;
  process.kill(victim, 'SIGKILL');
  await waitUntil('a replacement', () => {
    const now = childrenOf(pidOf(running));
    return now.length === before.length && !now.includes(victim);
  });
  const soFar = load.counts.served;
  await waitUntil('more calls served', () => load.counts.served > soFar + 200);
  const counts = await load.stop();
  expect(counts.refused, counts.errors.join()).toBe(0);
  expect(counts.failed, counts.errors.join()).toBeLessThanOrEqual(16);
});

test('SIGTERM under load: every call that was accepted is answered, streams get their last message, exit code 0', async () => {
  const running = await start();
  const stream = readStream(`${running.url}/stream/Count`, { to: 10 });
  const load = startLoad(`${running.url}/call/Hi`, { name: 'Ada' }, 8);
  await waitUntil('the first calls', () => load.counts.served > 100);
  const code = running.stop('SIGTERM');
  await waitUntil('the end of listening', () => load.counts.refused > 0);
  const counts = await load.stop();
  expect(counts.failed, counts.errors.join()).toBe(0);
  const reading = await stream;
  expect(reading.messages.at(-1)?.data).toEqual({ final_result: 'one two three four five six seven eight nine ten' });
  expect(await code).toBe(0);
});

test('a stream that outlasts the drain timeout gets the draining error as its last message', async () => {
  const running = await start(['--drain-timeout', '300ms']);
  const stream = readStream(`${running.url}/stream/Count`, { to: 10 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const code = running.stop('SIGTERM');
  const reading = await stream;
  expect(reading.messages.at(-1)?.data).toMatchObject({ error: 'draining' });
  expect(await code).toBe(0);
});

test('a second signal ends the server at once', async () => {
  const running = await start();
  const stream = readStream(`${running.url}/stream/Count`, { to: 10 }).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const ended = running.stop('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 100));
  const signalled = Date.now();
  running.child.kill('SIGTERM');
  await ended;
  expect(Date.now() - signalled).toBeLessThan(1000);
  await stream;
});

test('workers are gone within two seconds when the primary is killed, and the port can be taken again', async () => {
  const running = await start();
  const workers = childrenOf(pidOf(running));
  expect(workers.length).toBeGreaterThanOrEqual(2);
  await running.stop('SIGKILL');
  await waitUntil('the workers to end', () => workers.every((pid) => !alive(pid)), 2500);
  const again = await startServer({ files: FILES, flags: ['--port', String(running.port)] });
  server = again;
  expect((await fetch(`${again.url}/livez`)).status).toBe(200);
});

test('readiness fails while draining, liveness does not', async () => {
  const running = await start(['--drain-delay', '700ms']);
  expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
  const code = running.stop('SIGTERM');
  await waitUntil('readiness to fail', async () => (await fetch(`${running.url}/readyz`)).status === 503, 600);
  expect((await fetch(`${running.url}/livez`)).status).toBe(200);
  expect((await fetch(`${running.url}/call/Hi`, post({ name: 'late' }))).status).toBe(200);
  expect(await code).toBe(0);
});

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
