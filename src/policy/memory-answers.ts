import { LRUCache } from 'lru-cache';
import { endsOnce, type AnswerCounts, type Claim, type CountedAnswerStore, type OwnClaim } from './answer-store.ts';

/** Measures time and waits. A test replaces it. */
export interface AnswerClock {
  /** Milliseconds on a monotonic clock. */
  now(): number;
  /** Calls `run` after this many milliseconds, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

export interface MemoryAnswersOptions {
  readonly maxBytes: number;
  readonly clock?: AnswerClock;
}

/** The key, the entry and its place in the lists of the cache, measured with a million small answers. */
const ENTRY_BYTES = 300;

/** The largest answer: a fraction of all bytes, so that one answer cannot remove most of the others. */
const LARGEST_SHARE = 1 / 8;

/** Interval at which expired answers are removed: they can contain personal data, and may never be requested again. */
const PURGE_MS = 60_000;

interface KeptAnswer {
  readonly answer: string;
  readonly keptAt: number;
}

interface Waiter {
  readonly resolve: (claim: Claim) => void;
  readonly stopTimer: () => void;
}

/** Keeps answers in the memory of this process. The least recently used ones make room for new ones. */
export class MemoryAnswers implements CountedAnswerStore {
  readonly #clock: AnswerClock;
  readonly #kept: LRUCache<string, KeptAnswer>;
  /** Those who wait, by the key of the call that runs; in the order of their claims. */
  readonly #running = new Map<string, Set<Waiter>>();
  #purging = false;
  #waits = 0;

  constructor({ maxBytes, clock = SYSTEM_CLOCK }: MemoryAnswersOptions) {
    this.#clock = clock;
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      maxEntrySize: Math.max(1, Math.floor(maxBytes * LARGEST_SHARE)),
      sizeCalculation: ({ answer }) => bytesOf(answer),
      perf: { now: () => clock.now() },
      ttlResolution: 0,
    });
  }

  get counts(): AnswerCounts {
    return { entries: this.#kept.size, bytes: this.#kept.calculatedSize, waits: this.#waits };
  }

  claim(key: string, waitMs: number): Promise<Claim> {
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      return Promise.resolve({ kind: 'kept', answer: kept.answer, ageMs: this.#clock.now() - kept.keptAt });
    }
    const waiters = this.#running.get(key);
    if (waiters !== undefined) return this.#wait(waiters, waitMs);
    this.#running.set(key, new Set());
    return Promise.resolve(this.#own(key));
  }

  #wait(waiters: Set<Waiter>, waitMs: number): Promise<Claim> {
    this.#waits += 1;
    return new Promise((resolve) => {
      const stopTimer = this.#clock.after(waitMs, () => {
        waiters.delete(waiter);
        resolve({ kind: 'busy' });
      });
      const waiter = { resolve, stopTimer };
      waiters.add(waiter);
    });
  }

  #own(key: string): OwnClaim {
    return endsOnce({
      keep: (answer, ttlMs) => this.#keep(key, answer, ttlMs),
      release: () => this.#release(key),
    });
  }

  #keep(key: string, answer: string, ttlMs: number): void {
    const waiters = this.#running.get(key) ?? [];
    this.#running.delete(key);
    if (ttlMs > 0) {
      this.#kept.set(key, { answer, keptAt: this.#clock.now() }, { ttl: ttlMs });
      this.#purgeLater();
    }
    for (const { resolve, stopTimer } of waiters) {
      stopTimer();
      resolve({ kind: 'kept', answer, ageMs: 0 });
    }
  }

  #release(key: string): void {
    const waiters = this.#running.get(key);
    const [next] = waiters ?? [];
    if (waiters === undefined || next === undefined) {
      this.#running.delete(key);
      return;
    }
    waiters.delete(next);
    next.stopTimer();
    next.resolve(this.#own(key));
  }

  #purgeLater(): void {
    if (this.#purging) return;
    this.#purging = true;
    this.#clock.after(PURGE_MS, () => {
      this.#purging = false;
      this.#kept.purgeStale();
      if (this.#kept.size > 0) this.#purgeLater();
    });
  }
}

const SYSTEM_CLOCK: AnswerClock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

const BEYOND_LATIN_1 = /[^\0-\u{ff}]/u;

/** V8 keeps a string with one byte for each character if all of them are Latin-1, otherwise with two. */
function bytesOf(answer: string): number {
  return ENTRY_BYTES + answer.length * (BEYOND_LATIN_1.test(answer) ? 2 : 1);
}
