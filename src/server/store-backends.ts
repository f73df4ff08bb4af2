import type { Config } from '../config/config.ts';
import type { StoreAddress } from '../config/store-address.ts';
import type { Logger } from '../logging/logger.ts';
import { RedisClient } from '../policy/store/redis-client.ts';
import { StoreAnswers } from '../policy/store/store-answers.ts';
import { StoreCoolDowns } from '../policy/shared-cool-downs.ts';
import { StoreLedger } from '../policy/store/store-ledger.ts';
import { StoreTurns } from '../policy/turns.ts';
import {
  Store,
  type StoreFailure,
  type StoreHealth,
  type StoreState,
  type StoreOperation,
} from '../policy/store/store.ts';
import { type Backends, memoryBackends } from './shared-state.ts';
import type { MetricData } from './protocol.ts';
import { HistogramTable, NumberTable, series } from './metrics/metric-tables.ts';

interface StoreParts {
  readonly config: Config;
  readonly address: StoreAddress;
  readonly logger: Logger;
}

/** State that this machine shares with others through a store. */
export function storeBackends({ config, address, logger }: StoreParts): Backends {
  const metrics = new StoreMetrics();
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

/** In seconds; the budget of an operation is 50 ms. */
const BOUNDS = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1];

const STATES: readonly StoreState[] = ['up', 'slow', 'down', 'full'];

/** Counts the operations of the store in the primary. */
export class StoreMetrics {
  readonly #operations = new NumberTable('counter', {
    name: 'svc_store_operations_total',
    help: 'Operations that svc sent to the store',
    labels: ['operation'],
  });
  readonly #failures = new NumberTable('counter', {
    name: 'svc_store_failures_total',
    help: 'Operations without an answer of the store, by reason',
    labels: ['operation', 'reason'],
  });
  readonly #seconds = new HistogramTable(
    {
      name: 'svc_store_seconds',
      help: 'Time until the store answered, or until svc went on without',
      labels: ['operation'],
    },
    BOUNDS,
  );

  /** As `StoreObserver` in src/policy/store/store.ts. */
  count(operation: StoreOperation, seconds?: number, failure?: StoreFailure): void {
    if (failure !== undefined) this.#failures.add(1, operation, failure);
    if (seconds === undefined) return;
    this.#operations.add(1, operation);
    this.#seconds.observe(seconds, operation);
  }

  data(health: StoreHealth): readonly MetricData[] {
    const states = STATES.map((state) => ({ labels: { state }, value: state === health.state ? 1 : 0 }));
    return [
      this.#operations.data(),
      this.#failures.data(),
      this.#seconds.data(),
      series('gauge', 'svc_store_state', 'Whether the store is in this state', states),
      series('gauge', 'svc_store_machines', 'Machines that use the store, as of its last answer', health.machines),
    ];
  }
}
