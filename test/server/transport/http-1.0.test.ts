import { afterEach, expect, test } from 'vitest';
import type { RequestHandler } from '../../../src/server/http/transport.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { listenOn, type Listening } from '../support/transports.ts';

// nginx with nothing but `proxy_pass` sends HTTP/1.0 with `Connection: close`. Only node:http reads it.

let listening: Listening | undefined;
let connection: RawConnection | undefined;

afterEach(() => {
  connection?.end();
  listening?.transport.close();
});

const sendOk: RequestHandler = (request, response) => {
  request.readBody(1_000, (outcome) => {
    response.send(200, [], outcome.kind === 'body' ? Buffer.from(outcome.bytes).toString('utf8') : '');
  });
};

const stream: RequestHandler = (_, response) => {
  response.start(200, [['content-type', 'text/event-stream']], ':\n');
  response.write('data: 1\n\n');
  setImmediate(() => {
    response.write('data: 2\n\n');
    response.end();
  });
};

async function connectTo(handler: RequestHandler): Promise<RawConnection> {
  listening = await listenOn('node', handler);
  connection = new RawConnection(listening.port);
  return connection;
}

function head(method: string, ...lines: readonly string[]): string {
  return [`${method} / HTTP/1.0`, ...lines, '', ''].join('\r\n');
}

const KEPT = 'Connection: keep-alive';

/** The bytes after the headers of the only answer. */
function bodyOf({ text }: RawConnection): string {
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

test('a call has a length, and its answer ends the connection', async () => {
  const client = await connectTo(sendOk);
  client.write(`${head('POST', 'Content-Length: 2')}ab`);
  await client.until(() => client.closed);
  const { headers, body } = await client.answer();
  expect(body).toBe('ab');
  expect(headers.get('connection')).toBe('close');
  expect(headers.has('transfer-encoding')).toBe(false);
});

test.each([
  ['which asks for the end of the connection', []],
  ['which asks for a connection that stays', [KEPT]],
])('a stream for a client %s has no chunks and ends with the connection', async (_, lines) => {
  const client = await connectTo(stream);
  client.write(`${head('POST', 'Content-Length: 0', ...lines)}`);
  await client.until(() => client.closed);
  const { headers } = await client.answer();
  expect(bodyOf(client)).toBe('data: 1\n\ndata: 2\n\n');
  expect(headers.get('connection')).toBe('close');
  expect(headers.has('keep-alive')).toBe(false);
  expect(headers.has('transfer-encoding')).toBe(false);
});

test('a client that asks for it keeps its connection over calls and HEAD', async () => {
  const client = await connectTo((of, response) => {
    if (of.method === 'HEAD') response.send(200, [], 'ab');
    else sendOk(of, response);
  });
  client.write(`${head('POST', KEPT, 'Content-Length: 2')}ab`);
  const first = await client.answer();
  expect(first.headers.get('connection')).toBe('keep-alive');
  client.write(`${head('POST', KEPT, 'Content-Length: 2')}cd`);
  expect((await client.answer(1)).body).toBe('cd');
  client.write(head('HEAD', KEPT));
  await client.until(() => client.answers(false).length >= 3);
  expect(client.text.endsWith('\r\n\r\n')).toBe(true);
  client.write(`${head('POST', 'Content-Length: 2')}ef`);
  await client.until(() => client.closed);
  expect(client.text.endsWith('ef')).toBe(true);
});

test('the answer to HEAD ends the connection and has no body', async () => {
  const client = await connectTo((_, response) => response.send(200, [], 'ab'));
  client.write(head('HEAD'));
  await client.until(() => client.closed);
  expect(bodyOf(client)).toBe('');
  expect(client.answers(false)[0]?.headers.get('connection')).toBe('close');
});

test('an answer without content keeps the connection only if the client asks for it', async () => {
  const client = await connectTo((_, response) => response.send(204, [], undefined));
  client.write(head('OPTIONS', KEPT));
  expect((await client.answer()).headers.get('connection')).toBe('keep-alive');
  client.write(head('OPTIONS'));
  await client.until(() => client.closed);
  expect((await client.answer(1)).headers.get('connection')).toBe('close');
});

test('a client that waits for 100-continue gets no interim answer, which HTTP/1.0 does not have', async () => {
  const client = await connectTo(sendOk);
  client.write(head('POST', 'Expect: 100-continue', 'Content-Length: 2'));
  client.write('ab');
  await client.until(() => client.closed);
  expect(client.text).not.toContain('100 Continue');
  expect((await client.answer()).body).toBe('ab');
});
