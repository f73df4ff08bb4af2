import { existsSync, statSync } from 'node:fs';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { err, ok, type Result } from '../base/result.ts';
import { missingPath } from '../compiler/read-sources.ts';
import { DEFAULT_DIRECTORIES } from '../config/settings.ts';

/** The definitions to compile, and the part of them whose tests run. */
export interface TestPlaces {
  /** Absent if nothing names a directory. */
  readonly from?: string;
  /** Files and directories inside `from`; empty for all of it. */
  readonly paths: readonly string[];
}

/** The names of definition directories that svc recognizes. */
const DIRECTORY_NAMES: ReadonlySet<string> = new Set(DEFAULT_DIRECTORIES.map((directory) => basename(directory)));

/**
 * Finds the definitions for the arguments of `svc test`. A test needs all definitions, not only those of its file: paths inside
 * `from`, or inside a directory with the usual name, select tests in it. Otherwise, one path is the definitions themselves.
 * `explicit`: the user named `from`. Returns an error message if it finds none.
 */
export function locateTests(
  paths: readonly string[],
  from: string | undefined,
  explicit: boolean,
): Result<TestPlaces, string> {
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) return err(missingPath(missing));
  if (paths.length === 0) return ok({ paths: [], ...(from !== undefined && { from }) });
  for (const root of [from, usualDirectory(paths[0] ?? '')]) {
    if (root === undefined || !isDirectory(root) || !paths.every((path) => contains(root, path))) continue;
    return ok({ from: root, paths: paths.some((path) => resolve(path) === resolve(root)) ? [] : paths });
  }
  const [only, ...others] = paths;
  if (explicit && from !== undefined) {
    return err(`${paths.map((path) => JSON.stringify(path)).join(' and ')}: not inside the definitions "${from}"`);
  }
  if (only !== undefined && others.length === 0) return ok({ from: only, paths: [] });
  return err('the paths are not inside one directory of definitions: pass that directory to --from');
}

/** The nearest directory with the name of a definition directory that contains the path, or is the path. */
function usualDirectory(path: string): string | undefined {
  for (let at = resolve(path); at !== dirname(at); at = dirname(at)) {
    if (DIRECTORY_NAMES.has(basename(at)) && isDirectory(at)) return relative(process.cwd(), at) || '.';
  }
  return undefined;
}

function contains(root: string, path: string): boolean {
  const [outer, inner] = [resolve(root), resolve(path)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
