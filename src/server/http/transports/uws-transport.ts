import type * as UwsModule from 'uWebSockets.js';
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse, TemplatedApp } from 'uWebSockets.js';
import type {
  Transport,
  TransportOptions,
  Answer,
  BodyOutcome,
  HttpRequest,
  HttpResponse,
  LoneRequest,
  RejectedRequest,
  RequestHeader,
} from '../transport.ts';
import { inOwnTurn, inTurn, LARGE } from '../../../base/own-turn.ts';
import { problem, TOO_MANY_CONNECTIONS, type Problem, INTERNAL_PROBLEM } from '../problem.ts';
import { Framing } from './framing.ts';
import { addressOf, isLoopbackAddress } from '../local-caller.ts';
import { hasNoContent, type HeaderList, headerValue, statusLine } from '../response-head.ts';
import type { Swept } from '../sweep.ts';
import { BodyReader } from './body-reader.ts';
import { failedExchange, IS_TESTED, HERE, loadUws, type Uws } from './uws-binary.ts';
import { isLarge, TransportState, type UnreadAnswer } from './transport-state.ts';

/** At 1,000 connections per second, one arrives in this time. */
const SHORT_TURN_MS = 1;

/** Less than the time of a drain between the end of accepting and the first connection that it closes. */
const SHORT_TURN_WITHIN_MS = 200;

/** uWebSockets.js behind the guards that it needs: `UwsExchange`, `Framing` and the turn clock describe them. */
export class UwsTransport implements Transport {
  readonly name = 'uws';
  readonly #options: TransportOptions;
  readonly #state: UwsState;
  readonly #uws: Uws;
  readonly #app: TemplatedApp;
  /** What the library calls. It keeps the listeners of an app for as long as the process lives, so `close` empties this. */
  readonly #listeners: { of: UwsTransport | undefined } = { of: this };
  #listenSocket: UwsModule.us_listen_socket | undefined;
  #connections = 0;

  /** The result of the self-test of this process. */
  static #failed: Promise<string | undefined> | undefined;

  /** Throws where the library has no binary for this platform and version of Node, or one that does not work as svc needs it. */
  static async load(options: TransportOptions): Promise<UwsTransport> {
    const uws = await loadUws();
    if (!IS_TESTED) {
      this.#failed ??= failedExchange((parts) => new UwsTransport(uws, { ...options, ...parts }));
      const failed = await this.#failed;
      if (failed !== undefined)
        throw new Error(`The binary of uWebSockets.js for ${HERE} failed its self-test: ${failed}.`);
    }
    return new UwsTransport(uws, options);
  }

  constructor(uws: Uws, options: TransportOptions) {
    this.#uws = uws;
    this.#options = options;
    this.#state = new UwsState(options);
    silence(uws);
    this.#app = appOf(uws, this.#listeners);
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
    this.#listeners.of = undefined;
  }

  connectionsChanged(native: NativeResponse, change: number): void {
    this.#connections += change;
    if (change > 0 && this.#connections > this.#options.closeAbove) native.close();
  }

  dispatch(native: NativeResponse, request: NativeRequest): void {
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

/** One route for everything: the library has no 405, and its 404 is an HTML page. */
function appOf(uws: Uws, listeners: { readonly of: UwsTransport | undefined }): TemplatedApp {
  const app = uws.App().any('/*', (native, request) => listeners.of?.dispatch(native, request));
  return app.filter((native, change) => listeners.of?.connectionsChanged(native, change));
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

/** The timeout that clients see; uWebSockets.js closes idle connections after 8 to 12 seconds. */
const KEEP_ALIVE = ['Keep-Alive', 'timeout=5'] as const;

const CLOSE = ['Connection', 'close'] as const;

/** The byte after the last answer of a connection: svc closes the connection instead of sending it. */
const UNSENT = ' ';

const NOTHING = new Uint8Array(0);

/** More than svc ever writes of the last answer: the library never completes it. */
function totalOf({ length }: Uint8Array): number {
  return length + UNSENT.length + 1;
}

/** The state that exchanges on uWebSockets.js share. */
class UwsState extends TransportState {
  readonly clock = new TurnClock();
}

/**
 * Numbers the turns of the event loop in which input arrives. uWebSockets.js parses all requests of one buffer in one turn, and
 * closes the connection when a second one arrives before the first is answered. Because each answer waits for the next turn, a
 * request smuggled behind another one never runs. One immediate serves all requests of a turn.
 */
class TurnClock {
  #turn = 0;
  #armed = false;
  #waiting: UwsExchange[] | undefined;

  /** The number of this turn; call it when input arrives. */
  mark(): number {
    if (!this.#armed) {
      this.#armed = true;
      setImmediate(this.#advance);
    }
    return this.#turn;
  }

  /** Returns false during the turn that `mark` numbered; then it calls `nextTurn` in the next one. */
  passed(turn: number, exchange: UwsExchange): boolean {
    if (turn !== this.#turn) return true;
    (this.#waiting ??= []).push(exchange);
    return false;
  }

  readonly #advance = (): void => {
    this.#armed = false;
    this.#turn += 1;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    for (const exchange of waiting) exchange.nextTurn();
  };
}

/** A request and its response on uWebSockets.js: one object, because every request creates it. */
class UwsExchange implements HttpRequest, HttpResponse, Swept, UnreadAnswer {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly framing: Framing;
  readonly #state: UwsState;
  readonly #native: NativeResponse;
  readonly #body: BodyReader;
  /** The turn in which the last input arrived. */
  #turn: number;
  setIndex = -1;
  #closed = false;
  /** The connection ends with this answer. */
  #closing = false;
  #answer: Answer | undefined;
  #writer: UwsWriter | undefined;
  #abortListener: (() => void) | undefined;
  #lone: LoneRequest | undefined;
  #sent = false;
  unreadBytes = 0;

  /** An exception before `onAborted` is set would end the process. */
  constructor(state: UwsState, native: NativeResponse, request: NativeRequest) {
    native.onAborted(() => this.#aborted());
    this.#state = state;
    this.#native = native;
    this.#turn = state.clock.mark();
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    this.framing = new Framing(this.path.length + this.query.length);
    readHeaders(request, this.framing);
    this.#body = new BodyReader(this.framing.hasBody, state.options, this);
  }

  /** Starts to read the body. To be called after the handler: without its `readBody`, the bytes are discarded. */
  openBody(): void {
    // The library hides a header without a name, and all headers after it, so the bytes that follow a request without a length
    // can be its body. They must not run as the next request. Chunks that the library reads inexactly have no length either.
    if (this.framing.closes || this.framing.contentLength < 0) this.#closing = true;
    if (this.#body.complete || this.#closed) return;
    this.#state.bodies.add(this);
    this.#native.onData(this.#takeBody.bind(this));
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
    return this.#closed ? '' : addressOf(Buffer.from(this.#native.getRemoteAddressAsText()).toString('latin1'));
  }

  readBody(limit: number, done: (outcome: BodyOutcome) => void): void {
    this.#body.read(limit, done);
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string | undefined): void {
    if (this.#closed || this.#answer !== undefined || this.#writer !== undefined) return;
    if (this.#state.takeHandOver()) this.#closing = true;
    this.#answer = { status, headers, body };
    if (!this.#body.complete) return;
    if (isLarge(body)) inOwnTurn(() => this.nextTurn());
    else this.nextTurn();
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

  start(status: number, headers: HeaderList, filler: string): void {
    if (this.#closed || this.#answer !== undefined || this.#writer !== undefined) return;
    if (this.#state.takeHandOver()) this.#closing = true;
    const writer = new UwsWriter(this.#native, filler, () =>
      this.#writeHead(status, headers, this.#isLastAnswer ? CLOSE : undefined),
    );
    this.#writer = writer;
    if (this.#state.clock.passed(this.#turn, this)) writer.open();
  }

  write(chunk: string): boolean {
    return !this.#closed && this.#writer !== undefined && this.#writer.write(chunk);
  }

  end(): void {
    if (this.#closed || this.#writer === undefined) return;
    this.#state.unread.add(this);
    this.#writer.end(this.#closing, () => {
      this.#closed = true;
      this.#state.unread.delete(this);
    });
  }

  onDrain(listener: (empty: boolean) => void): void {
    if (this.#writer !== undefined) this.#writer.drainListener = listener;
  }

  keepWaiting(): void {
    if (!this.#closed) this.#writer?.keepWaiting();
  }

  onAborted(listener: () => void): void {
    this.#abortListener = listener;
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#state.bodies.delete(this);
    this.cut();
  }

  cut(): void {
    this.#state.unread.delete(this);
    this.#writer?.stop();
    this.#native.close();
  }

  whenAlone(request: LoneRequest): boolean {
    if (this.#closed) return false;
    if (this.#state.clock.passed(this.#turn, this)) return true;
    this.#lone = request;
    return false;
  }

  nextTurn(): void {
    if (this.#closed) return;
    if (!this.#state.clock.passed(this.#turn, this)) return;
    const lone = this.#lone;
    this.#lone = undefined;
    lone?.proceed();
    if (this.#closed) return;
    if (this.#writer !== undefined) this.#writer.open();
    else if (this.#answer !== undefined) this.#writeAnswer();
  }

  sweep(now: number): void {
    if (!this.#body.isLate(now)) return;
    this.#state.bodies.delete(this);
    this.#closing = true;
    this.#body.timeOut();
    this.nextTurn();
  }

  get #isLastAnswer(): boolean {
    return this.#closing || this.#state.finishing;
  }

  #writeAnswer(): void {
    const answer = this.#answer;
    if (answer === undefined || this.#closed) return;
    this.#closed = true;
    // Otherwise, a client that reads nothing would keep the request and its answer in memory.
    this.#abortListener = undefined;
    this.#answer = undefined;
    if (this.method === 'HEAD' || hasNoContent(answer.status)) this.#writeEmpty(answer);
    else if (this.#isLastAnswer) this.#writeLast(answer);
    else this.#writeWhole(answer);
  }

  /**
   * Keeps the part of the body that the kernel does not accept. In the library's own buffer, answers would accumulate, because
   * it accepts the next request of a client that reads nothing. This way, the library closes the connection when another
   * request arrives, or when the client has accepted nothing for 8 to 12 seconds.
   */
  #writeWhole(answer: Answer): void {
    this.#native.cork(this.#writeCorked.bind(this, answer));
    if (!this.#sent) this.#writeRest(this.#hold(answer.body ?? ''));
  }

  #writeCorked({ status, headers, body = '' }: Answer): void {
    const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.#writeHead(status, headers, KEEP_ALIVE);
    this.#sent = this.#native.tryEnd(body, size)[1];
  }

  /** Writes the rest of a body as fast as the client accepts it. */
  #writeRest(bytes: Uint8Array): void {
    const native = this.#native;
    native.onWritable((offset) => {
      let accepted = false;
      native.cork(() => ([accepted, this.#sent] = native.tryEnd(bytes.subarray(offset), bytes.length)));
      if (this.#sent) this.#state.unread.delete(this);
      else this.#state.unread.progressed(this);
      return accepted;
    });
  }

  /**
   * Ends the connection once the kernel has accepted the answer. If the library ended it, the next request of a client that
   * reads nothing would run, so svc passes `totalOf` to it instead of the announced length.
   */
  #writeLast({ status, headers, body = '' }: Answer): void {
    const native = this.#native;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    native.cork(() => {
      this.#writeHead(status, headers, CLOSE);
      // Newer versions of the library complete an answer whose first piece is empty or whole.
      if (bytes.length <= 1) endHead(native, 'Content-Length', String(bytes.length), bytes);
      else {
        native.tryEnd(bytes.subarray(0, 1), bytes.length);
        native.tryEnd(bytes.subarray(1, -1), totalOf(bytes));
      }
    });
    const rest = bytes.length <= 1 ? NOTHING : bytes;
    if (this.#endsConnection(rest)) return;
    this.#hold(body, rest);
    this.#endWhenAccepted(rest);
  }

  #endWhenAccepted(bytes: Uint8Array): void {
    this.#native.onWritable(() => this.#endsConnection(bytes));
  }

  /**
   * Writes the rest of the last answer; returns false when the kernel does not accept all of it. In a cork, the library counts short
   * pieces as written before the kernel has accepted them; only the next write reports whether it did. The last byte therefore has a
   * cork of its own, and a byte too many follows: once that is accepted, so are all others, and `close` drops it.
   */
  #endsConnection(bytes: Uint8Array): boolean {
    const native = this.#native;
    const last = bytes.length - 1;
    const total = totalOf(bytes);
    const offset = native.getWriteOffset();
    if (offset < last) native.cork(() => native.tryEnd(bytes.subarray(offset, last), total));
    if (native.getWriteOffset() === last) native.cork(() => native.tryEnd(bytes.subarray(last), total));
    native.cork(() => {
      const isWritten = native.getWriteOffset() === bytes.length;
      this.#sent = isWritten && (bytes.length === 0 || native.tryEnd(UNSENT, total)[0]);
      if (this.#sent) native.close();
    });
    if (!this.#sent) this.#state.unread.progressed(this);
    return this.#sent;
  }

  /** Registers an answer that its client has not fully accepted. Call it outside a cork, because it can cut connections. */
  #hold(
    body: Uint8Array | string,
    bytes: Uint8Array = typeof body === 'string' ? Buffer.from(body) : body,
  ): Uint8Array {
    // A body in bytes is a page whose buffer all answers share.
    this.unreadBytes = typeof body === 'string' ? bytes.length : 0;
    this.#state.bodies.delete(this);
    this.#state.unread.add(this);
    return bytes;
  }

  /**
   * An answer without a body always ends the connection: the library reports only for bodies whether a client accepts data, so a
   * client that reads nothing could accumulate such answers without limit.
   */
  #writeEmpty(answer: Answer): void {
    this.#native.cork(() => {
      this.#writeHead(answer.status, answer.headers);
      endHead(this.#native, 'Connection', 'close');
    });
    this.#native.close();
  }

  /**
   * Writes all headers in one call, because each call of the library takes longer than writing a header. The library writes names
   * and values unmodified, so the first value contains the further headers.
   */
  #writeHead(status: number, headers: HeaderList, last?: HeaderList[number]): void {
    const native = this.#native;
    native.writeStatus(statusLine(status));
    let first = '';
    let rest = '';
    for (const header of headers) {
      const value = headerValue(header[1]);
      if (first === '') {
        first = header[0];
        rest = value;
      } else rest += `\r\n${header[0]}: ${value}`;
    }
    if (first === '') {
      if (last !== undefined) native.writeHeader(...last);
    } else native.writeHeader(first, last === undefined ? rest : `${rest}\r\n${last[0]}: ${last[1]}`);
  }

  #takeBody(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#closed) return;
    this.#turn = this.#state.clock.mark();
    try {
      const progress = this.#body.push(new Uint8Array(chunk), isLast);
      if (progress === 'overflow') this.destroy();
      if (progress === 'more') return;
    } catch (error) {
      this.crashed(error);
    }
    this.#state.bodies.delete(this);
    if (this.#answer !== undefined) this.nextTurn();
  }

  #aborted(): void {
    this.#state.unread.delete(this);
    this.#writer?.stop();
    if (this.#closed) return;
    this.#closed = true;
    this.#state.bodies.delete(this);
    this.#body.aborted();
    this.#abortListener?.();
  }
}

/**
 * Ends the headers but not the answer: the library writes values unmodified, so the line break in this value becomes the empty
 * line after the headers, and a body of one byte can follow it. The caller closes the connection.
 */
function endHead(native: NativeResponse, name: string, value: string, body: Uint8Array = NOTHING): void {
  native.writeHeader('Date', new Date().toUTCString());
  const after = body.length === 0 ? '' : `\r\n${String.fromCharCode(...body)}`;
  native.writeHeader(name, `${value}\r\n${after}`);
}

/** The library calls back synchronously for each header, so that one function serves all requests. */
let headersOf: Framing | undefined;

function readHeaders(request: NativeRequest, framing: Framing): void {
  headersOf = framing;
  request.forEach(takeHeader);
  headersOf = undefined;
}

function takeHeader(name: string, value: string): void {
  headersOf?.take(name, value);
}

/** More than this in one write, or two writes in one cork, can lose bytes in uWebSockets.js (its buffer has 16 KB). */
const MAX_WRITE_BYTES = 15_000;

const WRITES_OF_A_TURN = Math.ceil(LARGE / MAX_WRITE_BYTES);

/** This many UTF-16 units fit into one write, whatever they encode to. */
const SURELY_FITS = MAX_WRITE_BYTES / 3;

/** The body of a streamed answer: writes chunks in order, as fast as the client accepts them. */
class UwsWriter {
  readonly #native: NativeResponse;
  readonly #filler: string;
  #writeHead: (() => void) | undefined;
  #queue: Array<string | Uint8Array> = [];
  #opened = false;
  #blocked = false;
  #ended: (() => void) | undefined;
  #isLastAnswer = false;
  #finished = false;
  drainListener: ((empty: boolean) => void) | undefined;

  /** `filler` is text that readers ignore between two writes: sending it pushes what the library still holds. */
  constructor(native: NativeResponse, filler: string, writeHead: () => void) {
    this.#native = native;
    this.#filler = filler;
    this.#writeHead = writeHead;
    // From the start: otherwise the library's write timer cuts the stream 10 seconds after one moment of back-pressure.
    native.onWritable(() => this.#onWritable());
  }

  /** Sends the status line, the headers and everything written so far. */
  open(): void {
    this.#opened = true;
    this.#pump();
  }

  write(chunk: string): boolean {
    if (chunk.length <= SURELY_FITS) this.#queue.push(chunk);
    else splitBytes(Buffer.from(chunk), this.#queue);
    return this.#pump();
  }

  /**
   * Calls `done` once the library has everything: the response must not be used after that. `isLastAnswer`: the connection reads
   * nothing more.
   */
  end(isLastAnswer: boolean, done: () => void): void {
    this.#isLastAnswer = isLastAnswer;
    this.#ended ??= done;
    this.#pump();
  }

  /**
   * Restarts the library's write timer, as each write does: adds one chunk to its buffer. Call it every few seconds and not more
   * often, because the buffer grows by that chunk.
   */
  keepWaiting(): void {
    if (!this.#blocked || this.#finished) return;
    this.#writeNext(this.#queue.shift() ?? this.#filler);
    if (!this.#blocked) this.#drained();
  }

  /** Writes nothing more: the connection is gone. */
  stop(): void {
    this.#finished = true;
  }

  #pump(mostWrites = Infinity): boolean {
    if (!this.#opened || this.#finished) return true;
    for (let writes = 0; !this.#blocked && this.#queue.length > 0 && writes < mostWrites; writes += 1) {
      this.#writeNext(this.#queue.shift() ?? '');
    }
    if (this.#ended !== undefined && this.#queue.length === 0) this.#finish(this.#ended);
    return !this.#blocked;
  }

  #writeNext(chunk: string | Uint8Array): void {
    this.#native.cork(() => {
      this.#sendHead();
      this.#blocked = !this.#native.write(chunk);
    });
  }

  #finish(done: () => void): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#native.cork(() => {
      this.#sendHead();
      // The client closes the connection, or the library does after 8 to 12 seconds. Until then, no further request can run.
      if (this.#isLastAnswer) this.#native.pause();
      // Never with closeConnection: after a write it corrupts the chunked body.
      this.#native.end();
    });
    done();
  }

  #sendHead(): void {
    const writeHead = this.#writeHead;
    this.#writeHead = undefined;
    writeHead?.();
  }

  /** The client accepted data. Only another write pushes what the library still holds. */
  #onWritable(): boolean {
    this.#blocked = false;
    if (this.#queue.length === 0) this.#queue.push(this.#filler);
    // Many readers of large events can accept data in one turn, and writing all of it would take it tens of milliseconds.
    inTurn(this.#queue.length * MAX_WRITE_BYTES, () => this.#drained());
    return true;
  }

  #drained(): void {
    this.#pump(WRITES_OF_A_TURN);
    if (this.#finished) return;
    const hasMore = !this.#blocked && this.#queue.length > 0;
    if (hasMore) inOwnTurn(() => this.#drained());
    this.drainListener?.(!this.#blocked && !hasMore);
  }
}

function splitBytes(bytes: Uint8Array, into: Array<string | Uint8Array>): void {
  for (let from = 0; from < bytes.length; from += MAX_WRITE_BYTES) {
    into.push(bytes.subarray(from, from + MAX_WRITE_BYTES));
  }
}
