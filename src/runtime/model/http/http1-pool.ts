import type * as Undici from 'undici';
import type { Socket } from 'node:net';
import type { Dispatcher, buildConnector } from 'undici';
import { createRequire } from 'node:module';
import { codeOf } from '../../../base/invariant.ts';
import {
  LINGER_BYTES,
  LINGER_MS,
  type HttpCall,
  type OriginPool,
  type ResponseHeaders,
  type ResponseListener,
  type SentRequest,
  type ConnectionCounts,
  connectionFailure,
} from './origin-pool.ts';
import { ConnectionAttempts, type Connector } from './connector.ts';
import { ReadClock } from './exchange-clock.ts';

/**
 * Connections over HTTP/1.1, one request at a time on each. undici frees a connection one turn of the event loop after
 * its response ended (the server can still close it), so a request that follows immediately would open another one. Such
 * a request waits for that turn.
 */
export class Http1Pool implements Pick<OriginPool, 'close' | 'destroy'> {
  readonly #connections: Dispatcher;
  readonly watch: Pick<SocketWatch, 'canPause' | 'answering'>;
  readonly #attempts: Pick<ConnectionAttempts, 'stop'>;
  readonly clock = new ReadClock();
  /** Responses that ended in this turn and whose connections no request has claimed. */
  #freed = 0;
  /** Requests without a connection. */
  waiting = 0;

  /** `watch`: of the open sockets. `attempts`: to open others. */
  constructor(connections: Dispatcher, watch: Http1Pool['watch'], attempts: Pick<ConnectionAttempts, 'stop'>) {
    this.#connections = connections;
    this.watch = watch;
    this.#attempts = attempts;
  }

  send(call: HttpCall, listener: ResponseListener): SentRequest {
    const request = new Http1Request(this, call, listener);
    request.send();
    return request;
  }

  /** The request reports `connected` or `gaveUp` once for each call of this method. */
  dispatch(options: Dispatcher.DispatchOptions, request: Http1Request): void {
    this.waiting += 1;
    if (this.#freed === 0) {
      this.#connections.dispatch(options, request);
      return;
    }
    this.#freed -= 1;
    setImmediate(() => {
      if (!request.isOver) this.#connections.dispatch(options, request);
    });
  }

  /** A request has a connection, or undici reported that there is none for it. */
  connected(): void {
    this.waiting -= 1;
  }

  /** A request needs no connection any more. */
  gaveUp(): void {
    this.waiting -= 1;
    if (this.waiting === 0) this.#attempts.stop();
  }

  responseEnded(): void {
    this.#freed += 1;
    if (this.#freed === 1) setImmediate(() => (this.#freed = 0));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  destroy(): Promise<void> {
    this.#attempts.stop();
    return this.#connections.destroy();
  }
}

/** One more than the race with the end of a kept connection needs: the next connection can be a kept one that ended too. */
const MAX_RESENDS = 2;

/** One request in undici's terms: the handler of its events and the control of its connection. */
class Http1Request implements SentRequest, Dispatcher.DispatchHandler {
  readonly #pool: Http1Pool;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #listener: ResponseListener;
  #controller: Dispatcher.DispatchController | undefined;
  /** The socket of the response. */
  #socket: Socket | undefined;
  #state: 'open' | 'lingering' | 'closed' = 'open';
  #awaitsConnection = false;
  /** The last tick at which the end of the connection shows that the provider had closed it; Infinity before the request is written. */
  #windowEnd = Infinity;
  /** `interim`: the provider took the request. */
  #answer: 'none' | 'interim' | 'final' = 'none';
  #resends = 0;
  #lingeringBytes = 0;
  #linger: NodeJS.Timeout | undefined;

  constructor(pool: Http1Pool, call: HttpCall, listener: ResponseListener) {
    const { method = 'POST', path, headers, body } = call;
    this.#pool = pool;
    // undici keeps the bytes of a body until the response ends. The text of the body is not needed besides them.
    const bytes = body === '' ? null : Buffer.from(body);
    // The clock of the exchange watches; undici's timers are coarse and would come on top.
    this.#options = { method, path, headers: headers as string[], body: bytes, headersTimeout: 0, bodyTimeout: 0 };
    this.#listener = listener;
  }

  get isOver(): boolean {
    return this.#state === 'closed';
  }

  send(): void {
    this.#awaitsConnection = true;
    this.#windowEnd = Infinity;
    this.#pool.dispatch(this.#options, this);
  }

  pause(): boolean {
    if (this.#state !== 'open' || !this.#pool.watch.canPause) return false;
    this.#controller?.pause();
    // undici pauses only after another chunk; the kernel gathers chunks from now on.
    this.#socket?.pause();
    return true;
  }

  resume(): void {
    if (this.#state !== 'open') return;
    this.#controller?.resume();
    this.#socket?.resume();
  }

  finish(): void {
    if (this.#state !== 'open') return;
    this.resume();
    this.#state = 'lingering';
    this.#linger = setTimeout(() => this.#close('reply was whole'), LINGER_MS);
    this.#linger.unref();
  }

  cancel(): void {
    this.#close('cancelled');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connected();
    if (this.#state === 'closed') {
      controller.abort(new Error('cancelled'));
      return;
    }
    this.#windowEnd = this.#pool.clock.open();
    this.#listener.onSent();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#answer = status < 200 ? 'interim' : 'final';
    this.#socket = this.#pool.watch.answering;
    if (this.#state === 'open' && status >= 200) this.#listener.onHeaders(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state === 'open') this.#listener.onData(chunk);
    if (this.#state !== 'lingering') return;
    this.#lingeringBytes += chunk.length;
    if (this.#lingeringBytes > LINGER_BYTES) this.#close('reply was whole');
  }

  onResponseEnd(): void {
    this.#pool.responseEnded();
    this.#socket = undefined;
    clearTimeout(this.#linger);
    const isAwaited = this.#state === 'open';
    this.#state = 'closed';
    if (isAwaited) this.#listener.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#linger);
    this.#connected();
    if (this.#state !== 'open') return;
    if (this.#canResend(error)) {
      this.#resend();
      return;
    }
    this.#state = 'closed';
    this.#listener.onFailure(connectionFailure(error, this.#answer === 'final'));
  }

  /**
   * True if the provider had closed a kept connection before the request reached it: the connection had been used before
   * and ended before or as soon as it was used again. A later end can have been the answer to the request, which then was
   * taken and is paid for.
   */
  #canResend(error: Error): boolean {
    if (this.#resends === MAX_RESENDS || this.#answer !== 'none' || !endedAfterUse(error)) return false;
    return this.#pool.clock.isOpen(this.#windowEnd);
  }

  /** In the next turn: if several kept connections ended at once, undici knows of all of them by then. */
  #resend(): void {
    this.#resends += 1;
    this.#listener.onResend();
    setImmediate(() => {
      if (this.#state === 'open') this.send();
    });
  }

  #connected(): void {
    if (!this.#awaitsConnection) return;
    this.#awaitsConnection = false;
    this.#pool.connected();
  }

  #close(reason: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#linger);
    if (this.#awaitsConnection) {
      this.#awaitsConnection = false;
      this.#pool.gaveUp();
    }
    this.#controller?.abort(new Error(reason));
  }
}

/** Reset, closed for writing, and undici's code for a connection that the other side closed. */
const ENDS: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * True if a connection ended that had been used before: its error states how many bytes it had read (see SocketWatch).
 * An unreadable response, such as a bad status line, is an answer and no end.
 */
function endedAfterUse(error: Error): boolean {
  if (!ENDS.has(codeOf(error)) || error.message.startsWith('bad ')) return false;
  if (!('socket' in error) || typeof error.socket !== 'object' || error.socket === null) return false;
  return 'bytesRead' in error.socket && typeof error.socket.bytesRead === 'number' && error.socket.bytesRead > 0;
}

const HTTP1 = ['http/1.1'];

/** The connections to one origin over HTTP/1.1: some for streams, whose sockets are read differently, and the others. */
export class Http1Pools implements OriginPool {
  readonly #origin: string;
  readonly #connector: Connector;
  /** Open connections that no request has used. */
  readonly #unused: Socket[] = [];
  /** undici's pools, for their counts. */
  readonly #created: Undici.Pool[] = [];
  #connections = 0;
  #calls: Http1Pool | undefined;
  #streams: Http1Pool | undefined;

  constructor(origin: string, connector: Connector) {
    this.#origin = origin;
    this.#connector = connector;
  }

  /** Responses can be paused safely. */
  get canPause(): boolean {
    return this.#calls?.watch.canPause === true || this.#streams?.watch.canPause === true;
  }

  get counts(): readonly ConnectionCounts[] {
    const active = this.#created.reduce((sum, { stats }) => sum + stats.running, 0);
    const waiting = (this.#calls?.waiting ?? 0) + (this.#streams?.waiting ?? 0);
    return [{ protocol: 'http/1.1', connections: this.#connections, active, waiting }];
  }

  send(call: HttpCall, listener: ResponseListener, streamed: boolean): SentRequest {
    return this.#pool(streamed).send(call, listener);
  }

  /** Takes over an open connection, for the next request that needs one. */
  add(socket: Socket): void {
    this.#unused.push(socket);
  }

  async close(): Promise<void> {
    for (const socket of this.#unused) socket.destroy();
    await Promise.all([this.#calls?.close(), this.#streams?.close()]);
  }

  async destroy(): Promise<void> {
    for (const socket of this.#unused) socket.destroy();
    // A pool that is created later is closed as well, so that every later request fails.
    await Promise.all([this.#pool(false).destroy(), this.#pool(true).destroy()]);
  }

  #pool(streamed: boolean): Http1Pool {
    if (streamed) return (this.#streams ??= this.#create(true));
    return (this.#calls ??= this.#create(false));
  }

  #create(streamed: boolean): Http1Pool {
    const watch = new SocketWatch(loadParserKey());
    const attempts = new ConnectionAttempts();
    const connect: buildConnector.connector = (_target, callback) => {
      const unused = this.#takeUnused();
      if (unused !== undefined) {
        this.#opened(unused, watch);
        queueMicrotask(() => callback(null, unused));
        return;
      }
      this.#connector.connect({ protocols: HTTP1, streamed }, attempts, (...result) => {
        if (result[0] === null) this.#opened(result[1], watch);
        callback(...result);
      });
    };
    const UndiciPool = loadPool();
    // Each connection serves one request at a time.
    const connections = new UndiciPool(this.#origin, { pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, connect });
    this.#created.push(connections);
    return new Http1Pool(connections, watch, attempts);
  }

  #opened(socket: Socket, watch: SocketWatch): void {
    this.#connections += 1;
    watch.watch(socket, this.#closed);
  }

  readonly #closed = (): void => {
    this.#connections -= 1;
  };

  #takeUnused(): Socket | undefined {
    for (let socket = this.#unused.pop(); socket !== undefined; socket = this.#unused.pop()) {
      if (!socket.destroyed && socket.readable) return socket;
    }
    return undefined;
  }
}

/**
 * Watches the sockets of one pool and corrects three faults of undici 7 before
 * undici sees the events:
 *
 * - The error of a reset does not state whether its connection had been used before, which decides about a resend.
 * - `100 Continue` cuts the connection, although a client must be able to skip it (RFC 9110, 15.2).
 * - If a response that ends with its connection is paused when the connection ends or is cut, undici asserts that it is
 *   not paused, which ends the process. So an end resumes the response (all bytes have been delivered by then), and a cut
 *   is reported as one.
 *
 * The last two need the parser that undici keeps on a socket, for which it has no public interface. If another version
 * keeps it elsewhere, nothing breaks: `100 Continue` is a failure, and responses are not paused.
 */
export class SocketWatch {
  readonly #parserKey: symbol | undefined;
  /** Responses can be paused safely. Known before the first response arrives. */
  canPause = false;
  /** The socket of the response whose headers undici reports now. */
  answering: Socket | undefined;

  /** `parserKey`: the key under which undici keeps the parser of a socket. */
  constructor(parserKey: symbol | undefined) {
    this.#parserKey = parserKey;
  }

  /** Call it before undici sees the socket. Calls `closed` when the connection is closed. */
  watch(socket: Socket, closed: () => void): void {
    socket.prependListener('error', (error) => {
      Object.assign(error, { socket: { bytesRead: socket.bytesRead } });
      this.#ifPaused(socket, endAsCut);
    });
    socket.prependOnceListener('readable', () => this.#firstBytes(socket));
    socket.prependListener('end', () => this.#ifPaused(socket, endPause));
    socket.prependListener('close', () => {
      this.#ifPaused(socket, endAsCut);
      closed();
    });
  }

  #firstBytes(socket: Socket): void {
    const parser = this.#parserOf(socket);
    this.canPause = parser !== undefined;
    if (parser !== undefined) this.#watchHeaders(parser, socket);
  }

  /** Notes the socket while undici reports headers, and makes undici skip `100 Continue`, as it skips other interim responses. */
  #watchHeaders(parser: ResponseParser, socket: Socket): void {
    const headersComplete = parser.onHeadersComplete.bind(parser);
    parser.onHeadersComplete = (status, upgrade, shouldKeepAlive) => {
      this.answering = socket;
      const result = headersComplete(status === CONTINUE ? PROCESSING : status, upgrade, shouldKeepAlive);
      this.answering = undefined;
      return result;
    };
  }

  #ifPaused(socket: Socket, correct: (parser: ResponseParser) => void): void {
    const parser = this.#parserOf(socket);
    if (parser?.paused === true) correct(parser);
  }

  #parserOf(socket: Socket): ResponseParser | undefined {
    const parser: unknown = this.#parserKey === undefined ? undefined : Reflect.get(socket, this.#parserKey);
    return isParser(parser) ? parser : undefined;
  }
}

/** The members of undici's response parser that svc uses. */
interface ResponseParser {
  paused: boolean;
  shouldKeepAlive: boolean;
  readonly ptr: unknown;
  readonly llhttp: { llhttp_resume(parser: unknown): void };
  execute(bytes: Buffer): void;
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

function isParser(value: unknown): value is ResponseParser {
  if (typeof value !== 'object' || value === null) return false;
  const { paused, shouldKeepAlive, ptr, llhttp, execute, onHeadersComplete } = value as Partial<ResponseParser>;
  return (
    typeof paused === 'boolean' &&
    typeof shouldKeepAlive === 'boolean' &&
    ptr !== undefined &&
    typeof llhttp?.llhttp_resume === 'function' &&
    typeof execute === 'function' &&
    typeof onHeadersComplete === 'function'
  );
}

const CONTINUE = 100;

/** Another interim status, "processing" (RFC 2518, 10.1): undici skips this one as it should skip all of them. */
const PROCESSING = 102;

/**
 * Ends a pause at the end of the connection. A body that is complete by its length needs no more bytes and is reported as
 * complete. For any other body, undici offers the last chunk to the reader again; the reader still pauses, and that pause
 * must end too.
 */
function endPause(parser: ResponseParser): void {
  resume(parser);
  parser.execute(NO_BYTES);
  if (parser.paused) resume(parser);
}

function resume(parser: ResponseParser): void {
  parser.llhttp.llhttp_resume(parser.ptr);
  parser.paused = false;
}

const NO_BYTES = Buffer.alloc(0);

/** The connection was cut. If undici expects another response on it, it reports the missing rest as an error. */
function endAsCut(parser: ResponseParser): void {
  parser.shouldKeepAlive = true;
}

/**
 * This file and no other reaches into undici. The public entry also loads fetch, caches and mocks: 55 ms of CPU and 9 MB in
 * every worker instead of 18 ms. The package has no `exports` that hide its files, its version is pinned, and
 * test/architecture/private-parts.test.ts checks each of them in that version.
 */
const load = createRequire(import.meta.url);

/** The part of undici that svc uses. The first call loads it. */
export function loadPool(): typeof Undici.Pool {
  return load('undici/lib/dispatcher/pool.js') as typeof Undici.Pool;
}

/** The key under which undici keeps the response parser of a socket; undefined in versions without it. */
function loadParserKey(): symbol | undefined {
  return (load('undici/lib/core/symbols.js') as { readonly kParser?: symbol }).kParser;
}

/** Idle connections are kept this long unless the provider asks for less: longer than usual pauses, shorter than NAT tables. */
const KEEP_ALIVE_MS = 15_000;
