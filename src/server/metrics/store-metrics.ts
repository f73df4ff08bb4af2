import type { StoreOperation } from '../../policy/store/scripts.ts';
import type { StoreFailure, StoreHealth, StoreState } from '../../policy/store/store.ts';
import type { MetricData, MetricValue } from '../protocol.ts';
import { HistogramTable, NumberTable } from './metric-tables.ts';

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
      gauge('svc_store_state', 'Whether the store is in this state', states),
      gauge('svc_store_machines', 'Machines that use the store, as of its last answer', [
        { labels: {}, value: health.machines },
      ]),
    ];
  }
}

function gauge(name: string, help: string, values: readonly MetricValue[]): MetricData {
  return { name, help, type: 'gauge', aggregator: 'sum', values };
}
