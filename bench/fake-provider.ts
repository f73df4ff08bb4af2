// Entry file: a model server that uses as little CPU as possible, in a process of its own. It serves OpenAI chat completions
// over raw sockets and prepares every answer at its start. It prints its port and serves until it is stopped.
//
// The path selects the answer: /<answer>/<burst|paced>/v1/chat/completions. `burst` sends the deltas of a stream at once,
// `paced` one per millisecond. The answers of `STAMPED_MS` are made for each call.
import { createServer, type AddressInfo, type Socket } from 'node:net';
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
  readonly events: readonly Buffer[];
  readonly burst: Buffer;
}

const replies = new Map<string, Reply>(ANSWER_NAMES.map((name) => [name, makeReply(answer(name).text)]));

function makeReply(text: string): Reply {
  const events = streamEvents(text);
  return { completion: completion(text), events, burst: Buffer.concat(events) };
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

function streamEvents(text: string): readonly Buffer[] {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
  const events = [head + httpChunk(event({ role: 'assistant', content: '' }, null))];
  for (let at = 0; at < text.length; at += DELTA_LENGTH) {
    events.push(httpChunk(event({ content: text.slice(at, at + DELTA_LENGTH) }, null)));
  }
  events.push(`${httpChunk(event({}, 'stop'))}${httpChunk('data: [DONE]\n\n')}0\r\n\r\n`);
  return events.map((part) => Buffer.from(part));
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
  socket.on('data', (data: Buffer) => requests.push(data));
}

function respond(socket: Socket, request: Buffer): void {
  const [, name = '', pace] = request.toString('latin1', 0, request.indexOf('\r')).split('/');
  const reply = replies.get(name);
  const delayMs = stampedDelays.get(name);
  if (delayMs !== undefined) sendStamped(socket, delayMs);
  else if (reply === undefined) socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
  else if (!request.includes(STREAM_FLAG)) socket.write(reply.completion);
  else if (pace === 'paced') sendPaced(socket, reply.events);
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

const server = createServer(serveSocket);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
