import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { replaceFile, writeFault } from '../../base/write-file.ts';
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
    return err(`"${path}" cannot be written: ${writeFault(error)}`);
  }
}
