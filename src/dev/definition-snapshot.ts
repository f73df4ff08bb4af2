import { readdirSync, statSync, type Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDefinitionFile, isIgnoredDirectory } from '../compiler/read-sources.ts';

/** The paths whose content decides what a server serves. */
export interface WatchedPaths {
  /** A directory of definition files, or one file. */
  readonly from: string;
  /** Further files, which need not exist, such as `.env`. */
  readonly files: readonly string[];
}

/** The state of watched files at one time. Two snapshots differ if a file was written, replaced, added or removed. */
export interface Snapshot {
  /** By path: what the file system reports about each file. */
  readonly files: ReadonlyMap<string, FileState>;
  /** The directories that contain definition files, or can: by path, with an identity that changes if one is replaced. */
  readonly directories: ReadonlyMap<string, string>;
}

export interface FileState {
  /** Changes with each write. */
  readonly stamp: string;
  readonly empty: boolean;
}

/** Takes a snapshot. What cannot be read is left out: a compilation reports it. */
export function takeSnapshot({ from, files: others }: WatchedPaths): Snapshot {
  const files = new Map<string, FileState>();
  const directories = new Map<string, string>();
  const add = (path: string): void => {
    const found = stateOf(path);
    if (found !== undefined && !found.isDirectory) files.set(path, found);
  };
  const root = stateOf(from);
  if (root?.isDirectory === true) addDirectory(from, root.identity, directories, add);
  else {
    add(from);
    const parent = dirname(from);
    directories.set(parent, stateOf(parent)?.identity ?? '');
  }
  for (const path of others) add(path);
  return { files, directories };
}

function addDirectory(
  path: string,
  identity: string,
  directories: Map<string, string>,
  add: (path: string) => void,
): void {
  directories.set(path, identity);
  for (const entry of entriesOf(path)) {
    const inner = join(path, entry.name);
    if (!entry.isDirectory()) {
      if (isDefinitionFile(entry.name)) add(inner);
    } else if (!isIgnoredDirectory(entry.name, path)) {
      addDirectory(inner, stateOf(inner)?.identity ?? '', directories, add);
    }
  }
}

interface PathState extends FileState {
  readonly isDirectory: boolean;
  readonly identity: string;
}

/** Undefined for a path that does not exist now, or a link to nothing, such as the lock files of some editors. */
function stateOf(path: string): PathState | undefined {
  try {
    const stats = statSync(path, { bigint: true });
    const identity = `${String(stats.dev)}:${String(stats.ino)}`;
    const stamp = `${identity}:${String(stats.size)}:${String(stats.mtimeNs)}`;
    return { stamp, empty: stats.size === 0n, isDirectory: stats.isDirectory(), identity };
  } catch {
    return undefined;
  }
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The paths of the files in which two snapshots differ, sorted. */
export function changedFiles(before: Snapshot, after: Snapshot): readonly string[] {
  const paths = new Set([...before.files.keys(), ...after.files.keys()]);
  return [...paths].filter((path) => before.files.get(path)?.stamp !== after.files.get(path)?.stamp).toSorted();
}

/** True if a file disappeared or became empty: many editors do that just before they write the new content. */
export function lostContent(before: Snapshot, after: Snapshot): boolean {
  return [...before.files].some(([path, { empty }]) => !empty && after.files.get(path)?.empty !== false);
}
