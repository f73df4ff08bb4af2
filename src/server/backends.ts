import type { Config } from '../config/config.ts';
import type { CountedAnswerStore } from '../policy/answer-store.ts';
import { MemoryLedger, type Ledger } from '../policy/ledger.ts';
import type { StoreCoolDowns } from '../policy/store/store-cool-downs.ts';
import type { StoreHealth } from '../policy/store/store.ts';
import { MachineTurns, type Turns } from '../policy/turns.ts';
import type { MetricData } from './protocol.ts';

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
