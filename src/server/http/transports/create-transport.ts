import { openFileLimit } from '../../node-process.ts';
import type { Transport, TransportOptions } from '../transport.ts';
import { messageOf } from '../../../base/invariant.ts';
import { NodeTransport } from './node-transport.ts';
import { UwsTransport } from './uws-transport.ts';

/**
 * `auto` selects uWebSockets.js where its binary loads and works, and node:http elsewhere; `onFallback` then gets the reason, a sentence.
 * Rejects when `uws` is requested and its binary does not load or work.
 */
export async function createTransport(
  choice: 'auto' | 'uws' | 'node',
  options: TransportOptions,
  onFallback: (reason: string) => void = () => {},
): Promise<Transport> {
  if (choice === 'node') return new NodeTransport(options);
  try {
    return await UwsTransport.load(options);
  } catch (error) {
    const reason = messageOf(error);
    if (choice === 'uws') throw new Error(`${reason} Use --transport auto or --transport node.`, { cause: error });
    onFallback(reason);
    return new NodeTransport(options);
  }
}

/** Limit of open files where /proc does not state it. */
const ASSUMED_DESCRIPTORS = 1024;

/** Open files that are not connections: code, logs, channels between processes. */
const RESERVED_DESCRIPTORS = 128;

/** Connections beyond the limit that stay open until their 503 is sent. */
const REFUSED_AT_ONCE = 32;

/**
 * The connections that one process can hold: half of its file descriptors, because each call can need one to a provider.
 * Without descriptors, the accept loop of uWebSockets.js spins, so this must stay well below the limit.
 */
export function connectionLimits(): Pick<TransportOptions, 'maxConnections' | 'closeAbove'> {
  const files = openFileLimit() ?? ASSUMED_DESCRIPTORS;
  const maxConnections = Math.max(64, Math.floor((files - RESERVED_DESCRIPTORS) / 2));
  return { maxConnections, closeAbove: maxConnections + REFUSED_AT_ONCE };
}
