import { renameSync, rmSync, writeFileSync } from 'node:fs';

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
