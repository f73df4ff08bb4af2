import { createRequire } from 'node:module';
import type { LookupFunction } from 'node:net';
import type * as Undici from 'undici';
import type { SocketWatch } from './socket-watch.ts';
import { trustingConnector } from './system-trust.ts';
import type { SystemTrust } from './system-trust.ts';

/**
 * This file and no other reaches into undici. The public entry also loads fetch, caches and mocks: 55 ms of CPU and 9 MB in
 * every worker instead of 18 ms. The package has no `exports` that hide its files, its version is pinned, and
 * test/architecture/private-parts.test.ts checks each of them in that version.
 */
const load = createRequire(import.meta.url);

/** The parts of undici that direct connections need. The first call loads them. */
export function loadPools(): Pick<typeof Undici, 'Pool' | 'buildConnector'> {
  return {
    Pool: load('undici/lib/dispatcher/pool.js') as typeof Undici.Pool,
    buildConnector: load('undici/lib/core/connect.js') as typeof Undici.buildConnector,
  };
}

/** The key under which undici keeps the response parser of a socket; undefined in versions without it. */
export function loadParserKey(): symbol | undefined {
  return (load('undici/lib/core/symbols.js') as { readonly kParser?: symbol }).kParser;
}

/** Idle connections are kept this long unless the provider asks for less: longer than usual pauses, shorter than NAT tables. */
const KEEP_ALIVE_MS = 15_000;

/**
 * The time after which undici gives up connecting. The clock of an exchange does so earlier, as soon as no request waits;
 * this limit is for attempts that never end after another connection served their request.
 */
const STUCK_CONNECT_MS = 600_000;

/** Connections through a proxy cannot be given up one by one, so this limits them for all clients. */
const PROXIED_CONNECT_MS = 60_000;

/**
 * Sockets of streams stop reading as soon as a paused reader has unread bytes, so that the kernel gathers the rest; by
 * default they read another 64 KiB, with a wake-up for each chunk. This costs two system calls per read, which is too much
 * for replies that are not streamed.
 */
const READ_WHEN_ASKED = { highWaterMark: 1 };

/** The target of connections, their watch, and the authorities they trust. */
export interface PoolParts {
  readonly origin: string;
  readonly sockets: SocketWatch;
  readonly trust: SystemTrust;
  /** Replies are streamed, and reading can pause. */
  readonly streamed: boolean;
}

/** Direct connections to one origin; `lookup` resolves its name. */
export function createPool(parts: PoolParts, lookup: LookupFunction): Undici.Pool {
  const { origin, sockets, streamed, trust } = parts;
  const { Pool, buildConnector } = loadPools();
  const options = { ...(streamed ? READ_WHEN_ASKED : {}), timeout: STUCK_CONNECT_MS, noDelay: true, lookup };
  const connect = trustingConnector((tls) => sockets.connector(buildConnector({ ...options, ...tls })), trust);
  return new Pool(origin, { pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, connect });
}

/**
 * Connections to one origin through a proxy, by CONNECT. A failed tunnel cannot be retried with more authorities, and
 * company authorities are common behind proxies, so the system's authorities are trusted from the start.
 */
export function createProxiedPool(parts: PoolParts, proxy: string): Undici.Dispatcher {
  const { origin, sockets, trust } = parts;
  // The agent opens its tunnels with methods that only the public entry adds to dispatchers.
  const { Pool, ProxyAgent } = load('undici') as typeof Undici;
  const secureContext = trust.context();
  const tls = secureContext === undefined ? {} : { requestTls: { secureContext }, proxyTls: { secureContext } };
  const agent = new ProxyAgent({
    uri: proxy,
    ...tls,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectTimeout: PROXIED_CONNECT_MS,
    factory: (target, options) => new Pool(target, watchedOptions(options, sockets)),
  });
  // A pool knows its origin; an agent reads it from each request.
  return agent.compose((dispatch) => (options, handler) => dispatch({ ...options, origin }, handler));
}

function watchedOptions(options: Undici.Pool.Options, sockets: SocketWatch): Undici.Pool.Options {
  const { connect } = options;
  return typeof connect === 'function' ? { ...options, connect: sockets.connector(connect) } : options;
}
