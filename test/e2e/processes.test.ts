import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { childrenOf, startLoad, waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';
import { openStream, readMessages, readStream } from '../support/sse.ts';

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

/** Loaded into every process of a server: the parsing of one request's body never ends. */
const HANG = `
const parse = JSON.parse;
JSON.parse = (text, ...more) => {
  while (typeof text === 'string' && text.startsWith('{"name":"hang here"'));
  return parse(text, ...more);
};`;

/** The server logs this after its first signal. */
const DRAINS = '"msg":"stopping"';

let server: RunningServer | undefined;
afterEach(async () => {
  await server?.stop('SIGKILL');
  server = undefined;
});

describe.each(TRANSPORTS)('on %s', (transport) => {
  async function start(flags: readonly string[] = [], from?: string): Promise<RunningServer> {
    const definitions = from === undefined ? { files: FILES } : { from };
    server = await startServer({ ...definitions, flags: ['--transport', transport, ...flags] });
    return server;
  }

  test('svc replaces workers killed one after the other under load: it refuses no connection, and only calls in flight fail', async () => {
    const running = await start();
    const load = startLoad(`${running.url}/call/Hi`, { name: 'Ada' }, 8);
    await waitUntil('the first calls', () => load.counts.served > 200);
    const killed = await killOldest(running, 5);
    await waitUntil('replacements', () => complete(running, killed));
    const soFar = load.counts.served;
    await waitUntil('more calls served', () => load.counts.served > soFar + 200);
    const counts = await load.stop();
    expect(counts.refused, counts.errors.join()).toBe(0);
    expect(counts.failed, counts.errors.join()).toBeLessThanOrEqual(5 * 8);
  });

  test('the primary kills and replaces a worker that hangs', async () => {
    const running = await start();
    const [victim = 0] = childrenOf(pidOf(running));
    process.kill(victim, 'SIGSTOP');
    await waitUntil('the end of the worker', () => !alive(victim));
    await waitUntil('a replacement', () => complete(running, [victim]));
    expect((await fetch(`${running.url}/call/Hi`, post({ name: 'Ada' }))).status).toBe(200);
    await expect.poll(running.output).toContain('the primary kills a worker that hangs');
  });

  test('the log names the function, and the size of its input, with which a worker hangs', async () => {
    const hook = join(temporaryFolder({ 'hang.cjs': HANG }), 'hang.cjs');
    server = await startServer({
      files: FILES,
      flags: ['--transport', transport],
      env: { NODE_OPTIONS: `--require ${hook}` },
    });
    const running = server;
    const body = { name: 'hang here' };
    await expect(fetch(`${running.url}/call/Hi`, post(body))).rejects.toThrow('fetch failed');
    const size = JSON.stringify(body).length;
    await waitUntil('the log line', () => running.output().includes('the primary kills a worker that hangs'));
    await expect.poll(running.output).toContain(`a request of \\"Hi\\" with ${size} bytes`);
    await waitUntil('the end of the worker', () => running.output().includes('a worker died'));
    expect((await fetch(`${running.url}/call/Hi`, post({ name: 'Ada' }))).status).toBe(200);
  });

  test('while the primary kills a worker that hangs, the streams of other workers continue, and new calls are served', async () => {
    const hook = join(temporaryFolder({ 'hang.cjs': HANG }), 'hang.cjs');
    server = await startServer({
      files: FILES,
      flags: ['--transport', transport, '--drain-timeout', '300ms'],
      env: { NODE_OPTIONS: `--require ${hook}` },
    });
    const running = server;
    // The kernel distributes connections over the workers: so many do not all reach one.
    const streams = await Promise.all(
      Array.from({ length: 32 }, () => openStream(`${running.url}/stream/Hang`, { to: 10 })),
    );
    const ends = streams.map(async (stream) => (await readMessages(stream)).messages.at(-1)?.data);
    const settled = Promise.allSettled(ends);
    await expect(fetch(`${running.url}/call/Hi`, post({ name: 'hang here' }))).rejects.toThrow('fetch failed');
    // Until then, a new connection can reach the socket of the worker that is ending.
    await waitUntil('the end of the worker', () => running.output().includes('a worker died'));
    expect((await fetch(`${running.url}/call/Hi`, post({ name: 'Ada' }))).status).toBe(200);
    expect(await running.stop('SIGTERM')).toBe(0);
    const draining = expect.objectContaining({ value: expect.objectContaining({ error: 'draining' }) as unknown });
    expect(await settled).toContainEqual(draining);
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

  test('SIGTERM right after the start ends the server with exit code 0', async () => {
    expect(await (await start()).stop('SIGTERM')).toBe(0);
  });

  test('a stream that outlasts the drain timeout gets the draining error as its last message', async () => {
    const running = await start(['--drain-timeout', '300ms']);
    const stream = await openStream(`${running.url}/stream/Hang`, { to: 10 });
    const code = running.stop('SIGTERM');
    const reading = await readMessages(stream);
    expect(reading.messages.at(-1)?.data).toMatchObject({ error: 'draining' });
    expect(await code).toBe(0);
  });

  test('a second signal ends the server at once', async () => {
    const running = await start();
    await openStream(`${running.url}/stream/Hang`, { to: 10 });
    const ended = running.stop('SIGTERM');
    await waitUntil('the drain', () => running.output().includes(DRAINS));
    running.child.kill('SIGTERM');
    expect(await ended).toBe(143);
  });

  test('a second signal leaves no worker behind that hangs', async () => {
    const running = await start();
    const workers = childrenOf(pidOf(running));
    process.kill(workers[0] ?? 0, 'SIGSTOP');
    const ended = running.stop('SIGTERM');
    await waitUntil('the drain', () => running.output().includes(DRAINS));
    running.child.kill('SIGTERM');
    expect(await ended).toBe(143);
    await waitUntil('the workers to end', () => workers.every((pid) => !alive(pid)));
  });

  test('workers end when the primary is killed, and the port can be taken again', async () => {
    const running = await start();
    const workers = childrenOf(pidOf(running));
    expect(workers.length).toBeGreaterThanOrEqual(2);
    await running.stop('SIGKILL');
    await waitUntil('the workers to end', () => workers.every((pid) => !alive(pid)));
    await start(['--port', String(running.port)]);
    expect((await fetch(`${running.url}/livez`)).status).toBe(200);
  });

  test('readiness fails during the drain delay, liveness does not, and calls are answered', async () => {
    const running = await start(['--drain-delay', '120s']);
    expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
    const ended = running.stop('SIGTERM');
    await waitUntil('readiness to fail', async () => (await statusOf(`${running.url}/readyz`)) === 503);
    expect((await fetch(`${running.url}/livez`)).status).toBe(200);
    expect((await fetch(`${running.url}/call/Hi`, post({ name: 'late' }))).status).toBe(200);
    running.child.kill('SIGTERM');
    expect(await ended).toBe(143);
  });

  test('after the drain delay the server ends with exit code 0', async () => {
    expect(await (await start(['--drain-delay', '300ms'])).stop('SIGTERM')).toBe(0);
  });

  test('a worker that dies during the drain delay is replaced, and readiness still fails', async () => {
    const running = await start(['--drain-delay', '120s']);
    const [first = 0, second = 0] = childrenOf(pidOf(running));
    const listeners = listenersOn(running.port);
    const ended = running.stop('SIGTERM');
    await waitUntil('readiness to fail', async () => (await statusOf(`${running.url}/readyz`)) === 503);
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

  test('SIGHUP under load: new definitions are served without a failed call; those with errors change nothing', async () => {
    const folder = temporaryFolder(FILES);
    const running = await start([], folder);
    const load = startLoad(`${running.url}/call/Hi`, { name: 'Ada' }, 4);
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
});

/**
 * Kills the oldest worker repeatedly: every one and a half seconds, or later if the replacement does not listen in this time
 * because the machine is busy.
 */
async function killOldest(running: RunningServer, times: number): Promise<readonly number[]> {
  const killed: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const oldest = childrenOf(pidOf(running)).find((pid) => !killed.includes(pid)) ?? 0;
    killed.push(oldest);
    const listeners = listenersOn(running.port);
    process.kill(oldest, 'SIGKILL');
    await sleep(1_500);
    await waitUntil('as many listeners as before', () => listenersOn(running.port) >= listeners);
  }
  return killed;
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

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
