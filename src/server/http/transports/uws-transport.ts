import type * as UwsModule from 'uWebSockets.js';
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse, TemplatedApp } from 'uWebSockets.js';
import type { Transport, TransportOptions } from '../transport.ts';
import { BodyWatch } from './body-reader.ts';
import type { ExchangeHost } from './exchange-host.ts';
import { LeavingAnswers } from './leaving-answers.ts';
import { TurnClock } from './turn-clock.ts';
import { UwsExchange } from './uws-exchange.ts';

type Uws = typeof UwsModule;

/** At 1,000 connections a second one comes in meanwhile. */
const SHORT_TURN_MS = 1;

/** Less than a drain leaves between the end of accepting and the first connection that it closes. */
const SHORT_TURN_WITHIN_MS = 200;

/** uWebSockets.js cuts a client that takes nothing after 8 to 12 seconds. */
const WRITE_TIMEOUT_MS = 12_000;

/** uWebSockets.js with a guard around it: see `UwsExchange`, `Framing` and `TurnClock` for what each protects from. */
export class UwsTransport implements Transport, ExchangeHost {
  readonly name = 'uws';
  readonly options: TransportOptions;
  readonly clock = new TurnClock();
  readonly bodies = new BodyWatch();
  readonly leavingAnswers = new LeavingAnswers();
  /** When an answer was given to the library that the system may not take at once. */
  largeAnswerAt = Number.NEGATIVE_INFINITY;
  readonly #uws: Uws;
  readonly #app: TemplatedApp;
  #listenSocket: UwsModule.us_listen_socket | undefined;
  #connections = 0;
  #finishing = false;

  /** Throws where the library has no binary for this platform and version of Node. */
  static async load(options: TransportOptions): Promise<UwsTransport> {
    return new UwsTransport(await import('uWebSockets.js'), options);
  }

  constructor(uws: Uws, options: TransportOptions) {
    this.#uws = uws;
    this.options = options;
    silence(uws);
    // One route: the library has no 405 and an HTML page as its 404.
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

  /** Of a whole answer the library does not say when it left, only that a connection closed; stalled ones it cuts itself. */
  get leaving(): number {
    const mayLeave = this.#connections > 0 && performance.now() - this.largeAnswerAt < WRITE_TIMEOUT_MS;
    return this.leavingAnswers.count + (mayLeave ? 1 : 0);
  }

  get finishing(): boolean {
    return this.#finishing;
  }

  stopAccepting(): void {
    const socket = this.#listenSocket;
    this.#listenSocket = undefined;
    // On a turn of its own: never while the library walks its sockets.
    if (socket !== undefined) setImmediate(() => afterShortTurn(() => this.#uws.us_listen_socket_close(socket)));
  }

  finishConnections(): void {
    this.#finishing = true;
  }

  close(): void {
    this.#finishing = true;
    this.#listenSocket = undefined;
    this.bodies.close();
    this.#app.close();
  }

  #dispatch(native: NativeResponse, request: NativeRequest): void {
    const exchange = new UwsExchange(this, native, request);
    try {
      const fault = exchange.framing.check(exchange.method);
      if (fault !== undefined) exchange.refuse(this.options.refuse(fault.refusal, fault.detail));
      else if (this.#connections > this.options.maxConnections)
        exchange.refuse(this.options.refuse('too-many', '', { requestId: exchange.header('x-request-id') }));
      else this.#handle(exchange);
    } catch (error) {
      exchange.crashed(error);
    }
  }

  #handle(exchange: UwsExchange): void {
    this.options.handler(exchange, exchange);
    exchange.openBody();
  }
}

/**
 * Closing resets what waits to be accepted. Each turn of the event loop accepts all that waits; so after a short one next to
 * nothing does. On a machine without time to spare a turn can take as long as hundreds of connections need to come in.
 */
function afterShortTurn(close: () => void, until = performance.now() + SHORT_TURN_WITHIN_MS): void {
  const begin = performance.now();
  setImmediate(() => {
    const now = performance.now();
    if (now - begin < SHORT_TURN_MS || now > until) close();
    else afterShortTurn(close, until);
  });
}

/** Leaves the library's own header out of every answer. */
function silence(uws: Uws): void {
  const configure: unknown = Reflect.get(uws, '_cfg');
  if (typeof configure === 'function') configure('silent');
}
