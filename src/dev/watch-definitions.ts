import { watch, type FSWatcher, readdirSync, statSync, type Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDefinitionFile, isIgnoredDirectory } from '../compiler/read-sources.ts';

/** A save is over when the files stay as they are for this long. */
const SETTLE_MS = 40;

/** How often to wait again while the files change: one second, even if they change forever. */
const MOST_WAITS = 25;

/** The same for the new content of a file that disappeared or became empty. */
const WAITS_FOR_CONTENT = 8;

/**
 * How often the files are compared without an event. Network file systems and mounts of containers deliver no events, and a
 * directory that does not exist has none.
 */
const POLL_MS = 1_000;

/** The most that comparing may take of one core: a twentieth. */
const POLL_SHARE = 20;

/** Called with the paths of the files that changed, once for each save or group of saves. */
export type OnChange = (paths: readonly string[]) => void;

/**
 * Watches the definition files at a path. Events of the file system are only hints to compare the files with their last
 * state: so every way of saving counts once (writing, truncating first, renaming over, deleting first), and temporary files and
 * missed events do not matter.
 */
export class DefinitionWatcher {
  readonly #paths: WatchedPaths;
  #onChange: OnChange | undefined;
  readonly #watchers = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  /** The state that `onChange` knows. */
  #reported: Snapshot;
  /** The newest state. */
  #seen: Snapshot;
  #waits = 0;
  #timer: NodeJS.Timeout | undefined;
  #settling = false;

  /** Watches from now on; `onChange` later receives the changes since. */
  constructor(paths: WatchedPaths) {
    this.#paths = paths;
    this.#reported = takeSnapshot(paths);
    this.#seen = this.#reported;
    this.#follow(this.#seen);
    this.#schedule(POLL_MS, false);
  }

  /** Replaces the listener. */
  onChange(listener: OnChange): void {
    this.#onChange = listener;
    this.#hint();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#onChange = undefined;
  }

  readonly #hint = (): void => {
    if (!this.#settling) this.#schedule(SETTLE_MS, true);
  };

  #schedule(ms: number, settling: boolean): void {
    clearTimeout(this.#timer);
    this.#settling = settling;
    this.#timer = setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    const startedAt = performance.now();
    const now = takeSnapshot(this.#paths);
    const took = performance.now() - startedAt;
    const stable = changedFiles(this.#seen, now).length === 0;
    this.#seen = now;
    this.#follow(now);
    const changed = changedFiles(this.#reported, now);
    if (changed.length > 0 && this.#onChange !== undefined) {
      const most = lostContent(this.#reported, now) ? WAITS_FOR_CONTENT : 0;
      this.#waits += 1;
      if (this.#waits < (stable ? most : MOST_WAITS)) {
        this.#schedule(SETTLE_MS, true);
        return;
      }
      this.#reported = now;
      this.#onChange(changed);
    }
    this.#waits = 0;
    this.#schedule(Math.max(POLL_MS, POLL_SHARE * took), false);
  }

  /** Watches the directories of a snapshot, and no others. */
  #follow({ directories }: Snapshot): void {
    for (const [path, { identity, watcher }] of this.#watchers) {
      if (directories.get(path) === identity) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
    for (const [path, identity] of directories) if (!this.#watchers.has(path)) this.#watch(path, identity);
  }

  /** A directory that cannot be watched (a limit of the system, a race) is still compared at each poll. */
  #watch(path: string, identity: string): void {
    try {
      const watcher = watch(path, { persistent: false }, this.#hint);
      watcher.once('error', () => {
        watcher.close();
        this.#watchers.delete(path);
      });
      this.#watchers.set(path, { identity, watcher });
    } catch {
      // The next poll tries again.
    }
  }
}

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
