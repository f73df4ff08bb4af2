import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { err, ok, type Result } from '../base/result.ts';
import { SourceFile } from '../diagnostics/source-file.ts';

const EXTENSIONS = ['.svc', '.baml'];
/** Definition directories to look for if the user names the root of a project. */
const DEFINITION_DIRECTORIES = ['baml_src', 'svc_src'];

/**
 * Reads all definition files under `dir`, sorted by path, with paths relative to the working directory. If `dir` itself
 * contains no definition file, but one of the usual definition directories, reads that one. Ignores files in hidden
 * directories, but follows links to them: Kubernetes mounts a ConfigMap as links into such directories, so that each file
 * would appear twice. The failure is a sentence for the user.
 */
export function readSources(dir: string): Result<readonly SourceFile[], string> {
  const listed = listFiles(dir);
  if (!listed.ok) return listed;
  const own = listed.value.filter(isDefinitionFile);
  const paths = own.some((path) => !path.includes('/')) ? own : withinUsualDirectory(own);
  if (paths.length === 0) return err(`no definition files (*.svc, *.baml) under "${shown(dir)}"`);
  return readFiles(dir, paths);
}

function listFiles(dir: string): Result<readonly string[], string> {
  try {
    if (!statSync(dir).isDirectory()) return err(`"${shown(dir)}" is not a directory`);
    const entries = readdirSync(dir, { recursive: true, encoding: 'utf8' });
    return ok(entries.map((path) => path.replaceAll('\\', '/')).toSorted());
  } catch (failure) {
    return err(reasonOf(failure, dir));
  }
}

function isDefinitionFile(path: string): boolean {
  const directories = path.split('/').slice(0, -1);
  return EXTENSIONS.some((extension) => path.endsWith(extension)) && !directories.some(isIgnored);
}

function isIgnored(directory: string): boolean {
  return directory.startsWith('.') || directory === 'node_modules';
}

/** Keeps only the files in `baml_src` or `svc_src`, if the directory contains one of them. */
function withinUsualDirectory(paths: readonly string[]): readonly string[] {
  for (const name of DEFINITION_DIRECTORIES) {
    const inside = paths.filter((path) => path.startsWith(`${name}/`));
    if (inside.length > 0) return inside;
  }
  return paths;
}

function readFiles(dir: string, paths: readonly string[]): Result<readonly SourceFile[], string> {
  const files: SourceFile[] = [];
  for (const path of paths) {
    const read = readSource(join(dir, path));
    if (!read.ok) return read;
    files.push(...read.value);
  }
  return ok(files);
}

/** Returns one file, or none if the path is a directory with the name of a definition file. */
function readSource(path: string): Result<readonly SourceFile[], string> {
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

function reasonOf(failure: unknown, path: string): string {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined;
  if (code === 'ENOENT') return `"${shown(path)}" does not exist`;
  if (code === 'EACCES' || code === 'EPERM') return `"${shown(path)}" cannot be read: permission denied`;
  return `"${shown(path)}" cannot be read: ${failure instanceof Error ? failure.message : String(failure)}`;
}
