import { Agent, request } from 'node:http';
import { expect } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { TELL_FUNCTION, type AttackedServer } from './support/attacked-server.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const BUNDLE = '/docs/swagger-ui-bundle.js';

/** Workers need about 90 MB when they are idle. */
const MODEST_MB = 250;

const LARGE_REPLY = 'x'.repeat(4_000_000);

onBothTransports('3,000 HEADs of pages leave the workers under 250 MB', {}, async (server) => {
  for (const path of [BUNDLE, '/openapi.json', '/metrics', '/nope']) {
    await atOnce(30, () => repeated(25, () => statusOf(server, 'HEAD', path)));
  }
  expect(server.peakMemory).toBeLessThan(MODEST_MB);
});

onBothTransports('600 GETs of the plain bundle leave the workers under 300 MB', {}, async (server) => {
  await atOnce(30, () => repeated(20, () => statusOf(server, 'GET', BUNDLE)));
  expect(server.peakMemory).toBeLessThan(300);
});

onBothTransports('1,600 GETs of the bundle that no one reads leave the workers under 250 MB', {}, async (server) => {
  for (let opened = 0; opened < 1_600; opened += 1) {
    const connection = server.connect();
    connection.socket.pause();
    connection.write(`GET ${BUNDLE} HTTP/1.1\r\nHost: x\r\n\r\n`);
  }
  for (let asked = 0; asked < 50; asked += 1) expect((await server.ask('GET', BUNDLE)).status).toBe(200);
  expect(server.peakMemory).toBeLessThan(MODEST_MB);
});

onBothTransports(
  'requests on connections that read nothing leave the workers under 250 MB: pages, errors, and answers without a body',
  {},
  async (server) => {
    const requests = ['GET /docs', 'GET /openapi.json', 'GET /nope', 'HEAD /docs', 'GET /metrics', `GET ${BUNDLE}`];
    for (const line of requests) {
      const connections = Array.from({ length: 8 }, () => server.connect());
      for (const connection of connections) connection.socket.pause();
      for (let round = 0; round < 1_500; round += 1) {
        for (const { socket } of connections)
          if (!socket.destroyed) socket.write(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
        // Makes the requests arrive one by one.
        await server.ask('GET', '/livez');
      }
      for (const connection of connections) connection.end();
    }
    expect(server.peakMemory).toBeLessThan(MODEST_MB);
  },
);

onBothTransports(
  '100 answers of 4 MB that no one reads leave the workers under 500 MB, and other callers get theirs',
  { files: { 'main.svc': TELL_FUNCTION } },
  async (server) => {
    server.model.answer(reply(LARGE_REPLY));
    const body = '{"topic":"a"}';
    const head = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
    for (let opened = 0; opened < 100; opened += 1) {
      const connection = server.connect();
      connection.socket.pause();
      connection.write(`POST /call/Tell HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}`);
      // Limits the attack to the answers: the replies of the model do not arrive at the same time.
      await expect.poll(() => server.model.requests.length).toBe(opened + 1);
    }
    // The kernel accepts such an answer up to its last bytes, which must not get lost when the connection ends after it.
    for (let asked = 0; asked < 40; asked += 1) {
      const answer = await server.call('Tell', { topic: 'b' });
      expect([answer.status, answer.body.length]).toEqual([200, LARGE_REPLY.length + 2]);
    }
    expect(server.peakMemory).toBeLessThan(500);
  },
);

onBothTransports(
  'a reader that accepts nothing of a cached stream holds up no equal call: its value is there with the reply of the model',
  {
    files: { 'main.svc': TELL_FUNCTION.replace('model large', 'model large\n    cache { ttl "10m" }') },
    flags: ['--cache'],
  },
  async (server) => {
    server.model.answer(reply(LARGE_REPLY.repeat(2), { chunkSize: 100_000, delayMs: 50 }));
    const body = '{"topic":"a"}';
    const head = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
    const reader = server.connect();
    reader.socket.pause();
    reader.write(`POST /stream/Tell HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}`);
    await expect.poll(() => server.model.requests.length).toBe(1);
    const answer = await server.call('Tell', { topic: 'a' });
    expect([answer.status, answer.body.length]).toEqual([200, 2 * LARGE_REPLY.length + 2]);
    expect(server.model.requests).toHaveLength(1);
  },
);

async function atOnce(count: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, work));
}

async function repeated(count: number, work: () => Promise<number>): Promise<void> {
  for (let done = 0; done < count; done += 1) expect([200, 404]).toContain(await work());
}

const agent = new Agent({ keepAlive: true, maxSockets: 30 });

/** Asks without `accept-encoding`, so that pages come in their plain form. */
function statusOf(server: AttackedServer, method: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end();
  });
}
