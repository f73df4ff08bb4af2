// Entry file: a model server that takes its time, in a process of its own and with as little CPU as possible. It serves OpenAI chat
// completions over plaintext HTTP/1.1, and over TLS with HTTP/2 or HTTP/1.1 by ALPN. `/call/…` answers after a second,
// `/stream/…` sends 54 deltas, 20 ms apart, each of which contains the time at which it was sent.
//
// It prints the port of its control server, which returns a `ModelState` and begins to count peaks again.
import { readFileSync } from 'node:fs';
import { createServer as createControl } from 'node:http';
import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createSecure, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { answer } from '../answers.ts';
import { HttpRequests } from '../http-requests.ts';
import { DELTA_EVERY_MS, deltaText, DELTAS, sharedNow } from './delta-stamps.ts';

/** What the control server returns. */
export interface ModelState {
  readonly plainPort: number;
  readonly securePort: number;
  /** The most connections that were open at once since the last question, and those over HTTP/2. */
  readonly connections: number;
  readonly http2: number;
}

const DELAY_MS = 1000;
/** The streams that usual servers allow in one connection. */
const MAX_STREAMS = 100;
const CERTIFICATES = fileURLToPath(new URL('../../../test/runtime/model/certificates', import.meta.url));

const COMPLETION = completion(answer('Small').text);
const WHOLE = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${COMPLETION.length}\r\n\r\n${COMPLETION}`,
);
const STREAM_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const WHOLE_HEADERS = { ':status': 200, 'content-type': 'application/json', 'content-length': COMPLETION.length };
const STREAM_HEADERS = { ':status': 200, 'content-type': 'text/event-stream' };

function completion(text: string): string {
  const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 };
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices,
    usage,
  });
}

const EVENT_HEAD =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":';

/** The event of delta `index` of a stream, sent now. */
function deltaEvent(index: number): string {
  const content = JSON.stringify(deltaText(index, sharedNow()));
  return `${EVENT_HEAD}{"content":${content}},"finish_reason":null}]}\n\n`;
}

const LAST_EVENTS = `${EVENT_HEAD}{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

/** Sends the deltas by the clock: a late timer catches up. */
function sendDeltas(send: (events: string, isLast: boolean) => void): void {
  const begin = performance.now();
  let sent = 0;
  const next = (): void => {
    const due = Math.min(DELTAS, Math.floor((performance.now() - begin) / DELTA_EVERY_MS));
    let events = '';
    for (; sent < due; sent += 1) events += deltaEvent(sent);
    if (sent === DELTAS) events += LAST_EVENTS;
    if (events !== '') send(events, sent === DELTAS);
    if (sent < DELTAS) setTimeout(next, begin + (sent + 1) * DELTA_EVERY_MS - performance.now());
  };
  setTimeout(next, DELTA_EVERY_MS);
}

const open = { all: 0, http2: 0 };
const peak = { all: 0, http2: 0 };

function count(socket: Socket, kind: keyof typeof open): void {
  open[kind] += 1;
  peak[kind] = Math.max(peak[kind], open[kind]);
  socket.once('close', () => (open[kind] -= 1));
}

function servePlain(socket: Socket): void {
  count(socket, 'all');
  const requests = new HttpRequests((request) => answerPlain(socket, isStream(request.toString('latin1', 0, 20))));
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: Buffer) => requests.push(data));
}

function isStream(text: string): boolean {
  return text.includes('/stream/');
}

function answerPlain(socket: Socket, streamed: boolean): void {
  if (!streamed) {
    setTimeout(() => socket.write(WHOLE), DELAY_MS);
    return;
  }
  socket.write(STREAM_HEAD);
  sendDeltas((events, isLast) => {
    socket.write(`${events.length.toString(16)}\r\n${events}\r\n${isLast ? '0\r\n\r\n' : ''}`, 'latin1');
  });
}

function serveSecure(socket: TLSSocket): void {
  if (socket.alpnProtocol !== 'h2') {
    servePlain(socket);
    return;
  }
  count(socket, 'all');
  count(socket, 'http2');
  socket.setNoDelay(true);
  const session: ServerHttp2Session = performServerHandshake(socket, {
    settings: { maxConcurrentStreams: MAX_STREAMS },
  });
  session.on('error', () => session.destroy());
  session.on('stream', (stream, headers) => {
    stream.on('error', () => stream.destroy());
    // A response must not end before the body of its request.
    stream.on('end', () => answerHttp2(stream, isStream(headers[':path'] ?? '')));
    stream.resume();
  });
}

function answerHttp2(stream: ServerHttp2Stream, streamed: boolean): void {
  if (!streamed) {
    setTimeout(() => {
      if (stream.destroyed) return;
      stream.respond(WHOLE_HEADERS);
      stream.end(COMPLETION);
    }, DELAY_MS);
    return;
  }
  stream.respond(STREAM_HEADERS);
  sendDeltas((events, isLast) => {
    if (stream.destroyed) return;
    if (isLast) stream.end(events);
    else stream.write(events);
  });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, resolve));
  return (server.address() as AddressInfo).port;
}

const file = (name: string): Buffer => readFileSync(join(CERTIFICATES, name));
const tls = { key: file('localhost-key.pem'), cert: file('localhost.pem'), ALPNProtocols: ['h2', 'http/1.1'] };
const plainPort = await listen(createServer(servePlain));
const securePort = await listen(createSecure(tls, serveSecure));
const control = createControl((_request, response) => {
  const state: ModelState = { plainPort, securePort, connections: peak.all, http2: peak.http2 };
  Object.assign(peak, { ...open });
  response.end(JSON.stringify(state));
});
process.stdout.write(`${await listen(control)}\n`);
