import { createHash } from 'node:crypto';
import type { Program } from './program.ts';

/**
 * The hash of a program: SHA-256 in hex over the JSON of everything in it but the hash itself. Members count in their
 * order: the compiler makes the same program in the same order, and JSON keeps it.
 */
export function programHash(program: Omit<Program, 'hash'>): string {
  return createHash('sha256')
    .update(JSON.stringify({ ...program, hash: undefined }))
    .digest('hex');
}
