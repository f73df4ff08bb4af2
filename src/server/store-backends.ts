import type { Config } from '../config/config.ts';
import type { StoreAddress } from '../config/store-address.ts';
import type { Logger } from '../logging/logger.ts';
import { RedisClient } from '../policy/store/redis-client.ts';
import { StoreAnswers } from '../policy/store/store-answers.ts';
import { StoreCoolDowns } from '../policy/store/store-cool-downs.ts';
import { StoreLedger } from '../policy/store/store-ledger.ts';
import { StoreTurns } from '../policy/store/store-turns.ts';
import { Store } from '../policy/store/store.ts';
import { memoryBackends, type Backends } from './backends.ts';
import type { StoreMetrics } from './metrics/store-metrics.ts';

interface StoreParts {
  readonly config: Config;
  readonly address: StoreAddress;
  readonly logger: Logger;
  readonly metrics: StoreMetrics;
}

/** State that this machine shares with others through a store. */
export function storeBackends({ config, address, logger, metrics }: StoreParts): Backends {
  const store = new Store(new RedisClient(address), {
    prefix: address.prefix,
    logger,
    observe: (operation, seconds, failure) => metrics.count(operation, seconds, failure),
  });
  const memory = memoryBackends(config);
  const ledger = new StoreLedger(store);
  return {
    turns: new StoreTurns(store),
    ledger,
    openAnswers: async () => new StoreAnswers(store, await memory.openAnswers()),
    coolDowns: new StoreCoolDowns(store),
    store: {
      get health() {
        return store.health;
      },
      onChange: (listener) => store.onChange(listener),
      metrics: () => metrics.data(store.health),
      close: async () => {
        await ledger.close();
        await store.close();
      },
    },
  };
}
