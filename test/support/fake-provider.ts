import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import {
  sleep,
  type Answer,
  type AnswerWire,
  type Behaviour,
  type ConnectionOwner,
  type Headers,
  type RecordedRequest,
  type Wire,
} from './fake-wire.ts';
import { answerHttp1 } from './http1-connection.ts';

/**
 * A model provider for tests, on a free port of loopback. The first matching rule determines its answer:
 *
 * 1. `script`: behaviours for the next requests, one each, in order;
 * 2. the first path segments `/x/<name>` of the URL: behaviours by name (`behaviours`), for use in a `base_url`;
 * 3. `answer`: the behaviour for all others.
 *
 * A behaviour is a function of the request and a wire to write on; `reply`, `sse` and `status` create the usual ones for
 * every version of HTTP. The wire of a version has more than that, so that a provider can also violate HTTP. The provider
 * records every complete request.
 */
export interface FakeProvider<W extends AnswerWire = Wire> {
  /** `http://127.0.0.1:<port>`, or with https. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RecordedRequest[];
  /** Connections that are open now. */
  readonly openSockets: number;
  /** Requests whose answer is not complete. */
  readonly unanswered: number;
  /** Bytes read and written so far, and connections. */
  readonly traffic: number;
  /** Number of connections opened so far. */
  readonly connections: number;
  /** Requests whose client left before the answer was complete, with the time (`performance.now()`). */
  readonly abandoned: readonly { readonly path: string; readonly at: number }[];
  /** Behaviours for the next requests, one each. */
  script(...behaviours: ReadonlyArray<Behaviour<W>>): void;
  /** Sets the behaviour for every request that no other rule matches. */
  answer(behaviour: Behaviour<W>): void;
  /** Sets the behaviour for all URLs under `/x/<name>`; returns that base URL. */
  at(name: string, behaviour: Behaviour<W>): string;
  /** Forgets requests and scripts. */
  clear(): void;
  /** Cuts all connections. */
  resetConnections(): void;
  close(): Promise<void>;
}

/** A provider that speaks HTTP/1.1 without TLS. */
export async function startFakeProvider(): Promise<FakeProvider> {
  const fake = new PlainProvider('http');
  await fake.listen();
  return fake;
}

/** A status with a JSON (or text) body and headers. `content-length` is right unless `headers` contains another. */
export function status(code: number, body: unknown, headers: Headers = {}): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  const all = { 'content-type': type, 'content-length': String(Buffer.byteLength(text)), ...headers };
  return (_request, wire) => {
    wire.head(code, all);
    wire.body(text);
    wire.finish();
  };
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
  readonly reasoning?: string;
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** A chat completion with this text: whole, or as a stream if the request asks for one. */
export function reply(text: string, options: ReplyOptions = {}): Answer {
  return async (request, wire) => {
    if (options.latencyMs !== undefined) await sleep(options.latencyMs);
    if (isStreamRequest(request)) await sse(chatEvents(text, options), options.delayMs)(request, wire);
    else await status(200, chatCompletion(text, options))(request, wire);
  };
}

/** An event stream of exactly these bytes, in one part each, with a correct end. */
export function sse(parts: ReadonlyArray<string | Uint8Array>, delayMs = 0): Answer {
  return async (_request, wire) => {
    wire.head(200, { 'content-type': 'text/event-stream' });
    for (const bytes of parts) {
      if (wire.gone) return;
      wire.body(bytes);
      if (delayMs > 0) await sleep(delayMs);
    }
    wire.finish();
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
      {
        index: 0,
        message: { role: 'assistant', content: text, reasoning_content: options.reasoning },
        finish_reason: options.finishReason ?? 'stop',
      },
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
  if (options.reasoning !== undefined) events.push(chatEvent({ reasoning_content: options.reasoning }));
  for (let at = 0; at < text.length; at += size) events.push(chatEvent({ content: text.slice(at, at + size) }));
  events.push(chatEvent({}, options.finishReason ?? 'stop'));
  const usage = options.usage ?? { prompt_tokens: 7, completion_tokens: 3 };
  events.push(`data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [], usage })}\n\n`, 'data: [DONE]\n\n');
  return events;
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

/** A provider on loopback. */
export abstract class LoopbackProvider<W extends AnswerWire> implements FakeProvider<W>, ConnectionOwner<W> {
  readonly #scheme: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #behaviours = new Map<string, Behaviour<W>>();
  readonly abandoned: Array<{ path: string; at: number }> = [];
  requests: RecordedRequest[] = [];
  connections = 0;
  unanswered = 0;
  #endedTraffic = 0;
  #script: Array<Behaviour<W>> = [];
  #fallback: Behaviour<W> = reply('ok');

  constructor(scheme: 'http' | 'https') {
    this.#scheme = scheme;
    this.#server = createServer((socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#endedTraffic += trafficOf(socket);
      });
      this.accept(socket);
    });
  }

  /** Reads the requests of a connection, and answers them. */
  protected abstract accept(socket: Socket): void;

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  get traffic(): number {
    return [...this.#sockets].reduce((sum, socket) => sum + trafficOf(socket), this.#endedTraffic + this.connections);
  }

  listen(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  script(...behaviours: ReadonlyArray<Behaviour<W>>): void {
    this.#script.push(...behaviours);
  }

  answer(behaviour: Behaviour<W>): void {
    this.#fallback = behaviour;
  }

  at(name: string, behaviour: Behaviour<W>): string {
    this.#behaviours.set(name, behaviour);
    return `${this.url}/x/${name}`;
  }

  clear(): void {
    this.requests = [];
    this.#script = [];
    this.abandoned.length = 0;
  }

  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  async handle(request: RecordedRequest, wire: W): Promise<void> {
    this.requests.push(request);
    const name = /^\/x\/([^/?]+)/u.exec(request.path)?.[1];
    const behaviour = this.#script.shift() ?? this.#behaviours.get(name ?? '') ?? this.#fallback;
    this.unanswered += 1;
    await behaviour(request, wire);
    this.unanswered -= 1;
  }

  left(path: string): void {
    this.abandoned.push({ path, at: performance.now() });
  }
}

function trafficOf(socket: Socket): number {
  return socket.bytesRead + socket.bytesWritten;
}

class PlainProvider extends LoopbackProvider<Wire> {
  protected override accept(socket: Socket): void {
    answerHttp1(socket, () => socket.resetAndDestroy(), this);
  }
}
