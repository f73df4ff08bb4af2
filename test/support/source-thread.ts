import { inject } from 'vitest';
import type { ThreadName } from './bundle-threads.ts';

/** Returns the URL of the entry file of a thread, bundled from its source: unit tests run without a build. */
export function sourceThread(name: ThreadName): URL {
  return new URL(`${name}.mjs`, inject('threads'));
}
