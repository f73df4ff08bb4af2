import type { Exemplar, MetricData, MetricValue } from '../protocol.ts';

/** Name, help and label names of a metric. */
export interface MetricHead {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** A metric with these values, or with one value and no labels. The values of processes are added up. */
export function series(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  values: number | readonly MetricValue[],
): MetricData {
  const list = typeof values === 'number' ? [{ labels: {}, value: values }] : values;
  return { name, help, type, aggregator: 'sum', values: list };
}

/**
 * Counters or gauges of one name, one for each combination of label values. Counting costs one lookup for each label; the form
 * that is merged and written is built on request, which is rare.
 */
export class NumberTable {
  readonly #head: MetricHead;
  readonly #type: 'counter' | 'gauge';
  readonly #root: Cell = { value: undefined, below: new Map() };

  constructor(type: 'counter' | 'gauge', head: MetricHead) {
    this.#type = type;
    this.#head = head;
    // A metric without labels is present from the start.
    if (head.labels.length === 0) this.add(0, '');
  }

  /** Omit `second` and `third` where there are fewer labels. */
  add(amount: number, first: string, second?: string, third?: string): void {
    let cell = cellOf(this.#root, first);
    if (second !== undefined) cell = cellOf(cell, second);
    if (third !== undefined) cell = cellOf(cell, third);
    cell.value = (cell.value ?? 0) + amount;
  }

  data(): MetricData {
    const { name, help, labels } = this.#head;
    const values = valuesBelow(this.#root, []).map(({ value, path }) => ({ value, labels: labelsOf(labels, path) }));
    return series(this.#type, name, help, values);
  }
}

/** The number of the label values on the way to it, and the cells of the next label. */
interface Cell {
  value: number | undefined;
  readonly below: Map<string, Cell>;
}

function cellOf({ below }: Cell, label: string): Cell {
  let cell = below.get(label);
  if (cell === undefined) below.set(label, (cell = { value: undefined, below: new Map() }));
  return cell;
}

function valuesBelow(
  { value, below }: Cell,
  path: readonly string[],
): ReadonlyArray<{ value: number; path: readonly string[] }> {
  const own = value === undefined ? [] : [{ value, path }];
  return [...own, ...[...below].flatMap(([label, cell]) => valuesBelow(cell, [...path, label]))];
}

function labelsOf(names: readonly string[], path: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, index) => [name, path[index] ?? '']));
}

/** Histograms of one name with one label, one for each label value. */
export class HistogramTable {
  readonly #head: MetricHead;
  /** Upper bounds, in ascending order. */
  readonly #bounds: readonly number[];
  readonly #cells = new Map<string, HistogramCell>();

  constructor(head: MetricHead, bounds: readonly number[]) {
    this.#head = head;
    this.#bounds = bounds;
  }

  /** `traceId`: the trace of the observation, if it is sampled. */
  observe(value: number, label: string, traceId?: string): void {
    let cell = this.#cells.get(label);
    if (cell === undefined) {
      cell = { counts: new Float64Array(this.#bounds.length), count: 0, sum: 0, exemplars: new Map() };
      this.#cells.set(label, cell);
    }
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at >= 0) cell.counts[at] = (cell.counts[at] ?? 0) + 1;
    if (traceId !== undefined) {
      cell.exemplars.set(at, { labelSet: { trace_id: traceId }, value, timestamp: Date.now() / 1000 });
    }
    cell.count += 1;
    cell.sum += value;
  }

  data(): MetricData {
    const { name, help } = this.#head;
    const values = [...this.#cells].flatMap(([label, cell]) => this.#values(label, cell));
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }

  /** Each bucket counts all observations up to its bound. */
  #values(label: string, { counts, count, sum, exemplars }: HistogramCell): readonly MetricValue[] {
    const { name, labels } = this.#head;
    const own = { [labels[0] ?? '']: label };
    let below = 0;
    const buckets = this.#bounds.map((le, index) => {
      below += counts[index] ?? 0;
      return { labels: { le, ...own }, value: below, metricName: `${name}_bucket`, ...exemplarOf(exemplars, index) };
    });
    return [
      ...buckets,
      { labels: { le: '+Inf', ...own }, value: count, metricName: `${name}_bucket`, ...exemplarOf(exemplars, -1) },
      { labels: own, value: sum, metricName: `${name}_sum` },
      { labels: own, value: count, metricName: `${name}_count` },
    ];
  }
}

interface HistogramCell {
  /** Observations between a bound and the one before. */
  readonly counts: Float64Array;
  count: number;
  sum: number;
  /** By the index of the bucket; -1: above all bounds. */
  readonly exemplars: Map<number, Exemplar>;
}

function exemplarOf(exemplars: HistogramCell['exemplars'], index: number): Pick<MetricValue, 'exemplar'> {
  const exemplar = exemplars.get(index);
  return exemplar === undefined ? {} : { exemplar };
}
