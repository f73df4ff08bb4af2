import { setTimeout as sleep } from 'node:timers/promises';
import type { MergedMetrics } from './metrics/merged-metrics.ts';
import type { WorkerMessage } from './protocol.ts';
import type { WorkerHandle } from './worker-handle.ts';

/** A busy worker may be late with its metrics; then its last ones count. */
const COLLECT_MS = 1_000;

/** What all workers have to agree on: the turns of round-robin clients, and the metrics of all. */
export class SharedTruths {
  readonly #handles: () => Iterable<WorkerHandle>;
  readonly #metrics: MergedMetrics;
  /** By client's name; only clients of the definition files count turns, so it stays small. */
  readonly #turns = new Map<string, number>();
  readonly #collections = new Map<number, Collection>();
  #lastId = 0;

  constructor(handles: () => Iterable<WorkerHandle>, metrics: MergedMetrics) {
    this.#handles = handles;
    this.#metrics = metrics;
  }

  take(handle: WorkerHandle, message: WorkerMessage): void {
    if (message.type === 'take-turn') handle.send({ type: 'turn', id: message.id, turn: this.#turn(message.client) });
    else if (message.type === 'merge-metrics') void this.#answerMetrics(handle, message.id);
    else if (message.type === 'metrics') this.#collections.get(message.id)?.arrived(handle);
  }

  #turn(client: string): number {
    const turn = this.#turns.get(client) ?? 0;
    this.#turns.set(client, turn + 1);
    return turn;
  }

  async #answerMetrics(handle: WorkerHandle, id: number): Promise<void> {
    await this.#collect();
    const alive = [...this.#handles()].filter((one) => one.state !== 'exited');
    const listening = alive.filter((one) => one.state === 'listening').length;
    const metrics = alive.map((one) => one.metrics);
    handle.send({ type: 'merged-metrics', id, text: await this.#metrics.text(metrics, listening) });
  }

  /** Asks all workers for their newest counters; they stay in the handles. */
  async #collect(): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    const asked = [...this.#handles()].filter((one) => one.state === 'listening' || one.state === 'draining');
    const collection = new Collection(asked);
    this.#collections.set(id, collection);
    for (const one of asked) one.send({ type: 'collect-metrics', id });
    await Promise.race([collection.complete, sleep(COLLECT_MS, undefined, { ref: false })]);
    this.#collections.delete(id);
  }
}

/** Waits until all of some workers have answered. */
class Collection {
  readonly complete: Promise<void>;
  readonly #missing: Set<WorkerHandle>;
  #resolve: () => void = () => undefined;

  constructor(asked: readonly WorkerHandle[]) {
    this.#missing = new Set(asked);
    this.complete = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (asked.length === 0) this.#resolve();
  }

  arrived(handle: WorkerHandle): void {
    if (this.#missing.delete(handle) && this.#missing.size === 0) this.#resolve();
  }
}
