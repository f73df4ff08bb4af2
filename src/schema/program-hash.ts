import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonical-json.ts';
import type { Program } from './program.ts';

/** The hash of a program: SHA-256 in hex over the canonical JSON of everything in it but the hash itself. */
export function programHash(program: Omit<Program, 'hash'>): string {
  return createHash('sha256')
    .update(canonicalJson({ ...program, hash: undefined }))
    .digest('hex');
}
