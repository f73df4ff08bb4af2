import type { Socket } from 'node:net';
import { Pool, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';
import { guardedLookup } from './address-guard.ts';

/** Where a call goes, and what its connections may do. */
export interface Endpoint {
  /** `https://api.example.com` */
  readonly origin: string;
  /** Per-request URLs: every address that the name resolves to is checked at connect time. */
  readonly guard: 'none' | 'public-only' | 'not-link-local';
}

/**
 * Origins with connections at one time. Definition files name a handful; callers may bring any number of their own,
 * and the least recently used pool is closed for a new one.
 */
const MAX_POOLS = 256;

/** Idle connections are kept this long unless the provider says less: longer than usual pauses, shorter than NAT tables. */
const KEEP_ALIVE_MS = 15_000;

/** When undici gives up a connection that nobody waits for any more; the exchange's own clock is earlier and exact. */
const ABANDONED_CONNECT_MS = 10_000;

/** One keep-alive pool for each origin, shared by all clients: credentials travel in headers, never with a connection. */
export class ConnectionPools {
  readonly #pools = new Map<string, Pool>();
  #closed = false;

  /** The pool for an endpoint, made on first use. */
  to(endpoint: Endpoint): Dispatcher {
    const key = endpoint.guard === 'none' ? endpoint.origin : `${endpoint.guard} ${endpoint.origin}`;
    const known = this.#pools.get(key);
    if (known !== undefined) {
      if (this.#pools.size > MAX_POOLS / 2) this.#touch(key, known);
      return known;
    }
    const pool = createPool(endpoint);
    this.#pools.set(key, pool);
    if (this.#closed) void pool.destroy();
    this.#evict();
    return pool;
  }

  /** Open connections over all pools. */
  get connections(): number {
    let sum = 0;
    for (const pool of this.#pools.values()) sum += pool.stats.connected;
    return sum;
  }

  /** Cuts every connection; what runs fails. */
  async close(): Promise<void> {
    this.#closed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #touch(key: string, pool: Pool): void {
    this.#pools.delete(key);
    this.#pools.set(key, pool);
  }

  #evict(): void {
    if (this.#pools.size <= MAX_POOLS) return;
    const [oldest] = this.#pools;
    if (oldest === undefined) return;
    this.#pools.delete(oldest[0]);
    // Waits for its calls in flight.
    void oldest[1].close();
  }
}

function createPool(endpoint: Endpoint): Pool {
  const lookup = guardedLookup(endpoint.guard);
  const connect = buildConnector({
    timeout: ABANDONED_CONNECT_MS,
    noDelay: true,
    ...(lookup === undefined ? {} : { lookup }),
  });
  return new Pool(endpoint.origin, {
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: (options, callback) => {
      connect(options, (...result) => {
        if (result[0] === null) tellUseInErrors(result[1]);
        callback(...result);
      });
    },
  });
}

/** A reset says nothing of what happened before on its connection: whether it was used decides about sending again. */
function tellUseInErrors(socket: Socket): void {
  socket.prependListener('error', (error) => {
    Object.assign(error, { socket: { bytesRead: socket.bytesRead } });
  });
}
