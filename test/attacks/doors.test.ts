import { expect } from 'vitest';
import { chatEvent, reply, sse } from '../support/fake-provider.ts';
import { RawConnection } from '../server/support/raw-connection.ts';
import { TELL_FUNCTION, type Answer, type AttackedServer } from './support/attacked-server.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const FLAGS = ['--openai-api', '--mcp'];
const SETUP = { files: { 'main.svc': TELL_FUNCTION }, flags: FLAGS };

const MCP_HEADERS = { accept: 'application/json, text/event-stream' };

/** A way to call the function `Tell`: the body of a request with this text, and this beside it. */
interface Way {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (topic: unknown, more?: object) => object;
}

const CHAT: Way = {
  path: '/v1/chat/completions',
  headers: {},
  body: (content, more) => ({ model: 'Tell', messages: [{ role: 'user', content }], ...more }),
};
const RESPONSES: Way = {
  path: '/v1/responses',
  headers: {},
  body: (input, more) => ({ model: 'Tell', input, ...more }),
};
const MCP: Way = {
  path: '/mcp',
  headers: MCP_HEADERS,
  body: (topic, more) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'Tell', arguments: { topic }, ...more },
  }),
};
const WAYS = [CHAT, RESPONSES, MCP];

function ask(server: AttackedServer, way: Way, body: object): Promise<Answer> {
  return server.ask('POST', way.path, body, way.headers);
}

function rawRequest({ path, headers }: Way, body: string): string {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${own.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Sends a body as it is. Resolves with the status and the text of the answer. */
async function sendRaw(server: AttackedServer, way: Way, body: string): Promise<Answer> {
  const connection = server.connect();
  connection.write(rawRequest(way, body).replace('host:', 'connection: close\r\nhost:'));
  await connection.until(() => connection.closed);
  const text = connection.received.toString();
  return { status: Number(/^HTTP\/1\.1 (\d+)/u.exec(text)?.[1]), body: text.slice(text.indexOf('\r\n\r\n') + 4) };
}

const LARGE = 1_000_000;
const SHAPES: ReadonlyArray<readonly [string, string]> = [
  ['brackets', '['.repeat(LARGE)],
  ['objects in objects', '{"a":'.repeat(LARGE / 5)],
  ['a long number', `{"model":${'1'.repeat(300_000)}}`],
  ['many messages', JSON.stringify({ model: 'Tell', messages: Array.from({ length: 200_000 }, () => ({})) })],
  [
    'many parts',
    JSON.stringify({
      model: 'Tell',
      messages: [{ role: 'user', content: Array.from({ length: 100_000 }, () => ({ type: 'text', text: 'a' })) }],
    }),
  ],
  ['many fields', JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`field${at}`, at])))],
  [
    'a batch',
    JSON.stringify(Array.from({ length: 50_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))),
  ],
  ['a long name', JSON.stringify({ model: 'x'.repeat(LARGE), method: 'x'.repeat(LARGE), jsonrpc: '2.0', id: 1 })],
  ['no text', '\u0000'],
  ['half a surrogate', '{"model":"\\ud800","method":"\\ud800","jsonrpc":"2.0","id":"\\udfff"}'],
];

onBothTransports(
  'large and broken bodies of any shape get a short answer at each door, and other callers theirs',
  SETUP,
  async (server) => {
    server.model.answer(reply('fine'));
    for (const way of WAYS) {
      for (const [shape, body] of SHAPES) {
        const [attack, other] = await Promise.all([sendRaw(server, way, body), server.call('Tell', { topic: 'a' })]);
        const what = `${way.path}: ${shape}`;
        expect(other, what).toEqual({ status: 200, body: '"fine"' });
        expect(attack.status, what).toBeGreaterThanOrEqual(200);
        expect(attack.status, what).toBeLessThan(500);
        expect(attack.body.length, what).toBeLessThan(100_000);
      }
    }
    expect(server.output).not.toContain('a bug in the server');
  },
);

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];

onBothTransports('names of the prototype are names like any other at each door', SETUP, async (server) => {
  server.model.answer(reply('fine'));
  for (const name of NAMES) {
    const bodies: ReadonlyArray<readonly [Way, object]> = [
      [CHAT, CHAT.body('a', { model: name })],
      [RESPONSES, RESPONSES.body('a', { model: name })],
      [MCP, MCP.body('a', { name })],
      [MCP, { jsonrpc: '2.0', id: 1, method: name }],
      [CHAT, JSON.parse(`{"model":"Tell","svc_args":{"topic":"a","${name}":1}}`) as object],
      [CHAT, JSON.parse(`{"model":"Tell","messages":[{"role":"${name}","content":"a"}]}`) as object],
      [CHAT, CHAT.body([{ type: name, text: 'a' }])],
    ];
    for (const [way, body] of bodies) {
      const answer = await ask(server, way, body);
      expect(answer.status, `${way.path} ${JSON.stringify(body)}: ${answer.body}`).toBeLessThan(500);
      expect(answer.body, JSON.stringify(body)).not.toContain('"fine"');
    }
  }
  expect(server.output).not.toContain('a bug in the server');
});

const SECRET = 'svc-right-key-0123456789';

onBothTransports(
  'without the key, no door names a function or asks a model',
  { ...SETUP, env: { SVC_PASSWORD: SECRET } },
  async (server) => {
    server.model.answer(reply('fine'));
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-svc-api-key': 'wrong' }]) {
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const answers = [
        await server.ask('GET', '/v1/models', undefined, headers),
        await server.ask('GET', '/v1/models/Tell', undefined, headers),
        await server.ask('POST', MCP.path, list, { ...MCP_HEADERS, ...headers }),
        ...(await Promise.all(
          WAYS.map((way) => server.ask('POST', way.path, way.body('a'), { ...way.headers, ...headers })),
        )),
      ];
      for (const { status, body } of answers) {
        expect([401, 403]).toContain(status);
        expect(body).not.toContain('Tell');
      }
    }
    expect(server.model.requests).toHaveLength(0);
    for (const way of WAYS) {
      const right = { ...way.headers, authorization: `Bearer ${SECRET}` };
      expect((await server.ask('POST', way.path, way.body('a'), right)).status).toBe(200);
    }
  },
);

onBothTransports(
  'a page of another origin cannot use the doors of a server on loopback without a key',
  { ...SETUP, flags: [...FLAGS, '--host', '127.0.0.1'] },
  async (server) => {
    server.model.answer(reply('fine'));
    const foreign = { origin: 'https://attacker.example' };
    const answer = await server.ask('POST', MCP.path, MCP.body('a'), { ...MCP_HEADERS, ...foreign });
    expect(answer.status).toBe(403);
    const host = await server.ask('POST', MCP.path, MCP.body('a'), { ...MCP_HEADERS, host: 'attacker.example' });
    expect(host.status).toBe(403);
    expect(server.model.requests).toHaveLength(0);
  },
);

const READERS = 100;
const ANSWER = 200_000;

/** A streamed request of each door. */
const STREAMS: ReadonlyArray<readonly [Way, object]> = [
  [CHAT, CHAT.body('a', { stream: true })],
  [RESPONSES, RESPONSES.body('a', { stream: true })],
  [MCP, MCP.body('a', { _meta: { progressToken: 1 } })],
];

onBothTransports(
  '100 slow readers of large streams of each door get their ends, and other callers their answers',
  SETUP,
  async (server) => {
    for (const [way, body] of STREAMS) {
      server.model.clear();
      server.model.answer((request, wire) => {
        const light = request.body.includes('light');
        return reply(light ? 'light' : 'x'.repeat(ANSWER), { chunkSize: 100_000, delayMs: light ? 0 : 50 })(
          request,
          wire,
        );
      });
      const readers = Array.from({ length: READERS }, () => {
        const reader = new RawConnection(server.port);
        reader.socket.pause();
        reader.write(rawRequest(way, JSON.stringify(body)).replace('host:', 'connection: close\r\nhost:'));
        return reader;
      });
      await expect.poll(() => server.model.requests.length, { timeout: 30_000 }).toBe(READERS);
      expect(await server.call('Tell', { topic: 'light' })).toEqual({ status: 200, body: '"light"' });
      for (const { socket } of readers) socket.resume();
      await readers[0]?.until(() => readers.every(({ closed }) => closed));
      for (const { received } of readers) expect(received.length, way.path).toBeGreaterThan(ANSWER);
      for (const reader of readers) reader.end();
    }
  },
);

onBothTransports('callers who leave a door end the calls at the model', SETUP, async (server) => {
  server.model.answer(() => new Promise(() => undefined));
  const bodies: ReadonlyArray<readonly [Way, object]> = [
    ...WAYS.map((way) => [way, way.body('a')] as const),
    ...STREAMS,
  ];
  const callers = bodies.flatMap(([way, body]) =>
    Array.from({ length: 10 }, () => {
      const caller = new RawConnection(server.port);
      caller.write(rawRequest(way, JSON.stringify(body)));
      return caller;
    }),
  );
  await expect.poll(() => server.model.openSockets, { timeout: 30_000 }).toBe(callers.length);
  for (const { socket } of callers) socket.resetAndDestroy();
  await expect.poll(() => server.model.openSockets, { timeout: 30_000 }).toBe(0);
});

onBothTransports(
  'a stream of 5,000 deltas of one character takes each door about as long as its text, and ends',
  SETUP,
  async (server) => {
    const text = '"\\{[\u{1f600}é'.repeat(700);
    server.model.answer(
      sse([...[...text].map((content) => chatEvent({ content })), chatEvent({}, 'stop'), 'data: [DONE]\n\n']),
    );
    for (const [way, body] of STREAMS) {
      const { status, body: answer } = await sendRaw(server, way, JSON.stringify(body));
      expect(status, way.path).toBe(200);
      expect(answer, way.path).not.toMatch(/"isError":true|_error"/u);
      expect(answer.length, way.path).toBeGreaterThan(text.length);
    }
  },
);
