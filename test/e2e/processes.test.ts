import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test as baseTest } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { childrenOf, startLoad, waitUntil, type Load } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';
import { openStream, readMessages, readStream } from '../support/sse.ts';

const FILES = {
  'main.svc': `
client<llm> Quick {
  provider offline
  options { latency_ms 40 }
}
client<llm> Slow {
  provider offline
  options {
    reply "one two three four five six seven eight nine ten"
    chunk_size 4
    chunk_delay_ms 100
  }
}
client<llm> Endless {
  provider offline
  options {
    reply "one two"
    chunk_size 4
    chunk_delay_ms 600000
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
function Hang(to: int) -> string {
  client Endless
  prompt #"Count to {{ to }}"#
}
`,
};

const LATER = `
function Later(name: string) -> string {
  client Quick
  prompt #"Say bye to {{ name }}"#
}
`;

/** Loaded into every process of a server: the parsing of one request's body never ends. It leaves the processor to other tests. */
const HANG = `
const parse = JSON.parse;
const cell = new Int32Array(new SharedArrayBuffer(4));
JSON.parse = (text, ...more) => {
  if (typeof text === 'string' && text.startsWith('{"name":"hang here"')) Atomics.wait(cell, 0, 0);
  return parse(text, ...more);
};`;

const [ONE_TRANSPORT = 'node'] = TRANSPORTS;

/** Streams outlast both. */
const DRAIN_SOON = ['--drain-delay', '300ms', '--drain-timeout', '300ms'];

/** Calls at the same time. */
const CALLERS = 4;

/** The server logs this after its first signal. */
const DRAINS = '"msg":"stopping"';

type Start = (
  transport: string,
  flags?: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<RunningServer>;

/** A test that ends its server has one of its own. */
const test = baseTest.extend<{ start: Start }>({
  start: async ({ task: _task }, use) => {
    const servers: RunningServer[] = [];
    await use(async (transport, flags = [], env = {}) => {
      const server = await startServer({ files: FILES, flags: ['--transport', transport, ...flags], env });
      servers.push(server);
      return server;
    });
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  },
});

describe.each(TRANSPORTS)('on %s, a server under load', (transport) => {
  const folder = temporaryFolder(FILES);
  let running: RunningServer;

  beforeAll(async () => {
    running = await startServer({ from: folder, flags: ['--transport', transport] });
  });

  afterAll(() => running.stop('SIGKILL'));

  test('svc replaces workers that are killed under load: it refuses no connection, and calls fail only until the killed worker has exited', async () => {
    const load = startLoad(`${running.url}/call/Hi`, { name: 'Ada' }, CALLERS);
    await moreCalls(load);
    const failedLater = await killOldest(running, load, 2);
    const counts = await load.stop();
    expect(counts.refused, counts.errors.join()).toBe(0);
    expect(failedLater, counts.errors.join()).toBe(0);
  });

  test('SIGHUP under load: new definitions are served without a failed call; those with errors change nothing', async () => {
    const load = startLoad(`${running.url}/call/Hi`, { name: 'Ada' }, CALLERS);
    writeFileSync(join(folder, 'later.svc'), LATER);
    running.child.kill('SIGHUP');
    await waitUntil('the new definitions', () => running.output().includes('all workers serve the new definitions'));
    const counts = await load.stop();
    expect(counts.failed, counts.errors.join()).toBe(0);
    expect(counts.refused).toBe(0);
    expect((await fetch(`${running.url}/call/Later`, post({ name: 'Ada' }))).status).toBe(200);
    writeFileSync(join(folder, 'later.svc'), 'function Broken(');
    running.child.kill('SIGHUP');
    await waitUntil('the refusal', () =>
      running.output().includes('the definitions have errors; svc keeps the old ones'),
    );
    expect((await fetch(`${running.url}/call/Later`, post({ name: 'Ada' }))).status).toBe(200);
  });

  test('SIGTERM under load: every call that was accepted is answered, streams get their last message, exit code 0', async () => {
    const stream = readStream(`${running.url}/stream/Count`, { to: 10 });
    const load = startLoad(`${running.url}/call/Hi`, { name: 'Ada' }, CALLERS);
    await waitUntil('the first calls', () => load.counts.served > 100);
    const code = running.stop('SIGTERM');
    await waitUntil('the end of listening', () => load.counts.refused > 0);
    const counts = await load.stop();
    expect(counts.failed, counts.errors.join()).toBe(0);
    const reading = await stream;
    expect(reading.messages.at(-1)?.data).toEqual({ final_result: 'one two three four five six seven eight nine ten' });
    expect(await code).toBe(0);
  });
});

// Each of these tests has a server of its own, and most of them wait, so they run concurrently.

// The primary waits nine seconds before it kills a worker that hangs. This does not depend on the transport.
test.concurrent('the primary kills and replaces a worker that hangs, the log names the function and the size of its input, and the streams of others continue, until they outlast the drain', async ({
  start,
}) => {
  const running = await start(ONE_TRANSPORT, DRAIN_SOON, hangingHook());
  const workers = childrenOf(pidOf(running)).slice(0, 2);
  // On a busy machine, one worker can accept all connections that wait, but not all of so many rounds.
  const streams: Response[] = [];
  for (let round = 0; round < 12; round += 1) {
    const opened = Array.from({ length: 6 }, () => openStream(`${running.url}/stream/Hang`, { to: 10 }));
    streams.push(...(await Promise.all(opened)));
  }
  const ends = streams.map(async (stream) => (await readMessages(stream)).messages.at(-1)?.data);
  const settled = Promise.allSettled(ends);
  const body = { name: 'hang here' };
  await expect(fetch(`${running.url}/call/Hi`, post(body))).rejects.toThrow('fetch failed');
  const size = JSON.stringify(body).length;
  await waitUntil('the log line', () => running.output().includes('the primary kills a worker that hangs'));
  await waitUntil('the request', () => running.output().includes(`a request of \\"Hi\\" with ${size} bytes`));
  // Until then, a new connection can reach the socket of the worker that is ending.
  await waitUntil('the end of the worker', () => running.output().includes('a worker died'));
  const gone = workers.filter((pid) => !alive(pid));
  expect(gone).toHaveLength(1);
  await waitUntil('a replacement', () => complete(running, gone));
  expect((await fetch(`${running.url}/call/Hi`, post({ name: 'Ada' }))).status).toBe(200);
  expect(await running.stop('SIGTERM')).toBe(0);
  const draining = expect.objectContaining({ value: expect.objectContaining({ error: 'draining' }) as unknown });
  expect(await settled).toContainEqual(draining);
});

describe.concurrent.each(TRANSPORTS)('on %s', (transport) => {
  test('workers end when the primary is killed; another server can take the port, and ends with exit code 0 right after its start', async ({
    start,
  }) => {
    const running = await start(transport);
    const workers = childrenOf(pidOf(running));
    expect(workers.length).toBeGreaterThanOrEqual(2);
    await running.stop('SIGKILL');
    await waitUntil('the workers to end', () => workers.every((pid) => !alive(pid)));
    const next = await start(transport, ['--workers', '1', '--port', String(running.port)]);
    expect((await fetch(`${running.url}/livez`)).status).toBe(200);
    expect(await next.stop('SIGTERM')).toBe(0);
  });

  test('during the drain delay, readiness fails, liveness does not, calls are answered, and workers that die are replaced', async ({
    start,
  }) => {
    const running = await start(transport, ['--drain-delay', '120s']);
    expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
    const [first = 0, second = 0] = childrenOf(pidOf(running));
    const listeners = listenersOn(running.port);
    const ended = running.stop('SIGTERM');
    await waitUntil('readiness to fail', async () => (await statusOf(`${running.url}/readyz`)) === 503);
    expect(await statusOf(`${running.url}/livez`)).toBe(200);
    expect((await fetch(`${running.url}/call/Hi`, post({ name: 'late' }))).status).toBe(200);
    process.kill(first, 'SIGKILL');
    process.kill(second, 'SIGKILL');
    await waitUntil('two replacements', () => complete(running, [first, second]));
    await waitUntil('as many listeners as before', () => listenersOn(running.port) === listeners);
    const answers = await Promise.all(Array.from({ length: 20 }, () => statusOf(`${running.url}/readyz`)));
    expect(new Set(answers)).toEqual(new Set([503]));
    expect((await fetch(`${running.url}/call/Hi`, post({ name: 'late' }))).status).toBe(200);
    running.child.kill('SIGTERM');
    expect(await ended).toBe(143);
  });
});

// This does not depend on the transport.
test.concurrent('a second signal ends a server with an open stream and a worker that hangs at once, and leaves no worker behind', async ({
  start,
}) => {
  const running = await start(ONE_TRANSPORT);
  const workers = childrenOf(pidOf(running));
  process.kill(workers[0] ?? 0, 'SIGSTOP');
  // The kernel distributes connections over the workers: those of the worker that hangs open no stream.
  const opening = Array.from({ length: 32 }, () => openStream(`${running.url}/stream/Hang`, { to: 10 }));
  const opened = Promise.any(opening);
  const settled = Promise.allSettled(opening);
  expect((await opened).status).toBe(200);
  const ended = running.stop('SIGTERM');
  await waitUntil('the drain', () => running.output().includes(DRAINS));
  running.child.kill('SIGTERM');
  expect(await ended).toBe(143);
  await waitUntil('the workers to end', () => workers.every((pid) => !alive(pid)));
  await settled;
});

/** The variables of processes of which one hangs. */
function hangingHook(): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--require ${join(temporaryFolder({ 'hang.cjs': HANG }), 'hang.cjs')}` };
}

/**
 * Kills the oldest worker this many times. After each kill, waits until the worker has exited, its replacement listens and more
 * calls were served. Returns the number of calls that failed after the killed worker had exited and calls in flight had ended.
 */
async function killOldest(running: RunningServer, load: Load, times: number): Promise<number> {
  const killed: number[] = [];
  let failedLater = 0;
  for (let time = 0; time < times; time += 1) {
    const oldest = childrenOf(pidOf(running)).find((pid) => !killed.includes(pid)) ?? 0;
    killed.push(oldest);
    const listeners = listenersOn(running.port);
    process.kill(oldest, 'SIGKILL');
    // Until the worker has exited, new connections can reach its socket.
    await waitUntil('the exit of the worker', () => !alive(oldest));
    // Calls that had reached it fail before so many others are served.
    await moreCalls(load);
    const { failed } = load.counts;
    await waitUntil('a replacement', () => complete(running, killed) && listenersOn(running.port) >= listeners);
    await moreCalls(load);
    failedLater += load.counts.failed - failed;
  }
  return failedLater;
}

async function moreCalls({ counts }: Load): Promise<void> {
  const soFar = counts.served;
  await waitUntil('more calls served', () => counts.served > soFar + 50);
}

/** Waits for two workers that listen and a spare one, without the processes that must have exited. */
function complete(running: RunningServer, gone: readonly number[]): boolean {
  const now = childrenOf(pidOf(running));
  return now.length >= 3 && !now.some((pid) => gone.includes(pid));
}

/** Sockets that listen on a port (Linux): one for each worker on uws; one, shared by all, on node:http. */
function listenersOn(port: number): number {
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A `;
  return readFileSync('/proc/net/tcp', 'utf8').split(address).length - 1;
}

function pidOf(running: RunningServer): number {
  const { pid } = running.child;
  if (pid === undefined) throw new Error('the server has no process id');
  return pid;
}

/** Uses a new connection, so that another worker can receive it. */
async function statusOf(url: string): Promise<number> {
  const response = await fetch(url, { headers: { connection: 'close' } });
  await response.arrayBuffer();
  return response.status;
}

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** A zombie, which has exited and is not reaped yet, is not alive. */
function alive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
