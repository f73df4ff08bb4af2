import type { Dispatcher, Pool, buildConnector } from 'undici';
import { guardedLookup } from './address-guard.ts';
import { loadPools, loadUndici } from './load-undici.ts';
import { Upstream } from './upstream.ts';
import { watchSocket } from './watch-socket.ts';
import { proxyFor } from './proxy-settings.ts';

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
  readonly #pools = new Map<string, Upstream>();
  readonly #env: Readonly<Record<string, string | undefined>>;
  #closed = false;

  /** `env` holds the variables that name proxies. */
  constructor(env: Readonly<Record<string, string | undefined>> = {}) {
    this.#env = env;
  }

  /** The pool for an endpoint, made on first use. */
  to(endpoint: Endpoint): Upstream {
    const key = endpoint.guard === 'none' ? endpoint.origin : `${endpoint.guard} ${endpoint.origin}`;
    const known = this.#pools.get(key);
    if (known !== undefined) {
      if (this.#pools.size > MAX_POOLS / 2) this.#touch(key, known);
      return known;
    }
    const pool = new Upstream(this.#create(endpoint));
    this.#pools.set(key, pool);
    if (this.#closed) void pool.destroy();
    this.#evict();
    return pool;
  }

  /** Cuts every connection; what runs fails. */
  async close(): Promise<void> {
    this.#closed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  /**
   * URLs that a request decides never go by the proxy: it would resolve their names itself, behind our check, and
   * reaches hosts that we do not.
   */
  #create(endpoint: Endpoint): Dispatcher {
    const proxy = endpoint.guard === 'none' ? proxyFor(endpoint.origin, this.#env) : undefined;
    return proxy === undefined ? createPool(endpoint) : createProxied(endpoint.origin, proxy);
  }

  #touch(key: string, pool: Upstream): void {
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

/**
 * Sockets stop reading as soon as a paused reader has something to read, so that the kernel gathers what comes; by
 * default they go on for 64 KiB, with a wake-up for each piece.
 */
const READ_WHEN_ASKED = { highWaterMark: 1 };

function createPool(endpoint: Endpoint): Pool {
  const undici = loadPools();
  const lookup = guardedLookup(endpoint.guard);
  const connect = undici.buildConnector({
    ...READ_WHEN_ASKED,
    timeout: ABANDONED_CONNECT_MS,
    noDelay: true,
    ...(lookup === undefined ? {} : { lookup }),
  });
  return new undici.Pool(endpoint.origin, {
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: watched(connect),
  });
}

/** All connections to one origin through a proxy, by CONNECT. */
function createProxied(origin: string, proxy: string): Dispatcher {
  const { Pool, ProxyAgent } = loadUndici();
  const agent = new ProxyAgent({
    uri: proxy,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectTimeout: ABANDONED_CONNECT_MS,
    factory: (target, options) => new Pool(target, watchedOptions(options)),
  });
  // A pool knows its origin; an agent has to be told.
  return agent.compose((dispatch) => (options, handler) => dispatch({ ...options, origin }, handler));
}

function watchedOptions(options: Pool.Options): Pool.Options {
  const { connect } = options;
  return typeof connect === 'function' ? { ...options, connect: watched(connect) } : options;
}

function watched(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...result) => {
      if (result[0] === null) watchSocket(result[1]);
      callback(...result);
    });
  };
}
