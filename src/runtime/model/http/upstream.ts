import type { Dispatcher } from 'undici';
import type { ByteBudget } from '../../../base/byte-budget.ts';
import type { SocketWatch } from './socket-watch.ts';

export interface RequestHandler extends Dispatcher.DispatchHandler {
  /** Nobody waits for the answer any more. */
  readonly isOver: boolean;
}

/**
 * The connections to one origin. undici frees a connection a turn of the event loop after its response ended (a server
 * may close it after all), so a request that follows on the spot would open one more. Such a request waits for that
 * turn.
 */
export class Upstream {
  /** Room for large replies, shared with all other origins. */
  readonly replies: ByteBudget;
  readonly #pool: Dispatcher;
  readonly #sockets: SocketWatch;
  /** Responses that ended in this turn and whose connections nobody claimed yet. */
  #freed = 0;
  /** Requests without a connection. */
  #waiting = 0;

  constructor(pool: Dispatcher, sockets: SocketWatch, replies: ByteBudget) {
    this.replies = replies;
    this.#pool = pool;
    this.#sockets = sockets;
  }

  /** Responses may be paused. */
  get mayPause(): boolean {
    return this.#sockets.mayPause;
  }

  /** The handler has to say `connected` or `gaveUp`, once for each time. */
  dispatch(options: Dispatcher.DispatchOptions, handler: RequestHandler): void {
    this.#waiting += 1;
    if (this.#freed === 0) {
      this.#pool.dispatch(options, handler);
      return;
    }
    this.#freed -= 1;
    setImmediate(() => {
      if (!handler.isOver) this.#pool.dispatch(options, handler);
    });
  }

  /** A request got a connection, or was told that it gets none. */
  connected(): void {
    this.#waiting -= 1;
  }

  /** A request needs no connection any more. */
  gaveUp(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#sockets.stopConnecting();
  }

  responseEnded(): void {
    this.#freed += 1;
    if (this.#freed === 1) setImmediate(() => this.#turnEnded());
  }

  /** Waits for requests in flight. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Cuts every connection; requests in flight fail. */
  destroy(): Promise<void> {
    this.#sockets.stopConnecting();
    return this.#pool.destroy();
  }

  #turnEnded(): void {
    this.#freed = 0;
  }
}
