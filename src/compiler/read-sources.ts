import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { codeOf, messageOf } from '../base/invariant.ts';
import { err, ok, type Result } from '../base/result.ts';
import { didYouMean } from '../base/suggestion.ts';
import { SourceFile } from '../diagnostics/source-file.ts';

const EXTENSIONS = ['.svc', '.baml'];
/** Definition directories to look for if the user names the root of a project. */
export const DEFINITION_DIRECTORIES: readonly string[] = ['svc_src', 'baml_src'];

/** Definition files, and the directory or file from which they were read. */
export interface Sources {
  readonly path: string;
  readonly files: readonly SourceFile[];
}

/**
 * Reads one definition file, or all definition files under a directory, sorted by path, with paths relative to the working
 * directory. If a directory contains no definition file itself, but one of the usual definition directories, reads that one.
 * Outside `baml_src`, ignores files in hidden directories and in `node_modules`. The failure is a sentence for the user.
 */
export function readSources(path: string): Result<Sources, string> {
  const listed = listFiles(path);
  if (!listed.ok) return listed;
  const inner = usualDirectory(path, listed.value);
  const chosen = listed.value.filter((file) => inner === '' || file.startsWith(`${inner}/`));
  const files = readFiles(chosen.map((file) => join(path, file)));
  return files.ok ? ok({ path: join(path, inner), files: files.value }) : files;
}

/** Lists the definition files at `path`, relative to it: at least one, or a single empty path if `path` is a file. */
function listFiles(path: string): Result<readonly string[], string> {
  try {
    if (!statSync(path).isDirectory()) {
      return isDefinitionFile(path) ? ok(['']) : err(`"${shown(path)}" is not a definition file (*.svc, *.baml)`);
    }
    const files = filesUnder(path, '');
    return files.length > 0 ? ok(files.toSorted()) : err(noFiles(path));
  } catch (failure) {
    return err(reasonOf(failure, path));
  }
}

/** Lists the definition files in `directory`, a prefix such as `a/b/`. Both it and the files are relative to `root`. */
function filesUnder(root: string, directory: string): readonly string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}${entry.name}`;
    if (entry.isDirectory())
      return isIgnoredDirectory(entry.name, join(root, directory)) ? [] : filesUnder(root, `${path}/`);
    return isDefinitionFile(path) ? [path] : [];
  });
}

function noFiles(path: string): string {
  return `no definition files (*.svc, *.baml) under "${shown(path)}": pass the directory that contains them, or write a first function with "svc init"`;
}

/** True for the name or path of a file that svc reads. */
export function isDefinitionFile(path: string): boolean {
  return EXTENSIONS.some((extension) => path.endsWith(extension));
}

/**
 * True for the name of a directory whose files svc does not read. BAML reads all directories in `baml_src`, so svc does too.
 * It skips directories such as `..data`, but follows links to files in them: Kubernetes mounts a ConfigMap as links into such
 * directories, so each file would otherwise appear twice.
 */
export function isIgnoredDirectory(directory: string, parent: string): boolean {
  if (directory.startsWith('..')) return true;
  const isIgnored = directory.startsWith('.') || directory === 'node_modules';
  return isIgnored && !resolve(parent).split(sep).includes('baml_src');
}

/** Returns the name of the inner directory to read instead of `path`; empty if svc reads `path` itself. */
function usualDirectory(path: string, files: readonly string[]): string {
  const meansItself = DEFINITION_DIRECTORIES.includes(basename(resolve(path)));
  if (meansItself || files.some((file) => !file.includes('/'))) return '';
  return DEFINITION_DIRECTORIES.find((name) => files.some((file) => file.startsWith(`${name}/`))) ?? '';
}

/** Lists the definition files under a directory, sorted; none if it cannot be read. Follows the rules of `readSources`. */
export function definitionFilesUnder(directory: string): readonly string[] {
  try {
    return filesUnder(directory, '')
      .toSorted()
      .map((file) => join(directory, file));
  } catch {
    return [];
  }
}

function readFiles(paths: readonly string[]): Result<readonly SourceFile[], string> {
  const files: SourceFile[] = [];
  for (const path of paths) {
    const read = readSource(path);
    if (!read.ok) return read;
    files.push(...read.value);
  }
  return ok(files);
}

/** Returns one file, or none if the path is a link to a directory. The failure is a sentence for the user. */
export function readSource(path: string): Result<readonly SourceFile[], string> {
  try {
    if (statSync(path).isDirectory()) return ok([]);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    return ok([new SourceFile(shown(path), text)]);
  } catch (failure) {
    return err(failure instanceof TypeError ? `"${shown(path)}" is not valid UTF-8` : reasonOf(failure, path));
  }
}

function shown(path: string): string {
  return relative(process.cwd(), path).replaceAll('\\', '/') || '.';
}

/** Returns `. Did you mean "svc_src"?` if an entry next to the path has a similar name. */
function nearestEntry(path: string): string {
  try {
    const near = didYouMean(basename(path), readdirSync(dirname(resolve(path))));
    return near === '' ? '' : `. ${near}`;
  } catch {
    return '';
  }
}

/** The sentence for a path at which there is nothing. */
export function missingPath(path: string): string {
  return `"${shown(path)}" does not exist${nearestEntry(path)}`;
}

function reasonOf(failure: unknown, path: string): string {
  const code = codeOf(failure);
  if (code === 'ENOENT') return missingPath(path);
  if (code === 'EACCES' || code === 'EPERM') return `"${shown(path)}" cannot be read: permission denied`;
  return `"${shown(path)}" cannot be read: ${messageOf(failure)}`;
}
