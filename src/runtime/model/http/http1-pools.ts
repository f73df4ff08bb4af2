import type { Socket } from 'node:net';
import type { buildConnector, Pool } from 'undici';
import { ConnectionAttempts } from './connection-attempts.ts';
import type { Connector } from './connector.ts';
import { createPool, loadParserKey } from './create-pool.ts';
import { Http1Pool } from './http1-pool.ts';
import type { ConnectionCounts, HttpCall, OriginPool, ResponseListener, SentRequest } from './origin-pool.ts';
import { SocketWatch } from './socket-watch.ts';

const HTTP1 = ['http/1.1'];

/** The connections to one origin over HTTP/1.1: some for streams, whose sockets are read differently, and the others. */
export class Http1Pools implements OriginPool {
  readonly #origin: string;
  readonly #connector: Connector;
  /** Open connections that no request has used. */
  readonly #unused: Socket[] = [];
  /** undici's pools, for their counts. */
  readonly #created: Pool[] = [];
  #connections = 0;
  #calls: Http1Pool | undefined;
  #streams: Http1Pool | undefined;

  constructor(origin: string, connector: Connector) {
    this.#origin = origin;
    this.#connector = connector;
  }

  /** Responses can be paused safely. */
  get canPause(): boolean {
    return this.#calls?.canPause === true || this.#streams?.canPause === true;
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
    const connections = createPool(this.#origin, connect);
    this.#created.push(connections);
    return new Http1Pool(connections, { watch, attempts });
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
