import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { problem, TOO_MANY_CONNECTIONS, type Problem } from '../problem.ts';
import { statusLine } from '../response-head.ts';
import type { Transport, TransportOptions } from '../transport.ts';
import { LIBRARY_MAX_HEAD_BYTES, METHOD_NOT_IMPLEMENTED } from './framing.ts';
import { NodeConnection, type NativeExchange } from './node-connection.ts';
import { isTarget, NodeExchange } from './node-exchange.ts';
import { TransportState } from './transport-state.ts';

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
    this.#server = createServer({ ...SERVER_OPTIONS, keepAliveTimeout: options.keepAliveTimeoutMs }, listener);
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
