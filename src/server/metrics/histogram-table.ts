import type { MetricData, MetricValue } from '../protocol.ts';
import type { MetricHead } from './number-table.ts';

/** Histograms of one name with one label, one for each of its values. */
export class HistogramTable {
  readonly #head: MetricHead;
  /** Upper bounds, rising. */
  readonly #bounds: readonly number[];
  readonly #cells = new Map<string, Cell>();

  constructor(head: MetricHead, bounds: readonly number[]) {
    this.#head = head;
    this.#bounds = bounds;
  }

  observe(value: number, label: string): void {
    let cell = this.#cells.get(label);
    if (cell === undefined) {
      cell = { counts: this.#bounds.map(() => 0), count: 0, sum: 0 };
      this.#cells.set(label, cell);
    }
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at >= 0) cell.counts[at] = (cell.counts[at] ?? 0) + 1;
    cell.count += 1;
    cell.sum += value;
  }

  data(): MetricData {
    const { name, help } = this.#head;
    const values = [...this.#cells].flatMap(([label, cell]) => this.#values(label, cell));
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }

  /** Buckets count all that is not above their bound. */
  #values(label: string, { counts, count, sum }: Cell): readonly MetricValue[] {
    const { name, labels } = this.#head;
    const own = { [labels[0] ?? '']: label };
    let below = 0;
    const buckets = this.#bounds.map((le, index) => {
      below += counts[index] ?? 0;
      return { labels: { le, ...own }, value: below, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels: { le: '+Inf', ...own }, value: count, metricName: `${name}_bucket` },
      { labels: own, value: sum, metricName: `${name}_sum` },
      { labels: own, value: count, metricName: `${name}_count` },
    ];
  }
}

interface Cell {
  /** How many fell between a bound and the one before. */
  readonly counts: number[];
  count: number;
  sum: number;
}
