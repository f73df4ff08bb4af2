import type { AnswerCounts, Claim, CountedAnswerStore, OwnClaim } from '../policy/answer-store.ts';
import type { StoreCoolDowns } from '../policy/shared-cool-downs.ts';
import type { ClaimedAnswer, MetricData, Asked } from './protocol.ts';
import type { Config } from '../config/config.ts';
import { type Ledger, MemoryLedger } from '../policy/ledger.ts';
import type { StoreHealth } from '../policy/store/store.ts';
import { MachineTurns, type Turns } from '../policy/turns.ts';

interface Worker {
  readonly exited: boolean;
}

const NO_ANSWERS: AnswerCounts = { entries: 0, bytes: 0, waits: 0 };

/** The primary's side of kept answers: claims them for workers, and releases the claims of workers that exit. */
export class AnswerClaims {
  readonly #open: () => Promise<CountedAnswerStore>;
  #opening: Promise<CountedAnswerStore> | undefined;
  #store: CountedAnswerStore | undefined;
  /** The claims that workers own, by the id of their message. */
  readonly #owned = new Map<Worker, Map<number, OwnClaim>>();

  /** `open` creates the store. It is called at the first claim, so that a server without claims loads no code for them. */
  constructor(open: () => Promise<CountedAnswerStore>) {
    this.#open = open;
  }

  /** The state of the store. */
  get counts(): AnswerCounts {
    return this.#store?.counts ?? NO_ANSWERS;
  }

  /** Rejects if the store fails. */
  async claim(worker: Worker, { id, key, waitMs }: Asked<'claim-answer'>): Promise<ClaimedAnswer> {
    return this.#take(worker, id, await (await this.#opened()).claim(key, waitMs));
  }

  /** Returns the claim that a worker owns, so that its caller ends it. */
  end(worker: Worker, id: number): OwnClaim | undefined {
    const owned = this.#owned.get(worker);
    const claim = owned?.get(id);
    owned?.delete(id);
    return claim;
  }

  /** Releases the claims of a worker that has exited. */
  exited(worker: Worker): void {
    const owned = this.#owned.get(worker);
    this.#owned.delete(worker);
    for (const claim of owned?.values() ?? []) claim.release();
  }

  async #opened(): Promise<CountedAnswerStore> {
    this.#opening ??= this.#open();
    try {
      this.#store = await this.#opening;
      return this.#store;
    } catch (error) {
      // The next claim tries again.
      this.#opening = undefined;
      throw error;
    }
  }

  #take(worker: Worker, id: number, claim: Claim): ClaimedAnswer {
    if (claim.kind !== 'mine') return claim;
    if (worker.exited) {
      claim.release();
      return { kind: 'busy' };
    }
    const owned = this.#owned.get(worker) ?? new Map<number, OwnClaim>();
    this.#owned.set(worker, owned.set(id, claim));
    return { kind: 'mine', id };
  }
}

/** Where the primary keeps the state that workers share. */
export interface Backends {
  readonly turns: Turns;
  readonly ledger: Ledger;
  /** Creates the store of kept answers, at the first claim. */
  readonly openAnswers: () => Promise<CountedAnswerStore>;
  /** The cool-downs of other machines; undefined without a store. */
  readonly coolDowns: StoreCoolDowns | undefined;
  /** Undefined if the state is in the memory of this machine. */
  readonly store: SharedStore | undefined;
}

/** The store that machines share. */
export interface SharedStore {
  readonly health: StoreHealth;
  /** Calls `listener` at each change of the state of the store. */
  onChange(listener: (health: StoreHealth) => void): void;
  metrics(): readonly MetricData[];
  close(): Promise<void>;
}

/** State in the memory of the primary. */
export function memoryBackends(config: Pick<Config, 'cacheMemoryBytes'>): Backends {
  return {
    turns: new MachineTurns(),
    ledger: new MemoryLedger(),
    openAnswers: () => memoryAnswers(config),
    coolDowns: undefined,
    store: undefined,
  };
}

/** Loads the code of kept answers, which most servers never need. */
async function memoryAnswers({ cacheMemoryBytes }: Pick<Config, 'cacheMemoryBytes'>): Promise<CountedAnswerStore> {
  const { MemoryAnswers } = await import('../policy/memory-answers.ts');
  return new MemoryAnswers({ maxBytes: cacheMemoryBytes });
}
