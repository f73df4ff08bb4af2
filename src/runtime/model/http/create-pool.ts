import { createRequire } from 'node:module';
import type * as Undici from 'undici';

/**
 * This file and no other reaches into undici. The public entry also loads fetch, caches and mocks: 55 ms of CPU and 9 MB in
 * every worker instead of 18 ms. The package has no `exports` that hide its files, its version is pinned, and
 * test/architecture/private-parts.test.ts checks each of them in that version.
 */
const load = createRequire(import.meta.url);

/** The part of undici that svc uses. The first call loads it. */
export function loadPool(): typeof Undici.Pool {
  return load('undici/lib/dispatcher/pool.js') as typeof Undici.Pool;
}

/** The key under which undici keeps the response parser of a socket; undefined in versions without it. */
export function loadParserKey(): symbol | undefined {
  return (load('undici/lib/core/symbols.js') as { readonly kParser?: symbol }).kParser;
}

/** Idle connections are kept this long unless the provider asks for less: longer than usual pauses, shorter than NAT tables. */
const KEEP_ALIVE_MS = 15_000;

/** Connections to one origin, each of which serves one request at a time. */
export function createPool(origin: string, connect: Undici.buildConnector.connector): Undici.Pool {
  const Pool = loadPool();
  return new Pool(origin, { pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, connect });
}
