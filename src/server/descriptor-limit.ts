import { readFileSync } from 'node:fs';

/** Where the system does not say, and for systems without /proc. */
const ASSUMED = 1024;

/** Open files that have nothing to do with callers: code, logs, channels between processes. */
const RESERVED = 128;

/** Connections beyond the limit that are held for as long as it takes to answer 503. */
const REFUSED_AT_ONCE = 32;

/** How many client connections one process may hold. */
export interface ConnectionLimits {
  /** Those that are served; more get 503. */
  readonly maxConnections: number;
  /** Those that are held at all; more are closed at once. */
  readonly closeAbove: number;
}

/**
 * Half of the descriptors, since each call may need one to a provider. Out of descriptors the accept loop of
 * uWebSockets.js spins, so this must stay well below the limit.
 */
export function connectionLimits(): ConnectionLimits {
  const maxConnections = Math.max(64, Math.floor((softLimit() - RESERVED) / 2));
  return { maxConnections, closeAbove: maxConnections + REFUSED_AT_ONCE };
}

function softLimit(): number {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return match === null ? ASSUMED : Number(match[1]);
  } catch {
    return ASSUMED;
  }
}
