import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import { AUTHORITY_FILE, credentials } from '../../support/certificates.ts';
import { reply } from '../../support/fake-provider.ts';
import { sleep, type Behaviour } from '../../support/fake-wire.ts';
import type { Http2Wire } from '../../support/http2-connection.ts';
import { close, silence } from '../../support/fault-steps.ts';
import {
  dataFrame,
  ERROR,
  FLAG,
  FRAME,
  frame,
  goawayFrame,
  headersFrames,
  pushFrame,
  resetFrame,
  settingsFrame,
  windowFrame,
} from '../../support/http2-frames.ts';
import { waitUntil } from '../../support/load.ts';
import { runOnOwnClock } from '../../support/own-clock.ts';
import { startRequest, type RunningRequest, type Sending } from '../../support/running-request.ts';
import { TlsProvider, type Greeting } from '../../support/tls-provider.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const providers: TlsProvider[] = [];
let pools = new ConnectionPools({ SSL_CERT_FILE: AUTHORITY_FILE });

runOnOwnClock(() => providers.reduce((sum, { traffic }) => sum + traffic, 0));
afterEach(async () => {
  await pools.close();
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
  pools = new ConnectionPools({ SSL_CERT_FILE: AUTHORITY_FILE });
});

async function start(options: Parameters<typeof TlsProvider.start>[0] = {}): Promise<TlsProvider> {
  const provider = await TlsProvider.start(options);
  providers.push(provider);
  return provider;
}

function send(provider: Pick<TlsProvider, 'url'>, more: Sending & { readonly path?: string } = {}): RunningRequest {
  return startRequest(pools, provider.url, more);
}

function resets(code: number): Behaviour<Http2Wire> {
  return (_request, wire) => wire.inject(resetFrame(wire.streamId, code));
}

test('a fault of one stream leaves the other streams of its connection alone', async () => {
  const provider = await start();
  provider.answer(async (request, wire) => {
    if (request.path === '/reset') await resets(ERROR.INTERNAL_ERROR)(request, wire);
    else if (request.path === '/large') wire.head(200, { 'x-large': 'x'.repeat(64 * 1024) });
    else await reply('ok', { latencyMs: 20 })(request, wire);
  });
  // The first handshake of a process fails, because only the system trusts the authority.
  expect(await send(provider).done).toBe('end');
  const opened = provider.connections;
  const paths = ['/1', '/reset', '/2', '/large', '/3'];
  const ends = await Promise.all(paths.map((path) => send(provider, { path }).done));
  expect(ends.map((end) => end === 'end')).toEqual([true, false, true, false, true]);
  expect(provider.connections).toBe(opened);
});

/** GOAWAY of a server that does not state yet which requests it takes, and the end of the connection. */
const goAway: Behaviour<Http2Wire> = async (_request, wire) => {
  // Node would answer the GOAWAY of svc with one that states the last request.
  await wire.freeze();
  await wire.inject(goawayFrame(ERROR.NO_ERROR));
  await wire.end();
};

test.each<[string, Behaviour<Http2Wire>, Behaviour<Http2Wire>]>([
  ['that answered a request, and ends at the next request', reply('ok'), close],
  ['that answered a request, and ends with GOAWAY at the next request', reply('ok'), goAway],
  ['that only reset a stream, and ends at the next request', resets(ERROR.INTERNAL_ERROR), close],
])('a kept connection %s, had ended before', async (_name, first, end) => {
  const provider = await start();
  provider.script(first);
  await send(provider).done;
  provider.answer(end);
  const request = send(provider);
  // On the new connection, the end is the answer.
  expect(await request.done).toBe('network: the connection ended');
  expect(request.events).toEqual(['sent', 'resend', 'sent']);
});

test('a request that the provider answers with a violation is not sent again', async () => {
  const provider = await start();
  expect(await send(provider).done).toBe('end');
  provider.answer((_request, wire) => wire.inject(pushFrame(wire.streamId)));
  const request = send(provider);
  expect(await request.done).toMatch(/^network: Protocol error/u);
  expect(request.events).toEqual(['sent']);
});

test('a provider that ends every connection with GOAWAY gets five', async () => {
  const provider = await start();
  let count = 0;
  const leave: Greeting = (socket) => {
    count += 1;
    provider.greet(leave);
    socket.write(Buffer.concat([settingsFrame(), goawayFrame(ERROR.NO_ERROR, 0)]));
  };
  provider.greet(leave);
  expect(await send(provider).done).toBe('network: the connection ended, before it took a request');
  expect(count).toBe(5);
  count = 0;
  expect(await send(provider).done).toMatch(/^network: /u);
  expect(count).toBe(5);
});

test('after GOAWAY, silence ends no request', async () => {
  const provider = await start();
  const answers: (() => void)[] = [];
  provider.answer(async (request, wire) => {
    await wire.inject(goawayFrame(ERROR.NO_ERROR, wire.streamId));
    await new Promise<void>((resolve) => answers.push(resolve));
    await reply('ok')(request, wire);
  });
  const request = send(provider);
  await waitUntil('GOAWAY', () => answers.length === 1);
  await sleep(120_000);
  answers[0]?.();
  expect(await request.done).toBe('end');
});

test('an answer that ends before the server has read the request is complete, and the connection is kept', async () => {
  const server = createSecureServer({ ...credentials(), settings: { initialWindowSize: 10 } });
  const sessions = new Set<unknown>();
  server.on('session', (session) => sessions.add(session).size);
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    stream.end('early');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const provider = { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
  for (let count = 0; count < 3; count += 1) {
    const request = send(provider, { body: 'x'.repeat(1_000_000) });
    expect(await request.done).toBe('end');
    expect(request.text()).toBe('early');
  }
  expect(sessions.size).toBe(1);
  await pools.close();
  server.close();
});

test('small frames, padding, updates of windows, and data that no one reads are no flood', async () => {
  const provider = await start();
  const padded = Buffer.concat([Buffer.from([100]), Buffer.alloc(140, 'x')]);
  const smallFrames = (id: number): readonly Uint8Array[] => [
    frame(FRAME.data, FLAG.padded, id, padded),
    dataFrame(id, 'x'),
  ];
  provider.answer(async (request, wire) => {
    if (request.path === '/left') {
      wire.head(200, {});
      wire.body(Buffer.alloc(200_000));
      await silence(request, wire);
      return;
    }
    // As many updates as a server sends that takes 30 MB in frames of a kilobyte.
    const updates = Buffer.concat(Array.from({ length: 30_000 }, () => windowFrame(0, 1)));
    await wire.inject(headersFrames(wire.streamId, [[':status', '200']]), updates);
    const many = Buffer.concat(Array.from({ length: 100 }, () => smallFrames(wire.streamId)).flat());
    for (let sent = 0; sent < 50 && !wire.gone; sent += 1) {
      await wire.inject(many);
      await sleep(100);
    }
    await wire.inject(dataFrame(wire.streamId, '', FLAG.endStream));
  });
  const left = Array.from({ length: 10 }, () => send(provider, { path: '/left' }));
  const paused = Array.from({ length: 10 }, () => send(provider, { path: '/left', pauses: true }));
  const whole = send(provider);
  await waitUntil('the other streams', () => provider.requests.length === 21);
  for (const request of left) request.cancel();
  expect(await whole.done).toBe('end');
  for (const request of paused) request.cancel();
});

test('callers that leave reset their streams, and no others', async () => {
  const provider = await start();
  provider.answer((request, wire) =>
    (request.path === '/stays' ? reply('ok', { latencyMs: 200 }) : silence)(request, wire),
  );
  const leaving = Array.from({ length: 200 }, () => send(provider));
  const stays = send(provider, { path: '/stays' });
  await waitUntil('all requests', () => provider.requests.length === 201);
  for (const request of leaving) request.cancel();
  await waitUntil('the resets', () => provider.abandoned.length === 200);
  expect(await stays.done).toBe('end');
  expect(await send(provider, { path: '/stays' }).done).toBe('end');
  expect(provider.openSockets).toBe(1);
});

test.each<[string, Parameters<typeof TlsProvider.start>[0]]>([
  ['whose answers do not come', {}],
  ['whose bodies wait for the window', { settings: { initialWindowSize: 0 } }],
])('requests %s release their memory when their callers leave', async (_name, options) => {
  const provider = await start(options);
  provider.answer(silence);
  const [count, bodyBytes] = [100, 500_000];
  const before = usedHeap();
  const requests = Array.from({ length: count }, (_, index) =>
    send(provider, { path: `/${index}`, body: `${index}`.padEnd(bodyBytes, 'x') }),
  );
  await waitUntil('all requests', () => requests.every(({ events }) => events.includes('sent')));
  for (const request of requests.splice(0)) request.cancel();
  await waitUntil('the release of the memory', () => usedHeap() - before < (count * bodyBytes) / 10);
  expect(provider.openSockets).toBe(1);
});

/** Bytes of the heap and of buffers that are in use. */
function usedHeap(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
