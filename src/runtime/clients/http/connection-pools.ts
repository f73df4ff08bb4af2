import type { Dispatcher, Pool } from 'undici';
import { lookup as dnsLookup } from 'node:dns';
import { guardedLookup } from './address-guard.ts';
import type { AddressFinder } from './address-guard.ts';
import { loadPools, loadUndici } from './load-undici.ts';
import { Upstream } from './upstream.ts';
import { SocketWatch } from './socket-watch.ts';
import { proxyFor } from './proxy-settings.ts';
import { SystemTrust } from './system-trust.ts';
import { trustingConnector } from './trusting-connector.ts';

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

/**
 * When undici gives up a connection. The clock of an exchange does it earlier and exactly, when nobody waits any more;
 * this is for those that were overtaken by another connection, and never end.
 */
const STUCK_CONNECT_MS = 600_000;

/** Connections through a proxy cannot be given up one by one: no client's limit is longer than this. */
const PROXIED_CONNECT_MS = 60_000;

/** One keep-alive pool for each origin, shared by all clients: credentials travel in headers, never with a connection. */
export class ConnectionPools {
  readonly #pools = new Map<string, Upstream>();
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #trust: SystemTrust;
  readonly #find: AddressFinder;
  #closed = false;

  /** `env` holds the variables that name proxies and certificates. `find` resolves names. */
  constructor(env: Readonly<Record<string, string | undefined>> = {}, find: AddressFinder = dnsLookup) {
    this.#env = env;
    this.#find = find;
    this.#trust = new SystemTrust(env);
  }

  /** The pool for an endpoint, made on first use. */
  to(endpoint: Endpoint): Upstream {
    const key = endpoint.guard === 'none' ? endpoint.origin : `${endpoint.guard} ${endpoint.origin}`;
    const known = this.#pools.get(key);
    if (known !== undefined) {
      if (this.#pools.size > MAX_POOLS / 2) this.#touch(key, known);
      return known;
    }
    const sockets = new SocketWatch();
    const pool = new Upstream(this.#create(endpoint, sockets), sockets);
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
  #create(endpoint: Endpoint, sockets: SocketWatch): Dispatcher {
    const proxy = endpoint.guard === 'none' ? proxyFor(endpoint.origin, this.#env) : undefined;
    return proxy === undefined
      ? createPool({ endpoint, find: this.#find, sockets, trust: this.#trust })
      : createProxied({ origin: endpoint.origin, proxy, sockets, trust: this.#trust });
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

function createPool(call: {
  readonly endpoint: Endpoint;
  readonly find: AddressFinder;
  readonly sockets: SocketWatch;
  readonly trust: SystemTrust;
}): Pool {
  const { endpoint, sockets, trust } = call;
  const undici = loadPools();
  const lookup = guardedLookup(endpoint.guard, call.find);
  const options = { ...READ_WHEN_ASKED, timeout: STUCK_CONNECT_MS, noDelay: true, lookup };
  const connect = trustingConnector((tls) => sockets.connector(undici.buildConnector({ ...options, ...tls })), trust);
  return new undici.Pool(endpoint.origin, {
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect,
  });
}

/**
 * All connections to one origin through a proxy, by CONNECT. A tunnel cannot be tried again, and behind a proxy is where
 * authorities of a company stand, so the system's are trusted from the start.
 */
function createProxied(call: {
  readonly origin: string;
  readonly proxy: string;
  readonly sockets: SocketWatch;
  readonly trust: SystemTrust;
}): Dispatcher {
  const { origin, proxy, sockets } = call;
  const { Pool, ProxyAgent } = loadUndici();
  const secureContext = call.trust.context();
  const tls = secureContext === undefined ? {} : { requestTls: { secureContext }, proxyTls: { secureContext } };
  const agent = new ProxyAgent({
    uri: proxy,
    ...tls,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectTimeout: PROXIED_CONNECT_MS,
    factory: (target, options) => new Pool(target, watchedOptions(options, sockets)),
  });
  // A pool knows its origin; an agent has to be told.
  return agent.compose((dispatch) => (options, handler) => dispatch({ ...options, origin }, handler));
}

function watchedOptions(options: Pool.Options, sockets: SocketWatch): Pool.Options {
  const { connect } = options;
  return typeof connect === 'function' ? { ...options, connect: sockets.connector(connect) } : options;
}
