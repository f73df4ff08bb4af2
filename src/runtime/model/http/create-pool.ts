import type { LookupFunction } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import { loadPools, loadUndici } from './load-undici.ts';
import type { SocketWatch } from './socket-watch.ts';
import { trustingConnector } from './system-trust.ts';
import type { SystemTrust } from './system-trust.ts';

/** Idle connections are kept this long unless the provider says less: longer than usual pauses, shorter than NAT tables. */
const KEEP_ALIVE_MS = 15_000;

/**
 * When undici gives up a connection. The clock of an exchange does it earlier and exactly, when nobody waits any more;
 * this is for those that were overtaken by another connection, and never end.
 */
const STUCK_CONNECT_MS = 600_000;

/** Connections through a proxy cannot be given up one by one: no client's limit is longer than this. */
const PROXIED_CONNECT_MS = 60_000;

/**
 * Sockets of streams stop reading as soon as a paused reader has something to read, so that the kernel gathers what comes;
 * by default they go on for 64 KiB, with a wake-up for each piece. It costs two system calls for each read, which is too
 * much for replies that come whole.
 */
const READ_WHEN_ASKED = { highWaterMark: 1 };

/** Where connections lead, who watches them, and whom they trust. */
export interface PoolParts {
  readonly origin: string;
  readonly sockets: SocketWatch;
  readonly trust: SystemTrust;
  /** Replies come in pieces, and reading may pause. */
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
 * All connections to one origin through a proxy, by CONNECT. A tunnel cannot be tried again, and behind a proxy is where
 * authorities of a company stand, so the system's are trusted from the start.
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
  // A pool knows its origin; an agent has to be told.
  return agent.compose((dispatch) => (options, handler) => dispatch({ ...options, origin }, handler));
}

function watchedOptions(options: Pool.Options, sockets: SocketWatch): Pool.Options {
  const { connect } = options;
  return typeof connect === 'function' ? { ...options, connect: sockets.connector(connect) } : options;
}
