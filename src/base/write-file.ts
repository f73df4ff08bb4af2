import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { codeOf, messageOf } from './invariant.ts';

/**
 * Writes a file that appears complete or not at all: a reader never gets a part of it. `mode` applies to a new file. Throws an error of
 * the file system.
 */
export function replaceFile(path: string, content: string | Uint8Array, mode?: number): void {
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(unfinished, content, { mode });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** The reason why a file cannot be written, as the end of a sentence. */
export function writeFault(error: unknown): string {
  return WRITE_FAULTS.get(codeOf(error) ?? '') ?? messageOf(error);
}

const WRITE_FAULTS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'its directory does not exist'],
  ['EISDIR', 'it is a directory'],
  ['EACCES', 'permission is denied'],
  ['EPERM', 'permission is denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the quota of the disk is used up'],
  ['EPIPE', 'its reader is gone'],
]);
