import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { chatEvent, SSE_HEADERS, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { sleep, type Behaviour } from '../support/fake-wire.ts';
import { chunk, head } from '../support/http1-connection.ts';
import { childrenOf, waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { TALK_FILES } from './talk.ts';

/** The snapshots of one stream have about 20 MB, far more than socket buffers can take. */
const DELTA = 'x'.repeat(2_000);
const DELTAS = 150;
const READERS = 20;
/** svc cuts a reader that accepts nothing after 30 s, and checks every few seconds. */
const CUT_MS = 45_000;
/** svc stops reading from the model after about 2 s: 200 KB of text, its value and one snapshot. All snapshots would have 2 GB. */
const MEMORY_OF_A_STALLED_READER_MB = 6;

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});

beforeEach(() => fake.clear());

afterAll(() => fake.close());

/** A model that sends this number of deltas, one every 20 ms. */
function talk(deltas: number): Behaviour {
  return async (_request, wire) => {
    wire.write(head(200, SSE_HEADERS));
    for (let at = 0; at < deltas && !wire.gone; at += 1) {
      wire.write(chunk(chatEvent({ content: DELTA })));
      await sleep(20);
    }
    wire.write(chunk(chatEvent({}, 'stop')));
    wire.write(chunk('data: [DONE]\n\n'));
    wire.write(chunk(''));
  };
}

function open(server: RunningServer, route: 'call' | 'stream'): Socket {
  const body = '{"topic":"a"}';
  const lines = [`POST /${route}/Talk HTTP/1.1`, 'Host: x', 'Content-Type: application/json'];
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write(`${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  return socket;
}

/** Resident memory of all workers, in MB. */
function memory(server: RunningServer): number {
  const workers = childrenOf(server.child.pid ?? 0);
  const kilobytes = workers.map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1] ?? 0);
  });
  return Math.round(kilobytes.reduce((sum, one) => sum + one, 0) / 1024);
}

async function inFlight(server: RunningServer): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const lines = [...text.matchAll(/^svc_(?:requests_)?in_flight\S* (\d+)/gmu)];
  if (lines.length === 0) throw new Error(`no gauge of calls in flight:\n${text}`);
  return lines.reduce((sum, line) => sum + Number(line[1]), 0);
}

/** The `data:` messages that a socket received, without headers and chunk framing. */
function messagesOf(received: string): readonly Record<string, unknown>[] {
  const body = received.slice(received.indexOf('\r\n\r\n') + 4);
  let text = '';
  for (let at = 0; at < body.length;) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.slice(at, lineEnd), 16);
    if (!(size > 0)) break;
    text += body.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
  const data = text.split('\n').filter((line) => line.startsWith('data: '));
  return data.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
}

describe.each(TRANSPORTS)('transport %s', (transport) => {
  let server: RunningServer;
  const report = (text: string): void => console.log(`${transport}: ${text}`);

  beforeAll(async () => {
    const flags = ['--transport', transport, '--log-level', 'warn', '--partial-interval', '0', '--workers', '2'];
    server = await startServer({ files: TALK_FILES, flags, env: { PROVIDER_URL: `${fake.url}/v1` } });
    await waitUntil('the spare worker', () => childrenOf(server.child.pid ?? 0).length === 3);
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  test('a slow reader gets fewer partial results, and the whole final one last', async () => {
    fake.answer(talk(DELTAS));
    const socket = open(server, 'stream');
    let received = '';
    socket.on('data', (data: Buffer) => {
      received += data.toString('latin1');
      socket.pause();
      setTimeout(() => socket.resume(), 25);
    });
    await waitUntil('the end of the stream', () => received.endsWith('0\r\n\r\n'), 60_000);
    socket.destroy();
    const messages = messagesOf(received);
    const partials = messages.filter((message) => 'partial_result' in message);
    const lengths = partials.map((message) => String(message['partial_result']).length);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(messages.at(-1)).toEqual({ final_result: DELTA.repeat(DELTAS) });
    expect(messages.filter((message) => 'final_result' in message)).toHaveLength(1);
    expect(partials.length).toBeLessThan(DELTAS);
    report(
      `slow reader: ${partials.length} of ${DELTAS} partials, ${(received.length / 1e6).toFixed(1)} MB, last message whole`,
    );
  });

  test.each(['call', 'stream'] as const)(
    'when a caller leaves a %s, svc cancels the call to the model within 100 ms',
    async (route) => {
      fake.answer(talk(1_000));
      const times: number[] = [];
      for (let at = 0; at < READERS; at += 1) {
        const before = fake.abandoned.length;
        const asked = fake.requests.length;
        const socket = open(server, route);
        if (route === 'stream') await new Promise((resolve) => socket.once('data', resolve));
        else await waitUntil('the model to be called', () => fake.requests.length > asked);
        const left = performance.now();
        if (at % 2 === 0) socket.destroy();
        else socket.resetAndDestroy();
        await waitUntil('the call to the model to be cut', () => fake.abandoned.length > before, 5_000);
        times.push((fake.abandoned.at(-1)?.at ?? Infinity) - left);
      }
      const sorted = times.toSorted((a, b) => a - b);
      const [median, last] = [sorted[READERS / 2], sorted.at(-1)];
      report(`leaving a ${route}: model cut after ${median?.toFixed(1)} ms (median), ${last?.toFixed(1)} ms at most`);
      expect(last).toBeLessThan(100);
      await waitUntil('no call to be in flight', async () => (await inFlight(server)) === 0);
    },
  );

  test('svc cuts readers that accept nothing, uses little memory for them, and cancels their calls to the model', async () => {
    fake.answer(talk(4_000));
    const before = memory(server);
    const sockets = Array.from({ length: READERS }, () => open(server, 'stream').pause());
    const started = performance.now();
    let peak = before;
    await waitUntil(
      'all calls to the model to be cut',
      () => {
        peak = Math.max(peak, memory(server));
        return fake.abandoned.length === READERS;
      },
      CUT_MS,
    );
    const last = (fake.abandoned.at(-1)?.at ?? Infinity) - started;
    report(
      `${READERS} stalled readers: memory ${before} -> ${peak} MB at most, all cut after ${(last / 1000).toFixed(1)} s`,
    );
    expect((peak - before) / READERS).toBeLessThan(MEMORY_OF_A_STALLED_READER_MB);
    await waitUntil('no call to be in flight', async () => (await inFlight(server)) === 0);
    for (const socket of sockets) socket.destroy();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});
