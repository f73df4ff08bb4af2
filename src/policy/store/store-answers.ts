import { randomUUID } from 'node:crypto';
import { endsOnce, type AnswerCounts, type Claim, type CountedAnswerStore, type OwnClaim } from '../answer-store.ts';
import type { Store } from './store.ts';

/** A call whose machine died is repeated by another machine after this time. The machine of a call that runs renews its lock. */
const LOCK_MS = 10_000;

/** Pauses between checks for an answer that another machine produces. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

/** Larger answers stay in the memory of the machine that produced them. */
const LARGEST_ANSWER = 1024 * 1024;

/**
 * Kept answers of all machines, behind those of this machine. A caller first claims the key in memory, so only one caller of a machine
 * asks the store. Without the store, the memory of the machine decides alone.
 */
export class StoreAnswers implements CountedAnswerStore {
  readonly #store: Store;
  readonly #memory: CountedAnswerStore;

  constructor(store: Store, memory: CountedAnswerStore) {
    this.#store = store;
    this.#memory = memory;
  }

  /** Those of the memory of this machine. */
  get counts(): AnswerCounts {
    return this.#memory.counts;
  }

  async claim(key: string, waitMs: number): Promise<Claim> {
    const deadline = performance.now() + waitMs;
    const own = await this.#memory.claim(key, waitMs);
    if (own.kind !== 'mine') return own;
    const keys = [this.#store.key('answer', key), this.#store.key('lock', key)];
    const token = randomUUID();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 1.5)) {
      const claimed = await this.#store.run('claim', keys, [token, LOCK_MS]);
      if (claimed === 1) return this.#owned(own, keys, token);
      const kept = keptAnswer(claimed);
      if (kept !== undefined) {
        // Callers of this machine who wait get it too; later ones ask the store, which knows the age.
        own.keep(kept.answer, 0);
        return kept;
      }
      if (claimed !== 0) return own;
      if (performance.now() + pause > deadline) {
        own.release();
        return { kind: 'busy' };
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  #owned(own: OwnClaim, keys: readonly string[], token: string): OwnClaim {
    const renewal = setInterval(() => void this.#store.run('renew', keys, [token, LOCK_MS]), LOCK_MS / 3).unref();
    const unlock = (): void => void this.#store.run('release', keys, [token]);
    return endsOnce({
      keep: (answer, ttlMs) => {
        clearInterval(renewal);
        if (ttlMs < 1 || answer.length > LARGEST_ANSWER) unlock();
        else void this.#store.run('keep', keys, [token, answer, Math.floor(ttlMs)]);
        own.keep(answer, ttlMs);
      },
      release: () => {
        clearInterval(renewal);
        // First, so that the next caller of this machine finds the key free.
        unlock();
        own.release();
      },
    });
  }
}

/** The answer in the reply of the store; undefined if there is none. */
function keptAnswer(reply: unknown): Extract<Claim, { readonly kind: 'kept' }> | undefined {
  if (!Array.isArray(reply)) return undefined;
  const [answer, keptAt, now] = reply as readonly unknown[];
  if (typeof answer !== 'string') return undefined;
  return { kind: 'kept', answer, ageMs: Math.max(0, Number(now) - Number(keptAt)) };
}
