import type { ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { AUTHORITY_FILE, credentials } from '../../support/certificates.ts';
import { ask, clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';
import { startConnectProxy } from '../../support/connect-proxy.ts';
import { chatEvents } from '../../support/fake-provider.ts';
import { FRAME, frame } from '../../support/http2-frames.ts';
import { Http2Server, reply, type Http2Asked } from '../../support/http2-server.ts';
import { waitUntil } from '../../support/load.ts';
import { REQUEST_BODY, startRequest, type RunningRequest, type Sending } from '../../support/running-request.ts';

const servers: Http2Server[] = [];
let pools = newPools();

// The clock is stopped, so that the pool opens no second connection beside one that is slow on a busy machine.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await pools.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
  pools = newPools();
});

function newPools(): ConnectionPools {
  return new ConnectionPools({ SSL_CERT_FILE: AUTHORITY_FILE });
}

async function start(options: Parameters<typeof Http2Server.start>[0] = {}): Promise<Http2Server> {
  const server = await Http2Server.start(options);
  servers.push(server);
  return server;
}

function send(server: Pick<Http2Server, 'origin'>, path = '/', more: Sending = {}): RunningRequest {
  return startRequest(pools, server.origin, { path, ...more });
}

function sendMany(count: number, server: Http2Server): readonly RunningRequest[] {
  return Array.from({ length: count }, (_, index) => send(server, `/${index}`));
}

/** Sends requests and waits until the server has all of them. The server answers none of them, and later ones with `second`. */
async function sendHeld(
  count: number,
  server: Http2Server,
): Promise<{ readonly requests: readonly RunningRequest[]; readonly held: readonly Http2Asked[] }> {
  const held: Http2Asked[] = [];
  server.answer = (asked) => held.push(asked);
  const requests = sendMany(count, server);
  await waitUntil(`${count} requests`, () => held.length === count);
  server.answer = reply('second');
  return { requests, held };
}

function ignore(): void {}

function hold(): void {}

test('the counts of a pool contain its sessions and their requests', async () => {
  const server = await start({ settings: { maxConcurrentStreams: 2 } });
  const { requests, held } = await sendHeld(2, server);
  expect(pools.origins).toBe(1);
  expect(pools.counts).toEqual([
    { protocol: 'http/1.1', connections: 0, active: 0, waiting: 0 },
    { protocol: 'h2', connections: 1, active: 2, waiting: 0 },
  ]);
  for (const asked of held) reply('done')(asked);
  await Promise.all(requests.map((request) => request.done));
  await waitUntil('the streams to end', () => pools.counts[1]?.active === 0);
  expect(pools.counts[1]).toEqual({ protocol: 'h2', connections: 1, active: 0, waiting: 0 });
});

test('a request arrives as it was sent', async () => {
  const server = await start();
  const request = send(server, '/v1/chat?a=b');
  expect(await request.done).toBe('end');
  expect(request.events).toEqual(['sent', '200']);
  expect(JSON.parse(request.text())).toMatchObject({ choices: [{ message: { content: 'ok' } }] });
  const [asked] = server.asked;
  expect(asked?.body).toBe(REQUEST_BODY);
  expect(asked?.headers).toMatchObject({
    ':method': 'POST',
    ':path': '/v1/chat?a=b',
    ':authority': `localhost:${server.port}`,
    ':scheme': 'https',
    authorization: 'Bearer k',
    'content-length': String(REQUEST_BODY.length),
  });
});

test('a burst of a thousand calls opens as many sessions as the limit of the server needs, and no more', async () => {
  const server = await start({ settings: { maxConcurrentStreams: 100 } });
  server.answer = hold;
  const requests = sendMany(1000, server);
  await waitUntil('all requests', () => server.asked.length === 1000);
  expect(server.sessions).toHaveLength(10);
  for (const asked of server.asked) reply('ok')(asked);
  expect(new Set(await Promise.all(requests.map(({ done }) => done)))).toEqual(new Set(['end']));
  server.answer = reply('ok');
  await Promise.all(sendMany(100, server).map(({ done }) => done));
  expect(server.sessions).toHaveLength(10);
});

test('requests beyond the last one that a leaving server takes are sent again, and the others finish', async () => {
  const server = await start();
  const { requests, held } = await sendHeld(4, server);
  server.sessions[0]?.goaway(0, 3);
  await waitUntil('the others', () => server.asked.length === 6);
  for (const asked of held.slice(0, 2)) reply('first')(asked);
  expect(await Promise.all(requests.map(({ done }) => done))).toEqual(['end', 'end', 'end', 'end']);
  expect(requests.map(({ events }) => events.includes('resend'))).toEqual([false, false, true, true]);
  expect(server.sessions).toHaveLength(2);
  await waitUntil('the end of the first connection', () => server.openConnections === 1);
});

test('a request that leaves while it waits is never sent, and the connection is given up', async () => {
  const server = await start();
  const request = send(server);
  request.cancel();
  const other = send(server, '/other');
  expect(await other.done).toBe('end');
  expect(server.asked.map(({ path }) => path)).toEqual(['/other']);
});

test('a reader that pauses stalls its own stream only, and receives everything later', async () => {
  const server = await start();
  const length = 1_000_000;
  server.answer = ({ path, stream }) => {
    stream.respond({ ':status': 200 });
    stream.end('x'.repeat(path === '/stalled' ? length : 1000));
  };
  const stalled = send(server, '/stalled', { pauses: true });
  await waitUntil('the headers', () => stalled.events.includes('paused true'));
  for (let count = 0; count < 20; count += 1) expect(await send(server, `/${count}`).done).toBe('end');
  expect(stalled.text()).toBe('');
  stalled.resume();
  expect(await stalled.done).toBe('end');
  expect(stalled.text()).toHaveLength(length);
  expect(server.sessions).toHaveLength(1);
});

test('a response arrives in order through pauses and rests', async () => {
  const server = await start();
  const parts = Array.from({ length: 300 }, (_, index) => `part ${index} `);
  server.answer = ({ stream }) => {
    stream.respond({ ':status': 200 });
    const next = (at: number): void => {
      const part = parts[at];
      if (part === undefined) stream.end();
      else stream.write(part, () => setImmediate(next, at + 1));
    };
    next(0);
  };
  const request = send(server);
  let isEnded = false;
  const ended = request.done.then((outcome) => {
    isEnded = true;
    return outcome;
  });
  for (let turn = 0; !isEnded; turn += 1) {
    if (turn % 7 === 0) request.pause();
    if (turn % 7 === 3) request.resume();
    if (turn % 7 === 5) expect(request.rest()).toBe(false);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  expect(await ended).toBe('end');
  expect(request.text()).toBe(parts.join(''));
});

test('interim responses and trailers are skipped, and pushes are refused', async () => {
  const server = await start();
  server.answer = (asked) => {
    const { stream } = asked;
    stream.additionalHeaders({ ':status': 103, link: '</a>' });
    expect(stream.pushAllowed).toBe(false);
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end('fine');
  };
  const request = send(server);
  expect(await request.done).toBe('end');
  expect(request.events).toEqual(['sent', '200']);
  expect(request.text()).toBe('fine');
});

test('a server without HTTP/2 is asked over HTTP/1.1 on the same connection', async () => {
  const server = await start({ http1: 'only' });
  // The first handshake of a process fails, because only the system trusts the authority.
  expect(await send(server).done).toBe('end');
  expect(server.handshakes.all).toBe(1);
  expect(await send(server).done).toBe('end');
  expect(server.handshakes.all).toBe(1);
});

test('connections over HTTP/1.1 resume their TLS session', async () => {
  const server = await start({ http1: 'only' });
  expect(await send(server).done).toBe('end');
  const requests = sendMany(5, server);
  expect(new Set(await Promise.all(requests.map(({ done }) => done)))).toEqual(new Set(['end']));
  expect(server.handshakes.all).toBeGreaterThan(1);
  expect(server.handshakes.resumed).toBe(server.handshakes.all - 1);
});

test('a client can demand a version', async () => {
  const both = await start({ http1: 'too' });
  expect(await send(both, '/', { version: '1.1' }).done).toBe('end');
  expect(both.sessions).toHaveLength(0);
  expect(await send(both, '/', { version: '2' }).done).toBe('end');
  expect(both.sessions).toHaveLength(1);
  const old = await start({ http1: 'only' });
  expect(await send(old, '/', { version: '2' }).done).not.toBe('end');
});

test('a server that demands HTTP/1.1 for a request gets it', async () => {
  const server = await start({ http1: 'too' });
  server.answer = ({ stream }) => stream.close(13);
  const request = send(server);
  expect(await request.done).toBe('end');
  expect(request.events).toEqual(['sent', 'resend', 'sent', '200']);
});

test('close waits for the requests in flight', async () => {
  const server = await start();
  server.answer = hold;
  const request = send(server);
  await waitUntil('the request', () => server.asked.length === 1);
  const closing = pools.to({ origin: server.origin, guard: 'none' }).close();
  const [asked] = server.asked;
  if (asked !== undefined) reply('ok')(asked);
  expect(await request.done).toBe('end');
  await closing;
  await waitUntil('the end of the connection', () => server.openConnections === 0);
});

test('the addresses of a name are checked for HTTP/2 as well', async () => {
  const server = await start();
  expect(await send(server, '/', { guard: 'public-only' }).done).toMatch(/^forbidden: /u);
  expect(server.handshakes.all).toBe(0);
});

test('a client calls and streams over one connection', async () => {
  const server = await start();
  const text = 'fine, and a little longer';
  server.answer = (asked) => {
    if (!asked.body.includes('"stream":true')) {
      reply(text)(asked);
      return;
    }
    asked.stream.respond({ ':status': 200, 'content-type': 'text/event-stream' });
    for (const event of chatEvents(text, { chunkSize: 3 })) asked.stream.write(event);
    asked.stream.end();
  };
  const definition = clientDefinition('openai', { base_url: `${server.origin}/v1`, model: 'm', api_key: 'k' });
  const client = makeClient(definition, { ...testServices(), pools });
  const call = await ask(client);
  expect(call.result.ok && call.result.value.text).toBe(text);
  const stream = await ask(client, { streamed: true });
  expect(stream.result.ok && stream.result.value.text).toBe(text);
  expect(stream.deltas.join('')).toBe(text);
  expect(server.sessions).toHaveLength(1);
});

test('a stream without a finish reason and without an end mark was cut off', async () => {
  const server = await start();
  server.answer = ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'text/event-stream' });
    stream.end(chatEvents('fine').slice(0, -3).join(''));
  };
  const definition = clientDefinition('openai-generic', { base_url: `${server.origin}/v1`, model: 'm' });
  const { result } = await ask(makeClient(definition, { ...testServices(), pools }), { streamed: true });
  expect(result.ok || result.failure.failure.message).toMatch(/ended its stream before the reply was complete$/u);
});

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

test('a proxy carries HTTP/2', async () => {
  const server = await start();
  const proxy = await startConnectProxy(server.port);
  pools = new ConnectionPools({ SSL_CERT_FILE: AUTHORITY_FILE, HTTPS_PROXY: proxy.url });
  const origin = `https://model.example:${server.port}`;
  const ends = await Promise.all([1, 2, 3].map(() => send({ origin }).done));
  expect(ends).toEqual(['end', 'end', 'end']);
  expect(proxy.targets).toEqual([`model.example:${server.port}`]);
  expect(server.asked[0]?.headers[':authority']).toBe(`model.example:${server.port}`);
  await pools.close();
  proxy.close();
});

/** A server that agrees on HTTP/2, sends its settings, and then reads without ever answering. */
async function startSilent(): Promise<{ readonly origin: string; readonly close: () => void }> {
  const server = createTlsServer({ ...credentials(), ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', ignore).resume();
    // Its settings, and the acknowledgement of those of svc.
    for (const flags of [0, 1]) socket.write(frame(FRAME.settings, flags, 0));
  });
  const port = await listen(server);
  return { origin: `https://localhost:${port}`, close: () => server.close() };
}

test('a server that answers no ping is dead, and its requests fail', async () => {
  const silent = await startSilent();
  const request = send(silent);
  await waitUntil('the request', () => request.events.includes('sent'));
  vi.advanceTimersByTime(45_000);
  expect(await request.done).toBe('network: the connection is dead: a ping got no answer');
  silent.close();
});

test('a connection without requests is kept for a minute', async () => {
  const server = await start();
  expect(await send(server).done).toBe('end');
  for (let quarter = 1; quarter <= 4; quarter += 1) {
    expect(server.openConnections).toBe(1);
    await twoRoundTrips(server.sessions[0]);
    vi.advanceTimersByTime(15_000);
  }
  await waitUntil('the end of the connection', () => server.openConnections === 0);
});

test('requests that wait for a place survive the end of a connection that was idle for a minute', async () => {
  const server = await start({ settings: { maxConcurrentStreams: 0 } });
  const requests = sendMany(3, server);
  await waitUntil('the session', () => server.sessions.length === 1);
  const [idle] = server.sessions;
  for (let seconds = 0; seconds < 60; seconds += 5) {
    await twoRoundTrips(idle);
    vi.advanceTimersByTime(5000);
  }
  await waitUntil('another session', () => server.sessions.length === 2);
  server.sessions[1]?.settings({ maxConcurrentStreams: 5 });
  expect(await Promise.all(requests.map(({ done }) => done))).toEqual(['end', 'end', 'end']);
  expect(requests.map(({ events }) => events)).toEqual(requests.map(() => ['sent', '200']));
  await waitUntil('the end of the idle connection', () => server.openConnections === 1);
});

/** After these, the client has read the answer to every ping that it sent before. */
async function twoRoundTrips(session: ServerHttp2Session | undefined): Promise<void> {
  for (let count = 0; count < 2; count += 1) await new Promise((resolve) => session?.ping(resolve));
}
