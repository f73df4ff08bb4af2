import { watch, type FSWatcher } from 'node:fs';
import { changedFiles, lostContent, takeSnapshot, type Snapshot, type WatchedPaths } from './definition-snapshot.ts';

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
