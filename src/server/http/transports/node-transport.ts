import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import type { Answer, Refusal, Transport, TransportOptions } from '../transport.ts';
import { BodyWatch } from './body-reader.ts';
import type { ExchangeHost } from './exchange-host.ts';
import { LIBRARY_MAX_HEAD_BYTES } from './framing.ts';
import { LeavingAnswers } from './leaving-answers.ts';
import { NodeExchange } from './node-exchange.ts';
import { statusLine } from './status-line.ts';

/** A request whose headers take longer than this is answered 408. */
const HEADERS_MS = 10_000;

/** node:http: for platforms without a binary of uWebSockets.js, and for balancers that pool connections for long. */
export class NodeTransport implements Transport, ExchangeHost {
  readonly name = 'node';
  readonly options: TransportOptions;
  readonly bodies = new BodyWatch();
  readonly leavingAnswers = new LeavingAnswers();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections on which something was refused for its framing: what follows on them is not to be believed. */
  readonly #distrusted = new WeakSet<Socket>();
  #finishing = false;

  constructor(options: TransportOptions) {
    this.options = options;
    const listener = (incoming: IncomingMessage, outgoing: ServerResponse) => this.#dispatch(incoming, outgoing);
    this.#server = createServer({ ...SERVER_OPTIONS, keepAliveTimeout: options.keepAliveTimeoutMs }, listener);
    this.#server.maxConnections = options.closeAbove;
    // Any other expectation than 100-continue: RFC 9110, 10.1.1 allows to ignore it.
    this.#server.on('checkExpectation', listener);
    this.#server.on('connection', (socket) => this.#track(socket));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.#refuse(error, socket));
    this.#server.on('connect', (_: IncomingMessage, socket: Socket) => this.#write(socket, 'not-implemented'));
  }

  async listen(host: string, port: number): Promise<number> {
    const shared = await this.options.sharedPort?.(host, port);
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
    return this.#sockets.size;
  }

  get leaving(): number {
    return this.leavingAnswers.count;
  }

  get finishing(): boolean {
    return this.#finishing;
  }

  stopAccepting(): void {
    // On a turn of its own: what waits in the queue was accepted before. And the close of node:http would cut idle
    // connections, on which a request may be on its way.
    setImmediate(() => NetServer.prototype.close.call(this.#server));
  }

  finishConnections(): void {
    this.#finishing = true;
  }

  close(): void {
    this.#finishing = true;
    this.bodies.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #dispatch(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (this.#distrusted.has(incoming.socket)) return;
    const exchange = new NodeExchange(this, incoming, outgoing);
    try {
      const fault = exchange.framing.check(exchange.method, incoming.httpVersion === '1.0');
      if (fault !== undefined) this.#distrust(incoming, exchange, this.options.refuse(fault.refusal, fault.detail));
      else if (this.connections > this.options.maxConnections)
        exchange.refuse(this.options.refuse('too-many', '', { requestId: exchange.header('x-request-id') }));
      else this.#handle(exchange);
    } catch (error) {
      exchange.crashed(error);
    }
  }

  #handle(exchange: NodeExchange): void {
    this.options.handler(exchange, exchange);
    exchange.openBody();
  }

  #distrust(incoming: IncomingMessage, exchange: NodeExchange, answer: Answer): void {
    this.#distrusted.add(incoming.socket);
    exchange.refuse(answer);
  }

  /** What the parser of node:http itself did not take. */
  #refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    // Behind a request that ends its connection: that one's answer is on its way, and closes it.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    // A distrusted connection has its answer already.
    if (this.#distrusted.has(socket)) socket.destroySoon();
    else if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else this.#write(socket, refusalOf(error.code));
  }

  /** Of a socket that node:http let go of, nobody else would hear the errors. */
  #write(socket: Socket, refusal: ParserRefusal): void {
    socket.on('error', () => socket.destroy());
    const { status, headers, body } = this.options.refuse(refusal, REFUSAL_DETAIL[refusal]);
    const bytes = Buffer.from(body ?? '');
    const lines = [`HTTP/1.1 ${statusLine(status)}`, ...headers.map(([name, value]) => `${name}: ${value}`)];
    lines.push(`Content-Length: ${bytes.length}`, 'Connection: close', '', '');
    socket.end(Buffer.concat([Buffer.from(lines.join('\r\n')), bytes]));
    socket.destroySoon();
  }
}

/** What node:http refuses before there is a request. */
type ParserRefusal = Exclude<Refusal, 'too-many' | 'crashed'>;

/** Of a transport that shares its port with no other process: not by way of the primary of node:cluster, which would accept for it. */
const OWN_SOCKET = { exclusive: true };

const REFUSAL_DETAIL: Readonly<Record<ParserRefusal, string>> = {
  malformed: 'The request is not valid HTTP.',
  'not-implemented': 'This method is not supported.',
  'headers-too-large': `The headers of the request are larger than ${LIBRARY_MAX_HEAD_BYTES / 1024} KB.`,
  'request-timeout': 'The headers of the request did not arrive in time.',
};

const SERVER_OPTIONS = {
  maxHeaderSize: LIBRARY_MAX_HEAD_BYTES,
  headersTimeout: HEADERS_MS,
  // Bodies have a watch of their own.
  requestTimeout: 0,
  connectionsCheckingInterval: 1_000,
  // Checked with the rest of the framing, for the same answer on both transports.
  requireHostHeader: false,
};

function refusalOf(code: string | undefined): ParserRefusal {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers-too-large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request-timeout';
  return code === 'HPE_INVALID_METHOD' ? 'not-implemented' : 'malformed';
}
