import { lookup as dnsLookup } from 'node:dns';
import type { Dispatcher } from 'undici';
import { ByteBudget } from '../../../base/byte-budget.ts';
import { guardedLookup } from './address-guard.ts';
import type { AddressFinder, AddressGuard } from './address-guard.ts';
import { createPool, createProxiedPool } from './create-pool.ts';
import { proxyFor } from './proxy-settings.ts';
import { SocketWatch } from './socket-watch.ts';
import { SystemTrust } from './system-trust.ts';
import { Upstream } from './upstream.ts';

/** Where a call goes, and what its connections may do. */
export interface Endpoint {
  /** `https://api.example.com` */
  readonly origin: string;
  /** Per-request URLs: every address that the name resolves to is checked at connect time. */
  readonly guard: AddressGuard;
}

/**
 * The bytes that large replies hold together in one process: four of the largest. Each reply has its own bound; this one
 * stops a provider that requests chose from filling the memory with many at once.
 */
const LARGE_REPLIES_BYTES = 256 * 1024 * 1024;

/** The bytes of inlined media that the calls of one process hold together: any caller can choose the number of URLs. */
export const INLINED_MEDIA_BYTES = 256 * 1024 * 1024;

/**
 * Origins with connections at one time. Definition files name a handful; callers may bring any number of their own,
 * and the least recently used pool is closed for a new one.
 */
const MAX_POOLS = 256;

/**
 * One keep-alive pool for each origin, shared by all clients (credentials travel in headers, never with a connection), and
 * another one for its streams, whose sockets are read in another way.
 */
export class ConnectionPools {
  /** Room for media that are sent inline, of all calls. */
  readonly media = new ByteBudget(INLINED_MEDIA_BYTES);
  readonly #pools = new Map<string, Upstream>();
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #trust: SystemTrust;
  readonly #find: AddressFinder;
  readonly #replies = new ByteBudget(LARGE_REPLIES_BYTES);
  #closed = false;

  /** `env` holds the variables that name proxies and certificates. `find` resolves names. */
  constructor(env: Readonly<Record<string, string | undefined>> = {}, find: AddressFinder = dnsLookup) {
    this.#env = env;
    this.#find = find;
    this.#trust = new SystemTrust(env);
  }

  /** The pool for an endpoint, made on first use. */
  to(endpoint: Endpoint, streamed = false): Upstream {
    const key = keyOf(endpoint, streamed);
    const known = this.#pools.get(key);
    if (known !== undefined) {
      if (this.#pools.size > MAX_POOLS / 2) this.#touch(key, known);
      return known;
    }
    const sockets = new SocketWatch();
    const pool = new Upstream(this.#create(endpoint, sockets, streamed), sockets, this.#replies);
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
  #create(endpoint: Endpoint, sockets: SocketWatch, streamed: boolean): Dispatcher {
    const proxy = endpoint.guard === 'none' ? proxyFor(endpoint.origin, this.#env) : undefined;
    const parts = { origin: endpoint.origin, sockets, trust: this.#trust, streamed };
    return proxy === undefined
      ? createPool(parts, guardedLookup(endpoint.guard, this.#find))
      : createProxiedPool(parts, proxy);
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

function keyOf({ origin, guard }: Endpoint, streamed: boolean): string {
  if (!streamed) return guard === 'none' ? origin : `${guard} ${origin}`;
  return `${guard} stream ${origin}`;
}
