import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { inOwnTurn } from '../../../base/own-turn.ts';
import { INTERNAL_PROBLEM, type Problem, problem, TOO_MANY_CONNECTIONS } from '../problem.ts';
import { hasNoContent, type HeaderList, headerValue, statusLine } from '../response-head.ts';
import type {
  Answer,
  BodyOutcome,
  HttpRequest,
  HttpResponse,
  RejectedRequest,
  RequestHeader,
  Transport,
  TransportOptions,
} from '../transport.ts';
import { Framing, LIBRARY_MAX_HEAD_BYTES, METHOD_NOT_IMPLEMENTED } from './framing.ts';
import { isLarge, TransportState, type UnreadAnswer } from './transport-state.ts';
import { addressOf, isLoopbackAddress } from '../local-caller.ts';
import type { Swept } from '../sweep.ts';
import { BodyReader } from './body-reader.ts';

/** A request whose headers take longer than this is answered with 408. */
const HEADERS_MS = 10_000;

/** node:http: for platforms without a binary of uWebSockets.js, and for balancers that pool connections for a long time. */
export class NodeTransport implements Transport {
  readonly name = 'node';
  readonly #options: TransportOptions;
  readonly #state: TransportState;
  readonly #server: Server;
  readonly #connections = new Map<Socket, NodeConnection>();

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#state = new TransportState(options);
    const listener = (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#connections.get(incoming.socket)?.take({ incoming, outgoing });
    this.#server = createServer({ ...SERVER_OPTIONS, keepAliveTimeout: keepAliveOf(options) }, listener);
    this.#server.maxConnections = options.closeAbove;
    // An expectation other than 100-continue: RFC 9110, 10.1.1 allows servers to ignore it.
    this.#server.on('checkExpectation', listener);
    this.#server.on('connection', (socket) => this.#track(socket));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#rejectSocket(error, socket));
    this.#server.on('connect', (_: IncomingMessage, socket: Socket) =>
      this.#refuseSocket(socket, METHOD_NOT_IMPLEMENTED),
    );
  }

  async listen(host: string, port: number): Promise<number> {
    const shared = await this.#options.sharedPort?.(host, port);
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(shared ?? { ...OWN_SOCKET, host, port }, () => {
        this.#server.off('error', reject);
        const address: AddressInfo | string | null = this.#server.address();
        resolve(address === null || typeof address === 'string' ? port : address.port);
      });
    });
  }

  get connections(): number {
    return this.#connections.size;
  }

  get unsentAnswers(): number {
    return this.#state.unread.size;
  }

  stopAccepting(): void {
    // In a separate turn, which accepts the connections in the queue first. The close method of node:http would cut idle
    // connections too, on which a request can be on its way.
    setImmediate(() => NetServer.prototype.close.call(this.#server));
  }

  finishConnections(): void {
    this.#state.finishing = true;
  }

  handOver(count: number): void {
    this.#state.handOvers = count;
  }

  close(): void {
    this.#state.finishing = true;
    this.#state.bodies.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #track(socket: Socket): void {
    this.#connections.set(socket, new NodeConnection(socket, this.#run));
    socket.once('close', () => this.#connections.delete(socket));
  }

  readonly #run = (native: NativeExchange, connection: NodeConnection): NodeExchange => {
    const exchange = new NodeExchange(this.#state, native, connection);
    try {
      const { httpVersion, url = '/' } = native.incoming;
      const fault = exchange.framing.check(exchange.method, httpVersion) ?? targetFault(exchange.method, url);
      if (fault !== undefined) this.#distrust(connection, exchange, fault);
      else if (this.connections > this.#options.maxConnections)
        exchange.reject(TOO_MANY_CONNECTIONS, { requestId: exchange.header('x-request-id') });
      else this.#handle(exchange);
    } catch (error) {
      exchange.crashed(error);
    }
    return exchange;
  };

  #handle(exchange: NodeExchange): void {
    this.#options.handler(exchange, exchange);
    exchange.openBody();
  }

  /** Nothing that follows a request with broken framing can be trusted. */
  #distrust(connection: NodeConnection, exchange: NodeExchange, fault: Problem): void {
    connection.stop();
    exchange.reject(fault);
  }

  /** Answers a request that the parser of node:http did not accept. */
  #rejectSocket(error: NodeJS.ErrnoException, socket: Socket): void {
    // Data behind a request that ends its connection: the answer to that request closes it.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else this.#refuseSocket(socket, parserProblem(error.code));
  }

  #refuseSocket(socket: Socket, of: Problem): void {
    const connection = this.#connections.get(socket);
    // The client would read this as the answer to the running request.
    if (connection?.awaitsAnswer === true) socket.destroy();
    else if (connection?.stopped === true) socket.destroySoon();
    else {
      connection?.stop();
      this.#answerSocket(socket, of);
    }
  }

  /** Writes an answer to a socket that node:http has released. */
  #answerSocket(socket: Socket, of: Problem): void {
    // Without a listener, an error of the socket would end the process.
    socket.on('error', () => socket.destroy());
    const { status, headers, body } = this.#options.reject(of);
    const bytes = Buffer.from(body ?? '');
    const lines = [`HTTP/1.1 ${statusLine(status)}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
    lines.push(`Content-Length: ${bytes.length}`, 'Connection: close', '', '');
    socket.end(Buffer.concat([Buffer.from(lines.join('\r\n')), bytes]));
    socket.destroySoon();
  }
}

/** A transport that shares its port with no other process: without this, the primary of node:cluster would accept for it. */
const OWN_SOCKET = { exclusive: true };

/**
 * The gateway should close an idle connection first: if svc did, the next call could meet the end of the connection. 10 s more
 * than Caddy keeps its connections; nginx, Varnish, Squid and the load balancers of AWS keep theirs for one minute.
 */
const KEEP_ALIVE_MS = 130_000;

function keepAliveOf({ keepAliveTimeoutMs = KEEP_ALIVE_MS }: TransportOptions): number {
  return keepAliveTimeoutMs;
}

const SERVER_OPTIONS = {
  maxHeaderSize: LIBRARY_MAX_HEAD_BYTES,
  headersTimeout: HEADERS_MS,
  // Bodies have their own time limits.
  requestTimeout: 0,
  connectionsCheckingInterval: 1_000,
  // Checked with the rest of the framing, so that both transports give the same answer.
  requireHostHeader: false,
};

function targetFault(method: string, target: string): Problem | undefined {
  return isTarget(method, target)
    ? undefined
    : problem('bad_request', 'The target of the request is neither a path nor an absolute URL.');
}

const HEADERS_TOO_LARGE = `The headers of the request are larger than ${LIBRARY_MAX_HEAD_BYTES / 1024} KB.`;

/** The problem behind an error code of the parser. */
function parserProblem(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return problem('headers_too_large', HEADERS_TOO_LARGE);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return problem('request_timeout', 'The headers did not arrive in time.');
  if (code === 'HPE_INVALID_METHOD') return METHOD_NOT_IMPLEMENTED;
  return problem('bad_request', 'The request is not valid HTTP.');
}

/** A request as node:http reports it. */
export interface NativeExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** A running request. */
interface Running {
  /** True if the request has arrived completely and its answer is outstanding. */
  readonly awaitsAnswer: boolean;
}

type Run = (native: NativeExchange, connection: NodeConnection) => Running;

/**
 * The most requests of one connection that wait for earlier answers, and the most that svc discards. Clients that pipeline
 * keep about ten requests in flight, and each one takes about 20 KB.
 */
const MAX_WAITING = 16;

/**
 * Runs the requests of one connection one after another. node:http emits pipelined requests at the same time, and reports the
 * end of the connection to the first one only: all of them would run, and all but one would not notice that the client left.
 */
export class NodeConnection {
  readonly #socket: Socket;
  readonly #run: Run;
  readonly #waiting: NativeExchange[] = [];
  #current: Running | undefined;
  /** No further request runs after the waiting ones. */
  #stopped = false;
  #discarded = 0;

  constructor(socket: Socket, run: Run) {
    this.#socket = socket;
    this.#run = run;
  }

  /** True while a request with a complete body is running: data that arrives does not belong to it. */
  get awaitsAnswer(): boolean {
    return this.#current?.awaitsAnswer ?? false;
  }

  /** Runs the request, now or after those before it. */
  take(native: NativeExchange): void {
    if (this.#stopped) this.#discard(native);
    else if (this.#current === undefined) this.#begin(native);
    else if (this.#waiting.length < MAX_WAITING && isBuffered(native.incoming)) this.#waiting.push(native);
    else {
      this.#stopped = true;
      this.#discard(native);
    }
  }

  /** Runs no further request, because the bytes that follow cannot be trusted. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.length = 0;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Call this when the answer was sent or the client left. `isLast`: the answer ends the connection. */
  ended(isLast: boolean): void {
    this.#current = undefined;
    if (isLast || this.#socket.destroyed) this.stop();
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
    else if (this.#stopped) this.#socket.destroySoon();
  }

  #begin(native: NativeExchange): void {
    this.#current = this.#run(native, this);
  }

  /** Keeps reading, because the end of the connection follows these bytes. Limited, because node:http keeps each request. */
  #discard({ incoming }: NativeExchange): void {
    incoming.resume();
    this.#discarded += 1;
    if (this.#discarded > MAX_WAITING) this.#socket.destroy();
  }
}

/** A larger body would pause the connection and hide its end. */
function isBuffered(incoming: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = incoming.headers;
  return encoding === undefined && Number(length) < incoming.readableHighWaterMark;
}

/** A client that accepts nothing of a complete answer for this long is cut. */
const STALLED_ANSWER_MS = 30_000;

/** A request and its response on node:http. */
export class NodeExchange implements HttpRequest, HttpResponse, Swept, UnreadAnswer {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly framing: Framing;
  readonly #state: TransportState;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #body: BodyReader;
  setIndex = -1;
  #closed = false;
  #closing = false;
  #started = false;
  #answer: Answer | undefined;
  #abortListener: (() => void) | undefined;
  unreadBytes = 0;

  constructor(state: TransportState, { incoming, outgoing }: NativeExchange, connection: NodeConnection) {
    this.#state = state;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    outgoing.on('close', () => {
      this.#answerEnded();
      connection.ended(!outgoing.shouldKeepAlive);
    });
    this.method = incoming.method ?? '';
    const target = pathOf(incoming.url ?? '/');
    const mark = target.indexOf('?');
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    this.framing = new Framing(target.length);
    readHeaders(incoming.rawHeaders, this.framing);
    this.#body = new BodyReader(this.framing.hasBody, state.options, this);
  }

  /** Starts to read the body. To be called after the handler: without its `readBody`, the bytes are discarded. */
  openBody(): void {
    if (this.framing.chunked) this.#closing = true;
    if (this.#body.complete || this.#closed) {
      this.#incoming.resume();
      return;
    }
    this.#state.bodies.add(this);
    this.#incoming.on('data', (chunk: Buffer) => this.#takeBody(chunk, false));
    this.#incoming.on('end', () => this.#takeBody(new Uint8Array(0), true));
  }

  get host(): string {
    return this.framing.host;
  }

  get hasBody(): boolean {
    return this.framing.hasBody;
  }

  header(name: RequestHeader): string | undefined {
    return this.framing.header(name);
  }

  get local(): boolean {
    return this.framing.namesThisMachine && isLoopbackAddress(this.peer);
  }

  get peer(): string {
    return addressOf(this.#incoming.socket.remoteAddress ?? '');
  }

  readBody(limit: number, done: (outcome: BodyOutcome) => void): void {
    this.#body.read(limit, done);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** True if the request has arrived completely and its answer is outstanding. */
  get awaitsAnswer(): boolean {
    return this.#body.complete && !this.#closed;
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void {
    if (this.#closed || this.#answer !== undefined || this.#started) return;
    this.#answer = { status, headers, body };
    if (!this.#body.complete) return;
    if (isLarge(body)) inOwnTurn(() => this.#writeAnswer());
    else this.#writeAnswer();
  }

  /** Answers an exception of the handler. */
  crashed(error: unknown): void {
    this.reject(INTERNAL_PROBLEM, { requestId: this.header('x-request-id'), error });
  }

  /** Answers at once and ends the connection, whatever remains of the body. */
  reject(of: Problem, request?: RejectedRequest): void {
    const answer = this.#state.options.reject(of, request);
    this.#closing = true;
    this.#answer = undefined;
    this.#body.complete = true;
    this.send(answer.status, answer.headers, answer.body);
  }

  start(status: number, headers: HeaderList): void {
    if (this.#closed || this.#answer !== undefined || this.#started) return;
    this.#started = true;
    // HTTP/1.0 has no chunks: the end of the connection is the end of the stream.
    if (this.#incoming.httpVersion === '1.0') this.#closing = true;
    this.#outgoing.writeHead(status, this.#flatHeaders(headers));
    this.#outgoing.flushHeaders();
  }

  write(chunk: string): boolean {
    return !this.#closed && this.#started && this.#outgoing.write(chunk);
  }

  end(): void {
    if (this.#closed || !this.#started) return;
    this.#closed = true;
    this.#finish(undefined);
  }

  onDrain(listener: (empty: boolean) => void): void {
    this.#outgoing.on('drain', () => listener(true));
  }

  /** The requests of a connection run one after another. */
  whenAlone(): boolean {
    return !this.#closed;
  }

  /** node:http has no such timer. */
  keepWaiting(): void {}

  onAborted(listener: () => void): void {
    this.#abortListener = listener;
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#state.bodies.delete(this);
    // Destroying a complete message would leave the connection open.
    this.#incoming.socket.destroy();
  }

  sweep(now: number): void {
    if (!this.#body.isLate(now)) return;
    this.#state.bodies.delete(this);
    this.#closing = true;
    this.#body.timeOut();
    if (this.#answer !== undefined) this.#writeAnswer();
  }

  #writeAnswer(): void {
    const answer = this.#answer;
    if (answer === undefined || this.#closed) return;
    this.#closed = true;
    // Otherwise, a client that reads nothing would keep the request and its answer in memory.
    this.#abortListener = undefined;
    this.#answer = undefined;
    const headOnly = this.method === 'HEAD' || hasNoContent(answer.status);
    const body = headOnly ? undefined : (answer.body ?? '');
    const headers = this.#flatHeaders(answer.headers);
    if (body !== undefined) headers.push('Content-Length', String(Buffer.byteLength(body)));
    this.#outgoing.writeHead(answer.status, headers);
    this.#finish(body);
  }

  #finish(body: string | Uint8Array | undefined): void {
    if (body === undefined) this.#outgoing.end();
    else this.#outgoing.end(body);
    const { socket } = this.#incoming;
    if (this.#outgoing.writableFinished || socket.writableLength === 0) return;
    this.#state.bodies.delete(this);
    if (typeof body === 'string') this.unreadBytes = socket.writableLength;
    const cut = () => this.cut();
    socket.setTimeout(STALLED_ANSWER_MS, cut);
    // Before the listener of node:http, which sets the keep-alive timeout.
    this.#outgoing.prependOnceListener('finish', () => socket.off('timeout', cut).setTimeout(0));
    this.#state.unread.add(this);
  }

  cut(): void {
    this.#incoming.socket.destroy();
  }

  #flatHeaders(headers: HeaderList): string[] {
    const flat: string[] = [];
    for (const [name, value] of headers) flat.push(name, headerValue(value));
    if (this.#closing || this.#state.finishing || this.#state.takeHandOver()) {
      this.#outgoing.shouldKeepAlive = false;
      flat.push('Connection', 'close');
    } else if (this.#outgoing.shouldKeepAlive) flat.push('Connection', 'keep-alive', 'Keep-Alive', this.#keepAlive());
    return flat;
  }

  /** Half of the real timeout: the next request of a client must not meet the end of the connection. */
  #keepAlive(): string {
    return `timeout=${Math.max(1, Math.floor(keepAliveOf(this.#state.options) / 2000))}`;
  }

  #takeBody(chunk: Uint8Array, isLast: boolean): void {
    if (this.#closed || this.#body.complete) return;
    try {
      const progress = this.#body.push(chunk, isLast);
      if (progress === 'overflow') this.destroy();
      if (progress === 'more') return;
    } catch (error) {
      this.crashed(error);
    }
    this.#state.bodies.delete(this);
    if (this.#answer !== undefined) this.#writeAnswer();
  }

  /** Called when the answer was sent or the client left. */
  #answerEnded(): void {
    this.#state.unread.delete(this);
    if (this.#closed) return;
    this.#closed = true;
    this.#state.bodies.delete(this);
    this.#body.aborted();
    this.#abortListener?.();
  }
}

function readHeaders(raw: readonly string[], framing: Framing): void {
  for (let index = 0; index + 1 < raw.length; index += 2) {
    framing.take((raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '');
  }
}

/** RFC 9112, 3.2: a path, the absolute form, or `*` for OPTIONS. */
function isTarget(method: string, target: string): boolean {
  return target.startsWith('/') || /^https?:\/\//i.test(target) || (target === '*' && method === 'OPTIONS');
}

/** RFC 9112, 3.2.2: a server must accept the absolute form, which repeats the host. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const match = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  const path = match?.[1] ?? '';
  return path.startsWith('/') ? path : `/${path}`;
}
