import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { codeOf } from '../../../base/invariant.ts';
import { LINGER_BYTES, LINGER_MS } from './origin-pool.ts';
import type { HttpCall, OriginPool, ResponseHeaders, ResponseListener, SentRequest } from './origin-pool.ts';
import type { ConnectionAttempts } from './connection-attempts.ts';
import { ReadClock } from './read-clock.ts';
import type { SocketWatch } from './socket-watch.ts';
import { connectionFailure } from './upstream-failure.ts';

/** The sockets of a pool: those that are open, and those that are about to be. */
interface PoolSockets {
  readonly watch: Pick<SocketWatch, 'canPause' | 'answering'>;
  readonly attempts: Pick<ConnectionAttempts, 'stop'>;
}

/**
 * Connections over HTTP/1.1, one request at a time on each. undici frees a connection one turn of the event loop after
 * its response ended (the server can still close it), so a request that follows immediately would open another one. Such
 * a request waits for that turn.
 */
export class Http1Pool implements Pick<OriginPool, 'close' | 'destroy'> {
  readonly #connections: Dispatcher;
  readonly #sockets: PoolSockets;
  readonly clock = new ReadClock();
  /** Responses that ended in this turn and whose connections no request has claimed. */
  #freed = 0;
  /** Requests without a connection. */
  #waiting = 0;

  constructor(connections: Dispatcher, sockets: PoolSockets) {
    this.#connections = connections;
    this.#sockets = sockets;
  }

  get canPause(): boolean {
    return this.#sockets.watch.canPause;
  }

  /** The socket of the response whose headers are being reported. */
  get answering(): Socket | undefined {
    return this.#sockets.watch.answering;
  }

  get waiting(): number {
    return this.#waiting;
  }

  send(call: HttpCall, listener: ResponseListener): SentRequest {
    const request = new Http1Request(this, call, listener);
    request.send();
    return request;
  }

  /** The request reports `connected` or `gaveUp` once for each call of this method. */
  dispatch(options: Dispatcher.DispatchOptions, request: Http1Request): void {
    this.#waiting += 1;
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
    this.#waiting -= 1;
  }

  /** A request needs no connection any more. */
  gaveUp(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#sockets.attempts.stop();
  }

  responseEnded(): void {
    this.#freed += 1;
    if (this.#freed === 1) setImmediate(() => (this.#freed = 0));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  destroy(): Promise<void> {
    this.#sockets.attempts.stop();
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
    if (this.#state !== 'open' || !this.#pool.canPause) return false;
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
    this.#socket = this.#pool.answering;
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
