import type { Config } from '../config/config.ts';
import type { StoreAddress } from '../config/store-address.ts';
import type { Logger } from '../logging/logger.ts';
import { RedisClient } from '../policy/store/redis-client.ts';
import { StoreTurns } from '../policy/store/store-turns.ts';
import { Store } from '../policy/store/store.ts';
import { memoryBackends, type Backends } from './backends.ts';
import { StoreMetrics } from './metrics/store-metrics.ts';

/** State that this machine shares with others through a store. */
export function storeBackends(config: Config, address: StoreAddress, logger: Logger): Backends {
  const metrics = new StoreMetrics();
  const store = new Store(new RedisClient(address), {
    prefix: address.prefix,
    logger,
    observe: (operation, seconds, failure) => metrics.count(operation, seconds, failure),
  });
  return {
    ...memoryBackends(config),
    turns: new StoreTurns(store),
    store: {
      get health() {
        return store.health;
      },
      onChange: (listener) => store.onChange(listener),
      metrics: () => metrics.data(store.health),
      close: () => store.close(),
    },
  };
}
