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
import { ChunkedBody } from './chunked-body.ts';
import { ConnectionAttempts, takeReads, type Connector } from './connector.ts';
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
  /** The connection of the response. */
  #connection: WatchedSocket | undefined;
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
    if (this.#connection?.pauseChunks() !== true) this.#controller?.pause();
    // undici pauses only after another chunk; the kernel gathers chunks from now on.
    this.#connection?.socket.pause();
    return true;
  }

  rest(): boolean {
    return this.pause();
  }

  resume(): void {
    if (this.#state !== 'open') return;
    this.#controller?.resume();
    this.#connection?.resumeChunks();
    this.#connection?.socket.resume();
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
    this.#connection = this.#pool.watch.answering;
    if (status < 200) return;
    if (headers['transfer-encoding'] === 'chunked') this.#connection?.readChunks(this.#take);
    if (this.#state === 'open') this.#listener.onHeaders(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#take(chunk);
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.#state === 'open') this.#listener.onData(chunk);
    if (this.#state !== 'lingering') return;
    this.#lingeringBytes += chunk.length;
    if (this.#lingeringBytes > LINGER_BYTES) this.#close('reply was whole');
  };

  onResponseEnd(): void {
    this.#pool.responseEnded();
    this.#connection = undefined;
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
    const watch = new SocketWatch(loadParserKey(), streamed);
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
 * The last two, and chunks that undici does not read (see `WatchedSocket`), need the parser that undici keeps on a socket, for
 * which it has no public interface. If another version keeps it elsewhere, nothing breaks: `100 Continue` is a failure,
 * responses are not paused, and undici reads all chunks.
 */
export class SocketWatch {
  readonly #parserKey: symbol | undefined;
  readonly #streamed: boolean;
  /** Responses can be paused safely. Known before the first response arrives. */
  canPause = false;
  /** The connection of the response whose headers undici reports now. */
  answering: WatchedSocket | undefined;

  /** `parserKey`: the key under which undici keeps the parser of a socket. */
  constructor(parserKey: symbol | undefined, streamed = false) {
    this.#parserKey = parserKey;
    this.#streamed = streamed;
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
    if (parser === undefined) return;
    const watched = new WatchedSocket(socket, parser);
    this.#watchHeaders(parser, watched);
    if (this.#streamed) watched.readHeads();
  }

  /** Notes the socket while undici reports headers, and makes undici skip `100 Continue`, as it skips other interim responses. */
  #watchHeaders(parser: ResponseParser, watched: WatchedSocket): void {
    const headersComplete = parser.onHeadersComplete.bind(parser);
    parser.onHeadersComplete = (status, upgrade, shouldKeepAlive) => {
      this.answering = watched;
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

const HEAD_END = '\r\n\r\n';

/** `H` of `HTTP/1.1`. */
const HEAD_BEGIN = 72;

/**
 * A connection with a parser of undici. In a streamed response, undici reads the head, the last chunk and every unusual one; all
 * others pass it by, since it takes several objects and calls for each chunk, and a provider sends a chunk for each token. Between two
 * chunks, undici's parser is in the same state, however many passed it by.
 */
export class WatchedSocket {
  readonly socket: Socket;
  readonly #parser: ResponseParser;
  readonly #parse: (bytes: Buffer) => void;
  /** undici reads bytes that end with the head of a response. */
  #isHeadAlone = false;
  /** The chunks that pass undici by, and the reader of their content. */
  #chunks: ChunkedBody | undefined;
  #take: (bytes: Buffer) => void = ignore;
  /** Some bytes are being read: those that follow wait. */
  #isReading = false;

  constructor(socket: Socket, parser: ResponseParser) {
    this.socket = socket;
    this.#parser = parser;
    this.#parse = parser.execute.bind(parser);
  }

  /** From now on, undici gets each head of a response apart from its body. */
  readHeads(): void {
    this.#parser.execute = (bytes) => this.#read(bytes);
    takeReads(this.socket, (bytes) => {
      if (this.#chunks === undefined || this.socket.readableLength > 0) return false;
      this.#read(bytes);
      return true;
    });
  }

  /** If the body that follows the head can pass undici by, `take` hears of its content. undici reports any other. */
  readChunks(take: (bytes: Buffer) => void): void {
    if (!this.#isHeadAlone) return;
    this.#chunks = new ChunkedBody();
    this.#take = take;
  }

  /** Returns false if undici reads the body. */
  pauseChunks(): boolean {
    if (this.#chunks === undefined) return false;
    // undici takes bytes from the socket as long as its parser is not paused.
    this.#parser.paused = true;
    return true;
  }

  resumeChunks(): void {
    if (!this.#parser.paused) return;
    if (this.#isReading) this.#parser.paused = false;
    else this.#parser.resume();
  }

  #read(bytes: Buffer): void {
    this.#isReading = true;
    try {
      if (this.#chunks === undefined) this.#readHead(bytes);
      else this.#readChunks(this.#chunks, bytes);
    } finally {
      this.#isReading = false;
    }
  }

  #readHead(bytes: Buffer): void {
    const end = bytes[0] === HEAD_BEGIN ? bytes.indexOf(HEAD_END) : -1;
    if (end < 0) {
      this.#parse(bytes);
      return;
    }
    const bodyFrom = end + HEAD_END.length;
    this.#isHeadAlone = true;
    this.#parse(bytes.subarray(0, bodyFrom));
    this.#isHeadAlone = false;
    if (bodyFrom === bytes.length || this.#isGone) return;
    const rest = bytes.subarray(bodyFrom);
    if (this.#parser.paused) this.socket.unshift(rest);
    else if (this.#chunks === undefined) this.#parse(rest);
    else this.#readChunks(this.#chunks, rest);
  }

  #readChunks(chunks: ChunkedBody, bytes: Buffer): void {
    const content = bytes.subarray(0, chunks.read(bytes));
    const rest = chunks.isOver ? chunks.rest(bytes) : undefined;
    const take = this.#take;
    if (rest !== undefined) {
      this.#chunks = undefined;
      this.#take = ignore;
    }
    try {
      if (content.length > 0) take(content);
    } catch (error) {
      this.socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
    if (this.#isGone) return;
    if (chunks.isBroken) this.socket.destroy(new Error(NO_LINE_BREAK));
    else if (rest === undefined) return;
    else if (this.#parser.paused) this.socket.unshift(rest);
    else this.#parse(rest);
  }

  /** The reader of a response can end its connection. */
  get #isGone(): boolean {
    return this.socket.destroyed || this.#parser.ptr === null;
  }
}

const NO_LINE_BREAK = 'Response does not match the HTTP/1.1 protocol (a line break is missing after a chunk)';

function ignore(): void {}

/** The members of undici's response parser that svc uses. */
interface ResponseParser {
  paused: boolean;
  shouldKeepAlive: boolean;
  readonly ptr: unknown;
  readonly llhttp: { llhttp_resume(parser: unknown): void };
  execute(bytes: Buffer): void;
  resume(): void;
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

function isParser(value: unknown): value is ResponseParser {
  if (typeof value !== 'object' || value === null) return false;
  const {
    paused,
    shouldKeepAlive,
    ptr,
    llhttp,
    execute,
    resume: goOn,
    onHeadersComplete,
  } = value as Partial<ResponseParser>;
  return (
    typeof paused === 'boolean' &&
    typeof shouldKeepAlive === 'boolean' &&
    ptr !== undefined &&
    typeof llhttp?.llhttp_resume === 'function' &&
    typeof execute === 'function' &&
    typeof goOn === 'function' &&
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
