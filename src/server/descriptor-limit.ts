import { readFileSync } from 'node:fs';

/** Where the system does not say, and for systems without /proc. */
const ASSUMED = 1024;

/** Open files that have nothing to do with callers: code, logs, channels between processes. */
const RESERVED = 128;

/**
 * How many client connections one process may hold: half of its descriptors, since each call may need one to a
 * provider. Out of descriptors the accept loop of uWebSockets.js spins, so this must stay well below the limit.
 */
export function connectionLimit(): number {
  return Math.max(64, Math.floor((softLimit() - RESERVED) / 2));
}

function softLimit(): number {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return match === null ? ASSUMED : Number(match[1]);
  } catch {
    return ASSUMED;
  }
}
