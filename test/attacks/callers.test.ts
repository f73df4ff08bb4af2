import { expect } from 'vitest';
import { RawConnection, type RawAnswer } from '../server/support/raw-connection.ts';
import { reply } from '../support/fake-provider.ts';
import { onBothTransports } from './support/on-both-transports.ts';
import type { Answer, AttackedServer } from './support/attacked-server.ts';

const MB = 1_000_000;

const FILES = {
  'main.svc': `
client<llm> Model {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
  }
}
client<llm> Offline {
  provider offline
}
function Text() -> string {
  client Model
  prompt #"x"#
}
function Numbers() -> int[] {
  client Model
  prompt #"x"#
}
function Hi(name: string) -> string {
  client Offline
  prompt #"Say hi to {{ name }}"#
}`,
};

/** A second address of this machine: another caller. */
const OTHER = '127.0.0.2';

/** Options with a client that leads to the server's own model, at an address that the definition files do not name. */
function leadingTo(server: AttackedServer): object {
  const options = { base_url: server.model.url.replace('127.0.0.1', 'localhost'), api_key: 'k' };
  return { client_registry: { primary: 'Mine', clients: [{ name: 'Mine', provider: 'openai-generic', options }] } };
}

/** Sends a call on a connection of its own, from this address, and leaves it open. */
function sendCall(server: AttackedServer, name: string, body: unknown, from?: string): RawConnection {
  const text = JSON.stringify(body);
  const connection = new RawConnection(server.port, from);
  const head = ['host: localhost', 'content-type: application/json', `content-length: ${Buffer.byteLength(text)}`];
  connection.write(`POST /call/${name} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${text}`);
  return connection;
}

async function answersOf(connections: readonly RawConnection[]): Promise<readonly RawAnswer[]> {
  const answers = await Promise.all(connections.map((connection) => connection.answer()));
  for (const connection of connections) connection.end();
  return answers;
}

const PROXY_HEADERS =
  'forwarded via x-forwarded-for x-forwarded-proto x-real-ip true-client-ip x-client-ip cf-connecting-ip ' +
  'x-cluster-client-ip client-ip fly-client-ip x-azure-clientip x-envoy-peer';

/** Headers that the page of an attacker, and proxies of several vendors, send for a foreign caller. */
const FOREIGN: ReadonlyArray<Readonly<Record<string, string>>> = [
  { host: 'attacker.example', origin: 'http://attacker.example' },
  { host: 'attacker.example' },
  { origin: 'http://attacker.example' },
  { origin: 'null' },
  ...PROXY_HEADERS.split(' ').map((name) => ({ [name]: '8.8.8.8' })),
];

onBothTransports(
  'a foreign Host, a foreign Origin and forwarding headers of any vendor end the trust in a local caller',
  { files: FILES, flags: ['--trust-loopback'] },
  async (server) => {
    server.model.answer(reply('reached'));
    const body = { svc_options: leadingTo(server) };
    expect(await server.call('Text', body)).toEqual({ status: 200, body: '"reached"' });
    for (const headers of FOREIGN) {
      expect((await server.call('Text', body, headers)).status, JSON.stringify(headers)).toBe(400);
    }
    expect(server.model.requests).toHaveLength(1);
  },
);

onBothTransports('by default, no caller on this machine reaches loopback', { files: FILES }, async (server) => {
  server.model.answer(reply('reached'));
  const answer = await server.call('Text', { svc_options: leadingTo(server) });
  expect([answer.status, server.model.requests.length]).toEqual([400, 0]);
});

onBothTransports(
  '200 hanging calls with their own client leave the other slots to other callers and to ordinary calls',
  { files: FILES, flags: ['--allow-private-urls', '--max-in-flight', '64', '--max-queue', '64'] },
  async (server) => {
    server.model.answer(() => new Promise(() => undefined));
    const body = { svc_options: leadingTo(server) };
    const hanging = Array.from({ length: 200 }, () => sendCall(server, 'Text', body));
    // Of 32 slots and 32 queue positions, each of two workers gives one caller a quarter of its part.
    await hanging[0]?.until(() => hanging.filter(({ received }) => received.length > 0).length >= 184);
    await hanging[0]?.until(() => server.model.unanswered === 16);
    const refused = hanging.filter(({ received }) => received.length > 0).map((one) => one.answers()[0]);
    for (const answer of refused) expect(answer).toMatchObject({ status: 503 });
    expect(refused[0]?.body).toContain('--caller-share 25%');
    const ordinary = Array.from({ length: 30 }, (_, n) =>
      sendCall(server, 'Hi', { name: `${n}` }, n % 2 ? OTHER : undefined),
    );
    for (const { status } of await answersOf(ordinary)) expect(status).toBe(200);
    for (const connection of hanging) connection.end();
    await hanging[0]?.until(() => server.model.openSockets === 0);
  },
);

onBothTransports(
  '60 stalled bodies of 5 MB from one address leave room for the bodies of another',
  { files: FILES },
  async (server) => {
    const head =
      'POST /call/Hi HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9000000\r\n\r\n';
    const stalled = Array.from({ length: 60 }, () => new RawConnection(server.port));
    for (const connection of stalled) connection.write(head + ' '.repeat(5 * MB));
    await stalled[0]?.until(() => stalled.every(({ socket }) => socket.writableLength === 0));
    const bodies = Array.from({ length: 4 }, () => sendCall(server, 'Hi', { name: 'x'.repeat(5 * MB) }, OTHER));
    for (const { status } of await answersOf(bodies)) expect(status).toBe(200);
    for (const connection of stalled) connection.end();
    expect(server.peakMemory).toBeLessThan(400);
  },
);

onBothTransports(
  '600 wrong keys at once get few answers, and the right key of the same address gets its answer at once',
  { files: FILES, env: { SVC_PASSWORD: 'the right key' } },
  async (server) => {
    const guesses = Array.from({ length: 600 }, (_, guess) => {
      const connection = new RawConnection(server.port);
      connection.write(`GET /openapi.json HTTP/1.1\r\nhost: x\r\nx-svc-api-key: guess ${guess}\r\n\r\n`);
      return connection;
    });
    // In each of two workers, 3 are answered at once, 64 wait, and svc cuts the others.
    await guesses[0]?.until(() => guesses.filter(({ closed }) => closed).length >= 600 - 2 * (64 + 3 + 16));
    const right = await server.ask('GET', '/openapi.json', undefined, { 'x-svc-api-key': 'the right key' });
    expect(right.status).toBe(200);
    expect(guesses.filter(({ received }) => received.length > 0).length).toBeLessThanOrEqual(2 * (64 + 3 + 16));
    for (const connection of guesses) connection.end();
  },
);

/** Twelve replies with this text at once. */
async function flood(server: AttackedServer, name: string, text: string): Promise<readonly Answer[]> {
  server.model.answer(reply(text));
  return Promise.all(Array.from({ length: 12 }, () => server.call(name, {})));
}

onBothTransports(
  '12 replies of 60 MB at once leave the workers alive and under 1 GB; those beyond the limit fail and state it',
  { files: FILES },
  async (server) => {
    const answers = await flood(server, 'Text', 'x'.repeat(60 * MB));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 502]));
    const failed = answers.filter(({ status }) => status === 502);
    for (const { body } of failed) expect(body).toMatch(/"client_error".*at most 64 MiB of replies at once/u);
    expect(failed.length).toBeLessThan(12);
    await flood(server, 'Numbers', `[${'12345,'.repeat(10 * MB)}1]`);
    expect(server.peakMemory).toBeLessThan(1_000);
  },
);

onBothTransports(
  '12 replies of 7 MB at once stay within a memory limit of 256 MB for each worker',
  { files: FILES, flags: ['--max-worker-memory', '256MiB'] },
  async (server) => {
    const answers = await flood(server, 'Text', 'x'.repeat(7 * MB));
    for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
      expect([status, body]).toEqual([502, expect.stringContaining('at most 8 MiB of replies at once')]);
    }
    expect(server.peakMemory).toBeLessThan(256);
  },
);
