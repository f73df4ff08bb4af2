import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { chatEvent, SSE_HEADERS, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { sleep, type Behaviour } from '../support/fake-wire.ts';
import { chunk, head } from '../support/http1-connection.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { TALK_FILES } from './talk.ts';

const READERS = 10;
const SPACE = `svc-test-${process.pid}`;
const OUTSIDE = `svct${process.pid % 100_000}`;
const INSIDE = 'inner';
const SERVER_ADDRESS = '10.231.77.1';
const READER_ADDRESS = '10.231.77.2';
/** The time limit of a stream: it ends streams with little text, which fits into the buffers of the system. */
const STREAM_TIMEOUT_S = 20;

/** A program that opens streams and reads them until it is killed. It must not contain single quotes. */
const READER = `
  const { connect } = require("node:net");
  const [port, count] = process.argv.slice(1).map(Number);
  const body = JSON.stringify({ topic: "a" });
  const lines = ["POST /stream/Talk HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: " + body.length];
  for (let at = 0; at < count; at += 1) {
    const socket = connect(port, "${SERVER_ADDRESS}");
    socket.once("data", () => console.log("reads"));
    socket.on("data", () => undefined).on("error", () => undefined);
    socket.write(lines.join("\\r\\n") + "\\r\\n\\r\\n" + body);
  }
`;

/** Runs iproute2; returns false if it fails. */
function ip(...args: readonly string[]): boolean {
  return spawnSync('ip', args).status === 0;
}

/** Creates a separate network with one link to ours, which a test can cut. Needs root and iproute2. */
function layWire(): boolean {
  return (
    ip('netns', 'add', SPACE) &&
    ip('link', 'add', OUTSIDE, 'type', 'veth', 'peer', 'name', INSIDE, 'netns', SPACE) &&
    ip('addr', 'add', `${SERVER_ADDRESS}/30`, 'dev', OUTSIDE) &&
    ip('link', 'set', OUTSIDE, 'up') &&
    ip('-n', SPACE, 'addr', 'add', `${READER_ADDRESS}/30`, 'dev', INSIDE) &&
    ip('-n', SPACE, 'link', 'set', INSIDE, 'up')
  );
}

const hasWire = layWire();
let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});

beforeEach(() => {
  fake.clear();
  ip('-n', SPACE, 'link', 'set', INSIDE, 'up');
});

afterAll(async () => {
  await fake.close();
  ip('netns', 'delete', SPACE);
});

/** A model that sends text until its connection ends. */
function talk(delta: string, everyMs: number): Behaviour {
  return async (_request, wire) => {
    wire.write(head(200, SSE_HEADERS));
    while (!wire.gone) {
      wire.write(chunk(chatEvent({ content: delta })));
      await sleep(everyMs);
    }
  };
}

async function startReaders(port: number): Promise<ChildProcess> {
  const args = ['netns', 'exec', SPACE, process.execPath, '-e', READER, String(port), String(READERS)];
  const child = spawn('ip', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  await waitUntil('every reader to read', () => output.split('reads').length > READERS);
  return child;
}

/** Cuts the link; resolves to the seconds until svc has cancelled the first and the last call to the model. */
async function vanish(server: RunningServer): Promise<readonly [first: number, last: number]> {
  const readers = await startReaders(server.port);
  const cutAt = performance.now();
  expect(ip('-n', SPACE, 'link', 'set', INSIDE, 'down')).toBe(true);
  try {
    await waitUntil('all calls to the model to be cut', () => fake.abandoned.length === READERS, 60_000);
  } finally {
    readers.kill('SIGKILL');
  }
  const times = fake.abandoned.map(({ at }) => (at - cutAt) / 1000);
  return [Math.min(...times), Math.max(...times)];
}

describe.skipIf(!hasWire).each(TRANSPORTS)('transport %s', (transport) => {
  let server: RunningServer;

  beforeAll(async () => {
    const limits = ['--stream-timeout', `${STREAM_TIMEOUT_S}s`, '--partial-interval', '0'];
    const flags = ['--transport', transport, '--log-level', 'off', '--workers', '2', ...limits];
    server = await startServer({ files: TALK_FILES, flags, env: { PROVIDER_URL: `${fake.url}/v1` } });
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  test('svc cuts readers that vanish from streams with little text at the time limit of a stream', async () => {
    fake.answer(talk('x', 500));
    const [first, last] = await vanish(server);
    console.log(`${transport}: quiet streams: model cut ${first.toFixed(1)} to ${last.toFixed(1)} s after the wire`);
    expect(last).toBeLessThan(STREAM_TIMEOUT_S + 1);
  });
});

describe.skipIf(!hasWire).each(TRANSPORTS)('transport %s, much text', (transport) => {
  let server: RunningServer;

  beforeAll(async () => {
    const flags = ['--transport', transport, '--log-level', 'off', '--workers', '2', '--partial-interval', '0'];
    server = await startServer({ files: TALK_FILES, flags, env: { PROVIDER_URL: `${fake.url}/v1` } });
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  test('svc cuts readers that vanish like readers that accept nothing', async () => {
    fake.answer(talk('x'.repeat(2_000), 20));
    const [first, last] = await vanish(server);
    console.log(
      `${transport}: talkative streams: model cut ${first.toFixed(1)} to ${last.toFixed(1)} s after the wire`,
    );
    expect(last).toBeLessThan(45);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});
