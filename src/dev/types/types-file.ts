import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { messageOf } from '../../base/invariant.ts';
import { err, ok, type Result } from '../../base/result.ts';

/**
 * Writes the text of `writeTypes` to a file. Returns false for a file that contains it already, which stays as it is: editors and
 * compilers that watch it do nothing. The file appears complete or not at all. The failure is a sentence that names the file.
 */
export function writeTypesFile(path: string, text: string): Result<boolean, string> {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    // Renaming would replace a pipe or a device.
    if (found !== undefined && !found.isFile()) writeFileSync(path, text);
    else if (found === undefined) replaceFile(path, text);
    else if (readFileSync(path, 'utf8') === text) return ok(false);
    // A link stays, and its target changes.
    else replaceFile(realpathSync(path), text);
    return ok(true);
  } catch (error) {
    return err(`"${path}" cannot be written: ${reasonOf(error)}`);
  }
}

function replaceFile(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'its directory does not exist';
  if (code === 'EISDIR') return 'it is a directory';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return messageOf(error);
}
