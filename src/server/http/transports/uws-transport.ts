import type * as UwsModule from 'uWebSockets.js';
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse, TemplatedApp } from 'uWebSockets.js';
import type { Transport, TransportOptions } from '../transport.ts';
import { problem, TOO_MANY_CONNECTIONS, type Problem } from '../problem.ts';
import type { Framing } from './framing.ts';
import { UwsExchange, UwsState } from './uws-exchange.ts';

type Uws = typeof UwsModule;

/** At 1,000 connections per second, one arrives in this time. */
const SHORT_TURN_MS = 1;

/** Less than the time of a drain between the end of accepting and the first connection that it closes. */
const SHORT_TURN_WITHIN_MS = 200;

async function loadUws(): Promise<Uws> {
  try {
    return await import('uWebSockets.js');
  } catch (error) {
    const here = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
    const advice = 'svc has it for Node 20 and 22 on Linux with glibc. Use --transport auto or --transport node.';
    throw new Error(`The binary of uWebSockets.js does not load in ${here}: ${advice}`, { cause: error });
  }
}

/** uWebSockets.js behind the guards that it needs: `UwsExchange`, `Framing` and the turn clock describe them. */
export class UwsTransport implements Transport {
  readonly name = 'uws';
  readonly #options: TransportOptions;
  readonly #state: UwsState;
  readonly #uws: Uws;
  readonly #app: TemplatedApp;
  #listenSocket: UwsModule.us_listen_socket | undefined;
  #connections = 0;

  /** Throws where the library has no binary for this platform and version of Node. */
  static async load(options: TransportOptions): Promise<UwsTransport> {
    return new UwsTransport(await loadUws(), options);
  }

  constructor(uws: Uws, options: TransportOptions) {
    this.#uws = uws;
    this.#options = options;
    this.#state = new UwsState(options);
    silence(uws);
    // One route for everything: the library has no 405, and its 404 is an HTML page.
    this.#app = uws.App().any('/*', (native, request) => this.#dispatch(native, request));
    this.#app.filter((native, change) => {
      this.#connections += change;
      if (change > 0 && this.#connections > options.closeAbove) native.close();
    });
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, (socket) => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host}:${port}`));
          return;
        }
        this.#listenSocket = socket;
        resolve(port === 0 ? this.#uws.us_socket_local_port(socket) : port);
      });
    });
  }

  get connections(): number {
    return this.#connections;
  }

  get unsentAnswers(): number {
    return this.#state.unread.size;
  }

  stopAccepting(): void {
    const socket = this.#listenSocket;
    this.#listenSocket = undefined;
    // In a separate turn: never while the library iterates over its sockets.
    if (socket !== undefined) setImmediate(() => afterShortTurn(() => this.#uws.us_listen_socket_close(socket)));
  }

  finishConnections(): void {
    this.#state.finishing = true;
  }

  handOver(count: number): void {
    this.#state.handOvers = count;
  }

  close(): void {
    this.#state.finishing = true;
    this.#listenSocket = undefined;
    this.#state.bodies.close();
    this.#app.close();
  }

  #dispatch(native: NativeResponse, request: NativeRequest): void {
    const exchange = new UwsExchange(this.#state, native, request);
    try {
      const fault = exchange.framing.check(exchange.method) ?? trailerFault(exchange.framing);
      if (fault !== undefined) exchange.reject(fault);
      else if (this.#connections > this.#options.maxConnections)
        exchange.reject(TOO_MANY_CONNECTIONS, { requestId: exchange.header('x-request-id') });
      else this.#handle(exchange);
    } catch (error) {
      exchange.crashed(error);
    }
  }

  #handle(exchange: UwsExchange): void {
    this.#options.handler(exchange, exchange);
    exchange.openBody();
  }
}

/** The library would read trailers as the next request. */
function trailerFault(framing: Framing): Problem | undefined {
  return framing.announcesTrailers
    ? problem('bad_request', 'The request has a Trailer header. Send no trailers, or run svc with --transport node.')
    : undefined;
}

/**
 * Closing a listener resets the connections in its queue. Each turn of the event loop accepts all of them, so that almost none
 * waits after a short turn. On a busy machine, hundreds of connections can arrive during one turn.
 */
function afterShortTurn(close: () => void, until = performance.now() + SHORT_TURN_WITHIN_MS): void {
  const begin = performance.now();
  setImmediate(() => {
    const now = performance.now();
    if (now - begin < SHORT_TURN_MS || now > until) close();
    else afterShortTurn(close, until);
  });
}

/** Removes the library's own header from every answer. `test/architecture/private-parts.test.ts` checks that `_cfg` exists. */
function silence(uws: Uws): void {
  const configure: unknown = Reflect.get(uws, '_cfg');
  if (typeof configure === 'function') configure('silent');
}
