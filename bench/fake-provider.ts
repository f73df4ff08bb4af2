// Entry file: a model server that uses as little CPU as possible, in a process of its own. It serves OpenAI chat completions
// over raw sockets and prepares every answer at its start. It prints its port, where it speaks plaintext HTTP/1.1, and HTTP/2 over
// TLS for streams, and serves until it is stopped.
//
// The path selects the answer: /<answer>/<burst|single|paced>/v1/chat/completions. `burst` sends the deltas of a stream in one write,
// `single` each in a write of its own as soon as possible, as HTTP/2 always does, and `paced` one per millisecond. The answers of `STAMPED_MS` are made for each call.
import { readFileSync } from 'node:fs';
import { performServerHandshake, type ServerHttp2Stream } from 'node:http2';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createSecure, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { ANSWER_NAMES, answer, STAMPED_MS, stampedText } from './answers.ts';
import { HttpRequests } from './http-requests.ts';
import { sharedNow, stampOf } from './in-flight/delta-stamps.ts';

/** Characters in one delta: about one token. */
const DELTA_LENGTH = 4;
const STREAM_FLAG = Buffer.from('"stream":true');

interface Reply {
  /** A whole HTTP response. */
  readonly completion: Buffer;
  /** HTTP chunks, one for each server-sent event; the first also contains the response head, the last one the end. */
  readonly chunks: readonly Buffer[];
  readonly burst: Buffer;
  /** Server-sent events. */
  readonly events: readonly string[];
}

const replies = new Map<string, Reply>(ANSWER_NAMES.map((name) => [name, makeReply(answer(name).text)]));

function makeReply(text: string): Reply {
  const events = streamEvents(text);
  const chunks = httpChunks(events);
  return { completion: completion(text), events, chunks, burst: Buffer.concat(chunks) };
}

function completion(text: string): Buffer {
  const body = JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'bench-model',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 },
  });
  const length = Buffer.byteLength(body);
  return Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`);
}

function streamEvents(text: string): readonly string[] {
  const events = [event({ role: 'assistant', content: '' }, null)];
  for (let at = 0; at < text.length; at += DELTA_LENGTH)
    events.push(event({ content: text.slice(at, at + DELTA_LENGTH) }, null));
  events.push(event({}, 'stop'), 'data: [DONE]\n\n');
  return events;
}

function httpChunks(events: readonly string[]): readonly Buffer[] {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
  return events.map((text, index) => {
    const end = index === events.length - 1 ? '0\r\n\r\n' : '';
    return Buffer.from(`${index === 0 ? head : ''}${httpChunk(text)}${end}`);
  });
}

function event(delta: Readonly<Record<string, string>>, finishReason: string | null): string {
  const chunk = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'bench-model',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function httpChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** Reads requests from one socket, and answers each as soon as its body is complete. */
function serveSocket(socket: Socket): void {
  const requests = new HttpRequests((request) => respond(socket, request));
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.once('data', (data: Buffer) => {
    if (data[0] === TLS_HANDSHAKE) {
      socket.pause();
      socket.unshift(data);
      secure.emit('connection', socket);
      return;
    }
    requests.push(data);
    socket.on('data', (more: Buffer) => requests.push(more));
  });
}

function respond(socket: Socket, request: Buffer): void {
  const [, name = '', pace] = request.toString('latin1', 0, request.indexOf('\r')).split('/');
  const reply = replies.get(name);
  const delayMs = stampedDelays.get(name);
  if (delayMs !== undefined) sendStamped(socket, delayMs);
  else if (reply === undefined) socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
  else if (!request.includes(STREAM_FLAG)) socket.write(reply.completion);
  else if (pace === 'paced') sendPaced(socket, reply.chunks);
  else if (pace === 'single') sendSingly(socket, reply.chunks);
  else socket.write(reply.burst);
}

const stampedDelays = new Map<string, number>(Object.entries(STAMPED_MS));
const NO_STAMPS = `${stampOf(0)}${stampOf(0)}`;
const [STAMPED_HEAD = '', STAMPED_END = ''] = completion(stampedText(NO_STAMPS)).toString().split(NO_STAMPS);

/** An answer with the time of the request, which is now, and the time at which the answer is sent. */
function sendStamped(socket: Socket, delayMs: number): void {
  const begin = stampOf(sharedNow());
  const send = (): boolean => socket.write(`${STAMPED_HEAD}${begin}${stampOf(sharedNow())}${STAMPED_END}`, 'latin1');
  if (delayMs === 0) send();
  else setTimeout(send, delayMs);
}

/** One chunk in each turn of the event loop, as fast as the reader accepts them. */
function sendSingly(socket: Socket, chunks: readonly Buffer[]): void {
  let sent = 0;
  const next = (): void => {
    if (socket.destroyed) return;
    const isAccepted = socket.write(chunks[sent] ?? '');
    sent += 1;
    if (sent === chunks.length) return;
    if (isAccepted) setImmediate(next);
    else socket.once('drain', next);
  };
  next();
}

/** One event per millisecond by the clock: a late timer catches up. */
function sendPaced(socket: Socket, events: readonly Buffer[]): void {
  const begin = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(events.length, Math.floor(performance.now() - begin));
    for (; sent < due; sent += 1) socket.write(events[sent] ?? '');
    if (sent === events.length || socket.destroyed) clearInterval(timer);
  }, 1);
}

/** The first byte of a TLS connection. */
const TLS_HANDSHAKE = 22;

const CERTIFICATES = fileURLToPath(new URL('../../test/runtime/model/certificates', import.meta.url));
const file = (name: string): Buffer => readFileSync(join(CERTIFICATES, name));
const secure = createSecure(
  { key: file('localhost-key.pem'), cert: file('localhost.pem'), ALPNProtocols: ['h2'] },
  serveHttp2,
);

function serveHttp2(socket: TLSSocket): void {
  const session = performServerHandshake(socket);
  session.on('error', () => session.destroy());
  session.on('stream', (stream, headers) => {
    const reply = replies.get(headers[':path']?.split('/')[1] ?? '');
    stream.on('error', () => stream.destroy());
    stream.on('end', () => reply !== undefined && sendFrames(stream, reply.events));
    stream.resume();
  });
}

/** One DATA frame for each event: a write that begins after the end of the last one. */
function sendFrames(stream: ServerHttp2Stream, events: readonly string[]): void {
  let sent = 0;
  stream.respond({ ':status': 200, 'content-type': 'text/event-stream' });
  const next = (): void => {
    if (stream.destroyed) return;
    const text = events[sent];
    sent += 1;
    if (text === undefined) stream.end();
    else stream.write(text, next);
  };
  next();
}

const server = createServer(serveSocket);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
