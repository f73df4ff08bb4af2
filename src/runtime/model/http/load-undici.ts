import { createRequire } from 'node:module';
import type * as Undici from 'undici';

/**
 * The parts of undici that svc uses, each loaded when it is first needed. The package's entry brings fetch, caches,
 * mocks and more: three times the time that a pool takes, at the start of every worker. The package has no `exports`
 * that hide the files, and its version is pinned.
 */
const load = createRequire(import.meta.url);

export interface UndiciPools {
  readonly Pool: typeof Undici.Pool;
  readonly buildConnector: typeof Undici.buildConnector;
}

export function loadPools(): UndiciPools {
  return {
    Pool: load('undici/lib/dispatcher/pool.js') as typeof Undici.Pool,
    buildConnector: load('undici/lib/core/connect.js') as typeof Undici.buildConnector,
  };
}

/** The whole package: an agent for a proxy opens its tunnels with methods that only the entry adds to dispatchers. */
export function loadUndici(): typeof Undici {
  return load('undici') as typeof Undici;
}

/** Under which undici keeps the parser of a socket's responses; undefined where a version has none. */
export function loadParserKey(): symbol | undefined {
  return (load('undici/lib/core/symbols.js') as { readonly kParser?: symbol }).kParser;
}
