import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { err, ok, type Result } from '../base/result.ts';
import { SourceFile } from '../diagnostics/source-file.ts';

const EXTENSIONS = ['.svc', '.baml'];
/** Directories that hold the definitions of a project, when its root is named instead. */
const DEFINITION_DIRECTORIES = ['baml_src', 'svc_src'];

/**
 * All definition files under `dir`, sorted by path, paths relative to the working directory. A directory that has no
 * definition files of its own but one of the usual definition directories stands for that one. What lies in a hidden directory counts only by the links to it:
 * Kubernetes mounts a ConfigMap as links into such directories, where each file would be found twice. The failure is a
 * sentence.
 */
export function readSources(dir: string): Result<readonly SourceFile[], string> {
  const listed = listFiles(dir);
  if (!listed.ok) return listed;
  const own = listed.value.filter(isDefinitionFile);
  const paths = own.some((path) => !path.includes('/')) ? own : withinUsualDirectory(own);
  if (paths.length === 0) return err(`no definition files (*.svc, *.baml) under "${shown(dir)}"`);
  return readAll(dir, paths);
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

/** Only what lies in `baml_src` or `svc_src` directly below, when there is such a directory. */
function withinUsualDirectory(paths: readonly string[]): readonly string[] {
  for (const name of DEFINITION_DIRECTORIES) {
    const inside = paths.filter((path) => path.startsWith(`${name}/`));
    if (inside.length > 0) return inside;
  }
  return paths;
}

function readAll(dir: string, paths: readonly string[]): Result<readonly SourceFile[], string> {
  const files: SourceFile[] = [];
  for (const path of paths) {
    const read = readSource(join(dir, path));
    if (!read.ok) return read;
    files.push(...read.value);
  }
  return ok(files);
}

/** One file; none when the path is a directory whose name looks like one. */
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
