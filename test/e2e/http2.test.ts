import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { AUTHORITY_FILE, credentials } from '../support/certificates.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { reply } from '../support/fake-provider.ts';
import { silence } from '../support/fault-steps.ts';
import { startLoad, waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';
import { openStream, readStream } from '../support/sse.ts';
import { TlsProvider } from '../support/tls-provider.ts';

const WORKERS = 2;

const FILES = {
  'h2.svc': `
client<llm> Model {
  provider openai-generic
  options {
    model m
    base_url env.MODEL_URL
  }
}
client<llm> Old {
  provider openai-generic
  options {
    model m
    base_url env.MODEL_URL
    http {
      version "1.1"
    }
  }
}
function Tell(text: string) -> string {
  client Model
  prompt #"{{ text }}"#
}
function TellOld(text: string) -> string {
  client Old
  prompt #"{{ text }}"#
}
`,
};

let server: RunningServer;
/** Each test has its own, so that it finds no connection of another one. */
let provider: TlsProvider;

beforeAll(async () => {
  server = await serve(['--allow-private-urls']);
});
afterAll(() => server.stop());
beforeEach(async () => {
  provider = await TlsProvider.start({ speaks: ['h2', 'http/1.1'], settings: { maxConcurrentStreams: 100 } });
});
afterEach(() => provider.close());

/** A server that trusts the certificate of the provider as operators make it do. */
function serve(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
  return startServer({
    files: FILES,
    flags: ['--workers', String(WORKERS), ...flags],
    env: { NODE_EXTRA_CA_CERTS: AUTHORITY_FILE, ...env },
  });
}

/** The body of a request, which names the provider of the test. */
function body(url = provider.url): object {
  return { text: 'hello', svc_options: { env: { MODEL_URL: `${url}/v1` } } };
}

interface Called {
  readonly status: number;
  readonly body: unknown;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly content?: object;
  readonly to?: RunningServer;
}

async function call(name: string, { signal, content = body(), to = server }: CallOptions = {}): Promise<Called> {
  const response = await fetch(`${to.url}/call/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(content),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, body: await response.json() };
}

function callMany(count: number, options: CallOptions = {}): Promise<readonly Called[]> {
  return Promise.all(Array.from({ length: count }, () => call('Tell', options)));
}

test('calls and streams share the connection of their worker', async () => {
  provider.answer(reply('a reply of some words'));
  for (let count = 0; count < 10; count += 1) {
    expect(await call('Tell')).toEqual({ status: 200, body: 'a reply of some words' });
    const { messages } = await readStream(`${server.url}/stream/Tell`, body());
    expect(messages.at(-1)?.data).toEqual({ final_result: 'a reply of some words' });
  }
  expect(provider.requests).toHaveLength(20);
  expect(provider.connections).toBeLessThanOrEqual(WORKERS);
});

test('200 calls at the same time use a few connections', async () => {
  const waiting: (() => void)[] = [];
  provider.answer(async (request, wire) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    await reply('ok')(request, wire);
  });
  const calls = callMany(200);
  await waitUntil('all requests', () => waiting.length === 200);
  // 100 streams on each: a worker with 101 calls needs two, and one with 200 calls, too.
  expect(provider.connections).toBeLessThanOrEqual(2 * WORKERS);
  for (const answer of waiting) answer();
  expect(new Set((await calls).map(({ status }) => status))).toEqual(new Set([200]));
});

/** A provider in a process of its own, which takes requests and never answers. */
const SILENT_PROVIDER = `
  const server = require('node:http2').createSecureServer(JSON.parse(process.env.CREDENTIALS));
  server.on('stream', (stream) => {
    stream.on('error', () => {}).resume();
    stream.on('end', () => console.log('asked'));
  });
  server.listen(0, '127.0.0.1', () => console.log('port', server.address().port));
`;

test('a provider that is killed fails the calls that it took, at once', async () => {
  const child = spawn(process.execPath, ['-e', SILENT_PROVIDER], {
    env: { CREDENTIALS: JSON.stringify(credentials()) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  await waitUntil('the port', () => output.includes('port'));
  const content = body(`https://127.0.0.1:${/port (\d+)/u.exec(output)?.[1]}`);
  const calls = callMany(20, { content });
  await waitUntil('all requests', () => output.split('asked').length === 21);
  child.kill('SIGKILL');
  await once(child, 'exit');
  for (const called of await calls) {
    expect(called.status).toBe(502);
    expect(called.body).toMatchObject({ error: 'client_error', client: 'Model' });
  }
  // Nothing listens there any more.
  expect(await call('Tell', { content })).toMatchObject({ status: 502, body: { error: 'client_error' } });
});

test('no call fails while connections end with GOAWAY under load', async () => {
  provider.answer(reply('ok', { latencyMs: 5 }));
  const load = startLoad(`${server.url}/call/Tell`, body(), 32);
  for (let round = 1; round <= 10; round += 1) {
    const served = load.counts.served;
    await waitUntil('more calls', () => load.counts.served >= served + 50 || load.counts.failed > 0);
    provider.leave();
  }
  const { failed, errors, served } = await load.stop();
  expect({ failed, errors }).toEqual({ failed: 0, errors: [] });
  expect(served).toBeGreaterThanOrEqual(500);
  expect(provider.connections).toBeGreaterThanOrEqual(10);
});

test('a caller that disconnects resets the stream of its request, and the connection stays', async () => {
  provider.answer(silence);
  const caller = new AbortController();
  const left = call('Tell', { signal: caller.signal }).catch(() => 'left');
  await waitUntil('the request', () => provider.requests.length === 1);
  caller.abort();
  expect(await left).toBe('left');
  await waitUntil('the reset', () => provider.abandoned.length === 1);

  provider.answer((request, wire) => {
    wire.head(200, { 'content-type': 'text/event-stream' });
    wire.body('data: {"choices":[{"delta":{"content":"first"}}]}\n\n');
    return silence(request, wire);
  });
  const reader = new AbortController();
  const stream = await openStream(`${server.url}/stream/Tell`, body(), {}, reader.signal);
  expect(stream.status).toBe(200);
  reader.abort();
  await waitUntil('the second reset', () => provider.abandoned.length === 2);
  expect(provider.openSockets).toBe(provider.connections);
});

test('a client with http { version "1.1" } uses HTTP/1.1', async () => {
  const versions: string[] = [];
  provider.answer((request, wire) => {
    versions.push(wire.streamId === 0 ? '1.1' : '2');
    return reply('ok')(request, wire);
  });
  expect(await call('TellOld')).toEqual({ status: 200, body: 'ok' });
  expect(await call('Tell')).toEqual({ status: 200, body: 'ok' });
  expect(versions).toEqual(['1.1', '2']);
});

test('a proxy carries HTTP/2', async () => {
  const proxy = await startConnectProxy(provider.port);
  const own = await serve([], { MODEL_URL: 'https://model.example/v1', HTTPS_PROXY: proxy.url });
  const streams: number[] = [];
  provider.answer((request, wire) => {
    streams.push(wire.streamId);
    return reply('ok')(request, wire);
  });
  expect(new Set((await callMany(20, { content: { text: 'hello' }, to: own })).map(({ status }) => status))).toEqual(
    new Set([200]),
  );
  expect(streams.every((id) => id > 0)).toBe(true);
  expect(proxy.targets.length).toBeLessThanOrEqual(WORKERS);
  expect(new Set(proxy.targets)).toEqual(new Set(['model.example:443']));
  await own.stop();
  proxy.close();
});
