import type { Socket } from 'node:net';
import { setTimeout as realSleep } from 'node:timers/promises';
import { drained, parsed, type ConnectionOwner, type RecordedRequest, type Wire } from './fake-wire.ts';

/** Reads the requests of a connection, and answers them in order. `cut` ends the connection with a reset. */
export function answerHttp1(socket: Socket, cut: () => void, owner: ConnectionOwner<Wire>): void {
  const connection = new Connection(socket, cut, owner);
  socket.on('data', (data) => connection.data(data));
  socket.on('close', () => connection.closed());
}

class Connection {
  readonly #socket: Socket;
  readonly #cut: () => void;
  readonly #owner: ConnectionOwner<Wire>;
  #bytes: Buffer = Buffer.alloc(0);
  /** The path of the request whose answer is not complete. A request that the provider resets has its answer. */
  #unfinished: string | undefined;

  constructor(socket: Socket, cut: () => void, owner: ConnectionOwner<Wire>) {
    this.#socket = socket;
    this.#cut = cut;
    this.#owner = owner;
  }

  data(data: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? data : Buffer.concat([this.#bytes, data]);
    const request = this.#take();
    if (request === undefined) return;
    this.#unfinished = request.path;
    void this.#answer(request);
  }

  closed(): void {
    if (this.#unfinished !== undefined) this.#owner.left(this.#unfinished);
  }

  async #answer(request: RecordedRequest): Promise<void> {
    const reset = (): void => {
      this.#unfinished = undefined;
      this.#cut();
    };
    await this.#owner.handle(request, new Http1Wire(this.#socket, reset));
    // The caller left. The request counts as abandoned once the socket emits `close`.
    if (this.#socket.destroyed) return;
    this.#unfinished = undefined;
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
    return { method, path, headers, body, json: parsed(body), at: performance.now() };
  }
}

class Http1Wire implements Wire {
  readonly #socket: Socket;
  readonly reset: () => void;
  #isChunked = false;

  constructor(socket: Socket, reset: () => void) {
    this.#socket = socket;
    this.reset = reset;
  }

  get gone(): boolean {
    return this.#socket.destroyed;
  }

  write(data: string | Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(data);
  }

  interim(code: number, headers: Readonly<Record<string, string>> = {}): void {
    this.write(head(code, headers));
  }

  head(code: number, headers: Readonly<Record<string, string>>): void {
    const framing = headers['transfer-encoding'] ?? headers['content-length'];
    this.#isChunked = framing === 'chunked' || (framing === undefined && code !== 204);
    // The beginning of the body follows in the same packet.
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
    this.write(head(code, this.#isChunked ? { ...headers, 'transfer-encoding': 'chunked' } : headers));
  }

  body(data: string | Uint8Array): void {
    if (data.length > 0) this.write(this.#isChunked ? chunk(data) : data);
  }

  finish(trailers: Readonly<Record<string, string>> = {}): void {
    if (this.#isChunked) this.write(`0\r\n${headerLines(trailers)}\r\n`);
  }

  async flood(step: () => void | Promise<void>): Promise<void> {
    while (!this.gone) {
      await step();
      await (this.#socket.writableNeedDrain ? drained(this.#socket) : realSleep(0));
    }
  }

  end(): void {
    this.#socket.end();
  }
}

/** Status line and headers. */
export function head(code: number, headers: Readonly<Record<string, string>>): string {
  return `HTTP/1.1 ${code} Fake\r\n${headerLines(headers)}\r\n`;
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** One chunk of a chunked body; an empty chunk ends the body. */
export function chunk(data: string | Uint8Array): Uint8Array {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
