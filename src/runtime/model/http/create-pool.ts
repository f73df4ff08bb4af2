import type { LookupFunction } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import { loadPools, loadUndici } from './load-undici.ts';
import type { SocketWatch } from './socket-watch.ts';
import { trustingConnector } from './system-trust.ts';
import type { SystemTrust } from './system-trust.ts';

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
export function createPool(parts: PoolParts, lookup: LookupFunction): Pool {
  const { origin, sockets, streamed, trust } = parts;
  const undici = loadPools();
  const options = { ...(streamed ? READ_WHEN_ASKED : {}), timeout: STUCK_CONNECT_MS, noDelay: true, lookup };
  const connect = trustingConnector((tls) => sockets.connector(undici.buildConnector({ ...options, ...tls })), trust);
  return new undici.Pool(origin, { pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, connect });
}

/**
 * Connections to one origin through a proxy, by CONNECT. A failed tunnel cannot be retried with more authorities, and
 * company authorities are common behind proxies, so the system's authorities are trusted from the start.
 */
export function createProxiedPool(parts: PoolParts, proxy: string): Dispatcher {
  const { origin, sockets, trust } = parts;
  const { Pool, ProxyAgent } = loadUndici();
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

function watchedOptions(options: Pool.Options, sockets: SocketWatch): Pool.Options {
  const { connect } = options;
  return typeof connect === 'function' ? { ...options, connect: sockets.connector(connect) } : options;
}
