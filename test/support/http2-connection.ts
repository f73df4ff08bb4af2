import { performServerHandshake } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream, Settings } from 'node:http2';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { setTimeout as realSleep } from 'node:timers/promises';
import {
  drained,
  parsed,
  type AnswerWire,
  type ConnectionOwner,
  type Headers,
  type RecordedRequest,
} from './fake-wire.ts';

/** The stream of a request over HTTP/2. */
export interface Http2Wire extends AnswerWire {
  readonly streamId: number;
  /** Writes bytes between the frames of the server: after those of all earlier methods. */
  inject(...bytes: readonly Uint8Array[]): Promise<void>;
  /** From now on, nothing arrives at the server, and nothing leaves it. */
  freeze(): Promise<void>;
}

/** Reads the requests of a connection, and returns its session. Node reads the frames and answers settings and pings. */
export function answerHttp2(
  socket: TLSSocket,
  { cut, settings }: { readonly cut: () => void; readonly settings: Settings },
  owner: ConnectionOwner<Http2Wire>,
): ServerHttp2Session {
  const relay = new Relay(socket);
  const session = performServerHandshake(relay, { settings, maxSendHeaderBlockLength: 10_000_000 });
  session.on('error', () => {});
  session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    let body = '';
    stream
      .setEncoding('utf8')
      .on('error', () => {})
      .on('data', (text: string) => (body += text))
      .on('end', () => {
        if (!stream.destroyed) void answer(requestOf(headers, body), new Http2StreamWire(stream, relay, cut), owner);
      });
  });
  return session;
}

async function answer(
  request: RecordedRequest,
  wire: Http2StreamWire,
  owner: ConnectionOwner<Http2Wire>,
): Promise<void> {
  let isAnswered = false;
  wire.stream.on('close', () => {
    if (!isAnswered && !wire.isCut) owner.left(request.path);
  });
  await owner.handle(request, wire);
  // A request whose stream is closed counts once the stream emits `close`.
  if (!wire.gone) isAnswered = true;
}

function requestOf(headers: IncomingHttpHeaders, body: string): RecordedRequest {
  const { ':method': method = '', ':path': path = '', ...all } = headers;
  const fields = Object.entries(all).filter(([name]) => !name.startsWith(':'));
  const texts = fields.map(([name, value]) => [name, String(value)]);
  return { method, path, headers: Object.fromEntries(texts), body, json: parsed(body), at: performance.now() };
}

/** Passes bytes between a connection and Node's HTTP/2, so that others can be written between them. */
class Relay extends Duplex {
  readonly socket: TLSSocket;
  #isFrozen = false;

  constructor(socket: TLSSocket) {
    super();
    this.socket = socket;
    socket
      .on('data', (data) => {
        if (!this.#isFrozen && !this.push(data)) socket.pause();
      })
      .on('end', () => this.push(null))
      .on('close', () => this.destroy());
  }

  override _read(): void {
    if (!this.#isFrozen) this.socket.resume();
  }

  override _write(data: Uint8Array, _encoding: string, done: () => void): void {
    if (this.#isFrozen) return;
    if (this.socket.writable) this.socket.write(data, () => done());
    else done();
  }

  override _final(done: () => void): void {
    this.socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  freeze(): void {
    this.#isFrozen = true;
    // Otherwise, the end of the connection would not arrive either.
    this.socket.resume();
  }

  /** Resolves when Node has written everything that it can write. */
  async flushed(): Promise<void> {
    for (let quiet = 0; quiet < 3 && !this.destroyed && !this.#isFrozen; quiet += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      if (this.writableLength > 0) quiet = 0;
    }
  }
}

class Http2StreamWire implements Http2Wire {
  readonly stream: ServerHttp2Stream;
  readonly streamId: number;
  readonly #relay: Relay;
  readonly #cut: () => void;
  #trailers: Headers = {};
  /** The provider ended the connection. */
  isCut = false;

  constructor(stream: ServerHttp2Stream, relay: Relay, cut: () => void) {
    this.stream = stream;
    this.streamId = stream.id ?? 0;
    this.#relay = relay;
    this.#cut = cut;
  }

  get gone(): boolean {
    return this.stream.destroyed || this.#relay.socket.destroyed;
  }

  interim(code: number, headers: Headers = {}): void {
    if (!this.gone) this.stream.additionalHeaders({ ':status': code, ...headers });
  }

  head(code: number, headers: Headers): void {
    if (this.gone) return;
    this.stream.respond({ ':status': code, ...headers }, { waitForTrailers: true });
    this.stream.on('wantTrailers', () => this.stream.sendTrailers(this.#trailers));
  }

  body(data: string | Uint8Array): void {
    if (!this.gone && this.stream.writable) this.stream.write(data);
  }

  finish(trailers: Headers = {}): void {
    this.#trailers = trailers;
    if (!this.gone) this.stream.end();
  }

  async flood(step: () => void | Promise<void>): Promise<void> {
    while (!this.gone) {
      await step();
      await (this.stream.writableNeedDrain ? drained(this.stream) : realSleep(0));
    }
  }

  async inject(...bytes: readonly Uint8Array[]): Promise<void> {
    await this.#relay.flushed();
    const { socket } = this.#relay;
    if (!socket.writable) return;
    socket.write(Buffer.concat(bytes));
    if (socket.writableNeedDrain) await drained(socket);
  }

  async freeze(): Promise<void> {
    await this.#relay.flushed();
    this.#relay.freeze();
  }

  async end(): Promise<void> {
    await this.#relay.flushed();
    this.#relay.socket.end();
  }

  async reset(): Promise<void> {
    this.isCut = true;
    await this.#relay.flushed();
    this.#cut();
  }
}
