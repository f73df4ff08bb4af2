import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/**
 * A model provider for tests, on a free port of loopback. It writes HTTP to plain sockets, so that it can also
 * violate HTTP. The first matching rule determines its answer:
 *
 * 1. `script`: behaviours for the next requests, one each, in order;
 * 2. the first path segments `/x/<name>` of the URL: behaviours by name (`behaviours`), for use in a `base_url`;
 * 3. `answer`: the behaviour for all others.
 *
 * A behaviour is a function of the request and a `Wire` to write on; `reply`, `sse`, `status` and `raw` create the
 * usual ones. The provider records every complete request.
 */
export interface FakeProvider {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RecordedRequest[];
  /** Connections that are open now. */
  readonly openSockets: number;
  /** Requests whose answer is not complete. */
  readonly unanswered: number;
  /** Number of connections opened so far. */
  readonly connections: number;
  /** Requests whose client left before the answer was complete, with the time (`performance.now()`). */
  readonly abandoned: readonly { readonly path: string; readonly at: number }[];
  /** Behaviours for the next requests, one each. */
  script(...behaviours: readonly Behaviour[]): void;
  /** Sets the behaviour for every request that no other rule matches. */
  answer(behaviour: Behaviour): void;
  /** Sets the behaviour for all URLs under `/x/<name>`; returns that base URL. */
  at(name: string, behaviour: Behaviour): string;
  /** Forgets requests and scripts. */
  clear(): void;
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  readonly at: number;
}

export type Behaviour = (request: RecordedRequest, wire: Wire) => void | Promise<void>;

/** The connection of a request. A write to a closed connection does nothing. */
export interface Wire {
  write(data: string | Uint8Array): void;
  /** Writes the data repeatedly, as fast as the other side reads, until the connection ends. */
  flood(data: string | Uint8Array): Promise<void>;
  /** Closes the connection (FIN). */
  end(): void;
  /** Cuts the connection (RST). */
  reset(): void;
  readonly gone: boolean;
  /** Number of earlier requests on this connection. */
  readonly used: number;
}

export async function startFakeProvider(): Promise<FakeProvider> {
  const fake = new SocketProvider();
  await fake.listen();
  return fake;
}

/** Waits, for slow behaviours. When it resolves, this process has also read the data that had arrived for it. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => setImmediate(() => setImmediate(resolve)), ms);
  });
}

/** A status with a JSON (or text) body and headers. `content-length` is right unless `headers` contains another. */
export function status(code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Behaviour {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  const all = { 'content-type': type, 'content-length': String(Buffer.byteLength(text)), ...headers };
  return (_request, wire) => wire.write(`${head(code, all)}${text}`);
}

/** Writes these bytes unchanged. */
export function raw(...parts: readonly (string | Uint8Array)[]): Behaviour {
  return async (_request, wire) => {
    for (const part of parts) {
      wire.write(part);
      await sleep(2);
    }
  };
}

export interface ReplyOptions {
  /** Characters in each delta of a stream. */
  readonly chunkSize?: number;
  readonly delayMs?: number;
  /** Milliseconds before the first byte. */
  readonly latencyMs?: number;
  readonly finishReason?: string;
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** A chat completion with this text: whole, or as a stream if the request asks for one. */
export function reply(text: string, options: ReplyOptions = {}): Behaviour {
  return async (request, wire) => {
    if (options.latencyMs !== undefined) await sleep(options.latencyMs);
    if (!isStreamRequest(request)) {
      await status(200, chatCompletion(text, options))(request, wire);
      return;
    }
    wire.write(head(200, SSE_HEADERS));
    for (const event of chatEvents(text, options)) {
      if (wire.gone) return;
      wire.write(chunk(event));
      if (options.delayMs !== undefined) await sleep(options.delayMs);
    }
    wire.write(chunk(''));
  };
}

/** An event stream of exactly these bytes, in one HTTP chunk each, with a correct end. */
export function sse(chunks: readonly (string | Uint8Array)[], delayMs = 0): Behaviour {
  return async (_request, wire) => {
    wire.write(head(200, SSE_HEADERS));
    for (const bytes of chunks) {
      if (wire.gone) return;
      wire.write(chunk(bytes));
      if (delayMs > 0) await sleep(delayMs);
    }
    wire.write(chunk(''));
  };
}

/** The body of a whole chat completion. */
export function chatCompletion(text: string | null, options: ReplyOptions = {}): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'fake',
    choices: [
      { index: 0, message: { role: 'assistant', content: text }, finish_reason: options.finishReason ?? 'stop' },
    ],
    usage: { ...(options.usage ?? { prompt_tokens: 7, completion_tokens: 3 }), total_tokens: 10 },
  };
}

/** One `data:` event of a streamed chat completion. */
export function chatEvent(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake', choices })}\n\n`;
}

/** All events of a streamed chat completion, including `[DONE]`. */
export function chatEvents(text: string, options: ReplyOptions = {}): readonly string[] {
  const size = options.chunkSize ?? 4;
  const events = [chatEvent({ role: 'assistant', content: '' })];
  for (let at = 0; at < text.length; at += size) events.push(chatEvent({ content: text.slice(at, at + size) }));
  events.push(chatEvent({}, options.finishReason ?? 'stop'));
  const usage = options.usage ?? { prompt_tokens: 7, completion_tokens: 3 };
  events.push(`data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [], usage })}\n\n`, 'data: [DONE]\n\n');
  return events;
}

/** Status line and headers. */
export function head(code: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${code} Fake\r\n${lines.join('')}\r\n`;
}

/** One chunk of a chunked body; an empty chunk ends the body. */
export function chunk(data: string | Uint8Array): Uint8Array {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const SSE_HEADERS = { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' };

function isStreamRequest(request: RecordedRequest): boolean {
  return (
    typeof request.json === 'object' &&
    request.json !== null &&
    'stream' in request.json &&
    request.json.stream === true
  );
}

class SocketProvider implements FakeProvider {
  readonly #server: Server = createServer((socket) => this.#accept(socket));
  readonly #sockets = new Set<Socket>();
  readonly #behaviours = new Map<string, Behaviour>();
  readonly abandoned: Array<{ path: string; at: number }> = [];
  requests: RecordedRequest[] = [];
  connections = 0;
  unanswered = 0;
  #script: Behaviour[] = [];
  #fallback: Behaviour = reply('ok');

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  script(...behaviours: readonly Behaviour[]): void {
    this.#script.push(...behaviours);
  }

  answer(behaviour: Behaviour): void {
    this.#fallback = behaviour;
  }

  at(name: string, behaviour: Behaviour): string {
    this.#behaviours.set(name, behaviour);
    return `${this.url}/x/${name}`;
  }

  clear(): void {
    this.requests = [];
    this.#script = [];
    this.abandoned.length = 0;
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(socket: Socket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    const connection = new Connection(socket, (request, wire) => this.#handle(request, wire));
    socket.on('data', (data) => connection.data(data));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      const path = connection.unfinished;
      if (path !== undefined) this.abandoned.push({ path, at: performance.now() });
    });
  }

  async #handle(request: RecordedRequest, wire: Wire): Promise<void> {
    this.requests.push(request);
    const name = /^\/x\/([^/?]+)/u.exec(request.path)?.[1];
    const behaviour = this.#script.shift() ?? this.#behaviours.get(name ?? '') ?? this.#fallback;
    this.unanswered += 1;
    await behaviour(request, wire);
    this.unanswered -= 1;
  }
}

/** Reads and answers the requests of one connection, in order. */
class Connection {
  readonly #socket: Socket;
  readonly #handle: (request: RecordedRequest, wire: Wire) => Promise<void>;
  #bytes: Buffer = Buffer.alloc(0);
  #answered = 0;
  /** The path of the request whose answer is not complete. A request that the provider resets has its answer. */
  unfinished: string | undefined;

  constructor(socket: Socket, handle: (request: RecordedRequest, wire: Wire) => Promise<void>) {
    this.#socket = socket;
    this.#handle = handle;
  }

  data(data: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? data : Buffer.concat([this.#bytes, data]);
    const request = this.#take();
    if (request === undefined) return;
    this.unfinished = request.path;
    void this.#answer(request);
  }

  async #answer(request: RecordedRequest): Promise<void> {
    const reset = (): void => {
      this.unfinished = undefined;
      this.#socket.resetAndDestroy();
    };
    await this.#handle(request, wireOn(this.#socket, this.#answered, reset));
    this.#answered += 1;
    // The caller left. The request counts as abandoned once the socket emits `close`.
    if (this.#socket.destroyed) return;
    this.unfinished = undefined;
    if (this.#bytes.length > 0) this.data(Buffer.alloc(0));
  }

  #take(): RecordedRequest | undefined {
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#bytes.toString('latin1', 0, end).split('\r\n');
    const [method = '', path = ''] = first.split(' ');
    const headers: Record<string, string> = {};
    for (const line of lines)
      headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 1).trim();
    const length = Number(headers['content-length'] ?? 0);
    if (this.#bytes.length < end + 4 + length) return undefined;
    const body = this.#bytes.toString('utf8', end + 4, end + 4 + length);
    this.#bytes = this.#bytes.subarray(end + 4 + length);
    return { method, path, headers, body, json: parse(body), at: performance.now() };
  }
}

function wireOn(socket: Socket, used: number, reset: () => void): Wire {
  return {
    write: (data) => {
      if (!socket.destroyed) socket.write(data);
    },
    flood: (data) => flood(socket, data),
    end: () => {
      socket.end();
    },
    reset,
    get gone() {
      return socket.destroyed;
    },
    used,
  };
}

async function flood(socket: Socket, data: string | Uint8Array): Promise<void> {
  while (!socket.destroyed) {
    const room = socket.write(data);
    await (room ? sleep(0) : drained(socket));
  }
}

/** Resolves when the socket can accept more data, or is closed. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
