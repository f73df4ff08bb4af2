import { createRequire } from 'node:module';
import type * as Undici from 'undici';

/**
 * The only file that reaches into undici. Its public entry also loads fetch, caches and mocks: 55 ms of CPU and 9 MB in
 * every worker instead of 18 ms. The package has no `exports` that hide its files, its version is pinned, and
 * test/architecture/private-parts.test.ts checks each of them in that version.
 */
const load = createRequire(import.meta.url);

interface UndiciPools {
  readonly Pool: typeof Undici.Pool;
  readonly buildConnector: typeof Undici.buildConnector;
}

export function loadPools(): UndiciPools {
  return {
    Pool: load('undici/lib/dispatcher/pool.js') as typeof Undici.Pool,
    buildConnector: load('undici/lib/core/connect.js') as typeof Undici.buildConnector,
  };
}

/** The public entry: the agent for a proxy opens its tunnels with methods that only the entry adds to dispatchers. */
export function loadUndici(): typeof Undici {
  return load('undici') as typeof Undici;
}

/** The key under which undici keeps the response parser of a socket; undefined in versions without it. */
export function loadParserKey(): symbol | undefined {
  return (load('undici/lib/core/symbols.js') as { readonly kParser?: symbol }).kParser;
}
