import { lookup as dnsLookup } from 'node:dns';
import { isIP } from 'node:net';
import { ByteBudget } from '../../../base/byte-budget.ts';
import { FORBIDDEN, guardedLookup, withoutBrackets, type AddressFinder, type AddressGuard } from './address-guard.ts';
import { Connector, proxyFor } from './connector.ts';
import { Http1Pools } from './http1-pool.ts';
import { Http2Pool } from './http2-pool.ts';
import type { ConnectionCounts, OriginPool } from './origin-pool.ts';
import { SystemTrust } from './system-trust.ts';

/** The target of a call, and the addresses that its connections are allowed to reach. */
export interface Destination {
  /** `https://api.example.com` */
  readonly origin: string;
  /** For URLs of a request: every address of the name is checked at connect time. */
  readonly guard: AddressGuard;
  /** The version of HTTP; by default, `2` for https if the server speaks it, else `1.1`. */
  readonly version?: '1.1' | '2';
}

/**
 * The bytes of replies that one process holds at once if no memory limit determines them: enough for the largest reply. Each
 * reply has its own limit; this one prevents a provider that requests chose from filling the memory with many replies. A reply
 * takes about ten times its size while svc decodes, copies and parses it.
 */
export const DEFAULT_REPLY_BYTES = 64 * 1024 * 1024;

/** The bytes that downloads of media hold while they arrive. */
const DOWNLOADED_MEDIA_BYTES = 256 * 1024 * 1024;

/** The bytes of inlined media that the calls of one process hold together: any caller can choose the number of URLs. */
export const INLINED_MEDIA_BYTES = 256 * 1024 * 1024;

/**
 * Origins with connections at one time. Definition files name a handful; callers can bring any number of their own, and
 * a new pool replaces the least recently used one.
 */
const MAX_POOLS = 256;

const PROTOCOLS = ['http/1.1', 'h2'] as const;

/** One pool of kept connections per origin, shared by all clients: credentials travel in headers, never with a connection. */
export class ConnectionPools {
  /** Media that calls send inline. */
  readonly media = new ByteBudget(INLINED_MEDIA_BYTES);
  readonly downloads = new ByteBudget(DOWNLOADED_MEDIA_BYTES);
  /** Replies, until their values are known. */
  readonly replies: ByteBudget;
  readonly #pools = new Map<string, OriginPool>();
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #trust: SystemTrust;
  readonly #find: AddressFinder;
  #closed = false;

  /** `env`: the variables that name proxies and certificates. `find` resolves names. */
  constructor(
    env: Readonly<Record<string, string | undefined>> = {},
    find: AddressFinder = dnsLookup,
    replyBytes = DEFAULT_REPLY_BYTES,
  ) {
    this.replies = new ByteBudget(replyBytes);
    this.#env = env;
    this.#find = find;
    this.#trust = new SystemTrust(env);
  }

  /** The pool of a destination, created on first use. */
  to(destination: Destination): OriginPool {
    const key = keyOf(destination);
    const known = this.#pools.get(key);
    if (known !== undefined) {
      if (this.#pools.size > MAX_POOLS / 2) this.#touch(key, known);
      return known;
    }
    const pool = this.#create(destination);
    this.#pools.set(key, pool);
    if (this.#closed) void pool.destroy();
    this.#evict();
    return pool;
  }

  /**
   * Resolves a name and returns why a guard refuses it; undefined if it is allowed. A name without an address is not public. svc
   * cannot check names for a server behind a proxy, which is in another network.
   */
  async refusalOf(hostname: string, guard: AddressGuard, origin: string): Promise<string | undefined> {
    const host = withoutBrackets(hostname);
    if (isIP(host) !== 0 || proxyFor(origin, this.#env) !== undefined) return undefined;
    return new Promise((resolve) => {
      guardedLookup(guard, this.#find)(host, {}, (error) => {
        const isRefused = error !== null && (guard === 'public-only' || error.code === FORBIDDEN);
        resolve(isRefused ? error.message : undefined);
      });
    });
  }

  /** The origins with a pool, from definition files and requests, at most 256. */
  get origins(): number {
    return this.#pools.size;
  }

  /** The connections of all pools, by the version of HTTP. */
  get counts(): readonly ConnectionCounts[] {
    const all = [...this.#pools.values()].flatMap((pool) => pool.counts);
    return PROTOCOLS.map((protocol) => {
      const own = all.filter((counts) => counts.protocol === protocol);
      const sum = (of: 'connections' | 'active' | 'waiting') => own.reduce((total, counts) => total + counts[of], 0);
      return { protocol, connections: sum('connections'), active: sum('active'), waiting: sum('waiting') };
    });
  }

  /** Cuts every connection; requests in flight fail. */
  async close(): Promise<void> {
    this.#closed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  /**
   * URLs of a request never go through the proxy: it would resolve their names itself, which bypasses the guard, and it
   * reaches hosts that svc does not.
   */
  #create({ origin, guard, version }: Destination): OriginPool {
    const proxy = guard === 'none' ? proxyFor(origin, this.#env) : undefined;
    const lookup = guardedLookup(guard, this.#find);
    const connector = new Connector({ origin, lookup, trust: this.#trust, ...(proxy === undefined ? {} : { proxy }) });
    if (version === '2') return new Http2Pool({ origin, connector, http1: undefined });
    const http1 = new Http1Pools(origin, connector);
    return version === '1.1' || origin.startsWith('http:') ? http1 : new Http2Pool({ origin, connector, http1 });
  }

  #touch(key: string, pool: OriginPool): void {
    this.#pools.delete(key);
    this.#pools.set(key, pool);
  }

  #evict(): void {
    if (this.#pools.size <= MAX_POOLS) return;
    const [oldest] = this.#pools;
    if (oldest === undefined) return;
    this.#pools.delete(oldest[0]);
    // Waits for its requests in flight.
    void oldest[1].close();
  }
}

function keyOf({ origin, guard, version }: Destination): string {
  if (version !== undefined) return `${guard} ${version} ${origin}`;
  return guard === 'none' ? origin : `${guard} ${origin}`;
}
