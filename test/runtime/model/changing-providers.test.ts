import { constants } from 'node:crypto';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { AUTHORITY_FILE, credentials, type CertificateName } from '../../support/certificates.ts';
import { reply as answer } from '../../support/fake-provider.ts';
import { Http2Server, reply, type Http2Asked } from '../../support/http2-server.ts';
import { waitUntil } from '../../support/load.ts';
import { startRequest, type RunningRequest } from '../../support/running-request.ts';
import { TlsProvider } from '../../support/tls-provider.ts';

const closing: (() => Promise<void>)[] = [];
let pools = newPools();

afterEach(async () => {
  await pools.close();
  await Promise.all(closing.splice(0).map((close) => close()));
  pools = newPools();
});

function newPools(): ConnectionPools {
  return new ConnectionPools({ SSL_CERT_FILE: AUTHORITY_FILE });
}

async function startServer(options: Parameters<typeof Http2Server.start>[0] = {}): Promise<Http2Server> {
  const server = await Http2Server.start(options);
  closing.push(() => server.close());
  return server;
}

async function startProvider(options: Parameters<typeof TlsProvider.start>[0] = {}): Promise<TlsProvider> {
  const provider = await TlsProvider.start(options);
  closing.push(() => provider.close());
  return provider;
}

function send(origin: string, path = '/'): RunningRequest {
  return startRequest(pools, origin, { path });
}

function sendMany(count: number, origin: string): readonly RunningRequest[] {
  return Array.from({ length: count }, (_, index) => send(origin, `/${index}`));
}

function endsOf(requests: readonly RunningRequest[]): Promise<readonly string[]> {
  return Promise.all(requests.map(({ done }) => done));
}

/** Sends requests that the server does not answer, and waits until it has all of them. */
async function sendHeld(
  count: number,
  server: Http2Server,
): Promise<{ readonly requests: readonly RunningRequest[]; readonly held: readonly Http2Asked[] }> {
  const before = server.asked.length;
  server.answer = () => {};
  const requests = sendMany(count, server.origin);
  await waitUntil(`${count} requests`, () => server.asked.length === before + count);
  return { requests, held: server.asked.slice(before) };
}

/** The client has applied the limit when this resolves. */
async function allow(server: Http2Server, requests: number): Promise<void> {
  const session = server.sessions.at(-1);
  await new Promise((resolve) => {
    session?.once('localSettings', resolve).settings({ maxConcurrentStreams: requests });
  });
}

test('a limit that falls to 0 ends no request in flight, and others wait without another connection', async () => {
  const server = await startServer({ settings: { maxConcurrentStreams: 10 } });
  const { requests, held } = await sendHeld(3, server);
  await allow(server, 0);
  const waiting = sendMany(300, server.origin);
  for (const asked of held) reply('ok')(asked);
  expect(await endsOf(requests)).toEqual(['end', 'end', 'end']);
  expect(server.asked).toHaveLength(3);
  expect(server.sessions).toHaveLength(1);
  server.answer = reply('ok');
  await allow(server, 300);
  expect(new Set(await endsOf(waiting))).toEqual(new Set(['end']));
  expect(server.asked).toHaveLength(303);
});

test('a limit that falls below the number of requests in flight counts them', async () => {
  const server = await startServer({ settings: { maxConcurrentStreams: 5 } });
  const { requests, held } = await sendHeld(5, server);
  await allow(server, 2);
  for (const asked of held.slice(0, 3)) reply('ok')(asked);
  expect(await endsOf(requests.slice(0, 3))).toEqual(['end', 'end', 'end']);
  server.answer = reply('ok');
  expect(await send(server.origin).done).toBe('end');
  expect(server.sessions).toHaveLength(2);
  expect(server.asked.at(-1)?.session).toBe(server.sessions[1]);
  for (const asked of held.slice(3)) reply('ok')(asked);
  expect(await endsOf(requests.slice(3))).toEqual(['end', 'end']);
});

test('a connection that dies fails the requests that it took, and the 300 that wait are sent once over others', async () => {
  const server = await startServer({ settings: { maxConcurrentStreams: 100 } });
  const { requests } = await sendHeld(100, server);
  await allow(server, 0);
  const waiting = Array.from({ length: 300 }, (_, index) => send(server.origin, `/waiting/${index}`));
  server.answer = reply('ok');
  server.sessions[0]?.destroy();
  for (const end of await endsOf(requests)) expect(end).toMatch(/^network: /u);
  expect(new Set(await endsOf(waiting))).toEqual(new Set(['end']));
  expect(new Set(waiting.map(({ events }) => events.join(' ')))).toEqual(new Set(['sent 200']));
  expect(server.asked.filter(({ path }) => path.startsWith('/waiting/'))).toHaveLength(300);
  expect(server.sessions.length).toBeLessThanOrEqual(4);
});

test('a connection that dies before it takes a request fails the 300 that wait, and leaves nothing behind', async () => {
  const provider = await startProvider();
  let greeted: Socket | undefined;
  provider.greet((socket) => (greeted = socket));
  const waiting = sendMany(300, provider.url);
  await waitUntil('the connection', () => greeted !== undefined);
  greeted?.destroy();
  expect(new Set(await endsOf(waiting))).toEqual(new Set(['network: the connection ended, before it took a request']));
  expect(waiting.flatMap(({ events }) => events)).toEqual([]);
  await waitUntil('the end of the connection', () => provider.openSockets === 0);
  expect(await send(provider.url).done).toBe('end');
  expect(provider.requests).toHaveLength(1);
  expect(provider.openSockets).toBe(1);
});

test.each<[CertificateName, RegExp]>([
  ['elsewhere', /^network: .*altnames/u],
  ['expired', /^network: certificate has expired/u],
  ['self-signed', /^network: .*self-signed certificate/u],
])('a connection stays in use while new ones get a certificate that is not trusted: %s', async (name, failure) => {
  const provider = await startProvider({ settings: { maxConcurrentStreams: 1 } });
  expect(await send(provider.url).done).toBe('end');
  provider.present(name);
  expect(await send(provider.url).done).toBe('end');
  provider.answer(answer('ok', { latencyMs: 100 }));
  const [served, waits] = sendMany(2, provider.url);
  expect(await served?.done).toBe('end');
  expect(await waits?.done).toBe('end');
  provider.resetConnections();
  await waitUntil('the end of the connections', () => provider.openSockets === 0);
  const asked = provider.requests.length;
  expect(await send(provider.url).done).toMatch(failure);
  expect(provider.requests).toHaveLength(asked);
  provider.present('localhost');
  expect(await send(provider.url).done).toBe('end');
});

/** Connections to a provider, which can be held back. */
interface Gate {
  readonly url: string;
  /** Connections that are held back. */
  readonly held: readonly Socket[];
  isOpen: boolean;
  /** Lets all connections through. */
  open(): void;
}

async function startGate({ port }: TlsProvider): Promise<Gate> {
  const held: Socket[] = [];
  const lead = (socket: Socket): void => {
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => socket.destroy()).pipe(socket);
    socket.on('error', () => upstream.destroy()).pipe(upstream);
  };
  const server = createServer((socket) => {
    if (gate.isOpen) lead(socket);
    else held.push(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const gate = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    isOpen: true,
    open: () => {
      gate.isOpen = true;
      for (const socket of held.splice(0)) lead(socket);
    },
  };
  closing.push(async () => {
    server.close();
  });
  return gate;
}

/** A provider with one place per connection: the first call has it, and the second one needs another connection, which is held back. */
async function startWithTwo(): Promise<{
  readonly provider: TlsProvider;
  readonly gate: Gate;
  readonly calls: readonly RunningRequest[];
  /** Answers the first call. */
  readonly answerFirst: () => void;
}> {
  const provider = await startProvider({ settings: { maxConcurrentStreams: 1 } });
  const gate = await startGate(provider);
  expect(await send(gate.url).done).toBe('end');
  let answerFirst: (() => void) | undefined;
  provider.script(async (request, wire) => {
    await new Promise<void>((resolve) => (answerFirst = resolve));
    await answer('ok')(request, wire);
  });
  const first = send(gate.url);
  await waitUntil('the first call', () => provider.requests.length === 2);
  gate.isOpen = false;
  const second = send(gate.url);
  await waitUntil('the second connection', () => gate.held.length === 1);
  return { provider, gate, calls: [first, second], answerFirst: () => answerFirst?.() };
}

test('if a new connection gets HTTP/1.1, later calls use it, and calls over HTTP/2 finish', async () => {
  const { provider, gate, calls, answerFirst } = await startWithTwo();
  provider.speak('http/1.1');
  gate.open();
  expect(await calls[1]?.done).toBe('end');
  expect(await send(gate.url).done).toBe('end');
  // Both used one connection over HTTP/1.1.
  expect(provider.connections).toBe(3);
  answerFirst();
  expect(await calls[0]?.done).toBe('end');
  await waitUntil('the end of the connection over HTTP/2', () => provider.openSockets === 1);
});

test('a connection over HTTP/1.1 that no call needs any more is closed', async () => {
  const { provider, gate, calls, answerFirst } = await startWithTwo();
  provider.speak('http/1.1');
  answerFirst();
  expect(await endsOf(calls)).toEqual(['end', 'end']);
  gate.open();
  await waitUntil('the end of all connections', () => provider.connections === 3 && provider.openSockets === 0);
  expect(await send(gate.url).done).toBe('end');
});

test('a pool that closes ends once its last call stops waiting for a connection', async () => {
  const gate = await startGate(await startProvider());
  gate.isOpen = false;
  const waiting = send(gate.url);
  await waitUntil('the connection', () => gate.held.length === 1);
  const ended = pools.to({ origin: gate.url, guard: 'none' }).close();
  waiting.cancel();
  expect(await ended).toBeUndefined();
});

test('a TLS session that the server refuses is not used again', async () => {
  const known = new Set<string>();
  let refused = 0;
  // The server identifies TLS sessions by numbers instead of tickets, and fails handshakes that resume one.
  const server = createHttpsServer({
    ...credentials(),
    maxVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_TICKET,
  });
  server
    .on('newSession', (id, _data, done) => {
      known.add(id.toString('hex'));
      done();
    })
    .on('resumeSession', (id, done) => {
      const isKnown = known.has(id.toString('hex'));
      if (isKnown) refused += 1;
      done(isKnown ? new Error('refused') : null, null);
    })
    .on('request', (request, response) => {
      response.setHeader('connection', 'close');
      request.resume().on('end', () => response.end('ok'));
    });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(async () => {
    server.close();
  });
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await send(origin).done).toBe('end');
  expect(await send(origin).done).toMatch(/^network: /u);
  expect(refused).toBe(1);
  expect(await send(origin).done).toBe('end');
  expect(refused).toBe(1);
});
