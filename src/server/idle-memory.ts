import { measureMemory } from 'node:vm';

/**
 * Heartbeats without work after which a process collects its garbage. V8 shrinks its young generation only if little was
 * allocated in the last five seconds.
 */
const IDLE_BEATS = 5;

/** A collection takes 15 to 30 ms of CPU time: less growth than this is not worth it. */
const MIN_GROWTH_BYTES = 4 * 1024 * 1024;

/**
 * Collects garbage and keeps optimized code. gc() and V8's own collections in idle processes also discard the shapes of objects that
 * no longer exist, and with them most of the optimized code of calls. Compiling it again takes about a second of CPU time.
 */
export function collectGarbage(): void {
  // Rejects if the process ends first.
  measureMemory({ execution: 'eager' }).catch(() => undefined);
}

/**
 * Decides when an idle process collects garbage. V8 collects only as it allocates: an idle worker would keep, for as long as it
 * is idle, the 10 to 20 MB that its start or its last calls left.
 */
export class IdleMemory {
  readonly #collect: () => void;
  /** The lowest resident memory since the last collection; undefined before the first one. */
  #lowest: number | undefined;
  #idleBeats = 0;

  constructor(collect: () => void) {
    this.#collect = collect;
  }

  /** Call this once a second. `idle`: the process did no work since the last beat, and does none now. */
  beat(idle: boolean, rssBytes: number): void {
    if (this.#lowest !== undefined) this.#lowest = Math.min(this.#lowest, rssBytes);
    this.#idleBeats = idle ? this.#idleBeats + 1 : 0;
    if (this.#idleBeats < IDLE_BEATS || rssBytes - (this.#lowest ?? 0) < MIN_GROWTH_BYTES) return;
    this.#lowest = rssBytes;
    this.#collect();
  }
}
