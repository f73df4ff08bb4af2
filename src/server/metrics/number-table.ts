import type { MetricData } from '../protocol.ts';

/** What every metric has. */
export interface MetricHead {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** No value of a label contains it. */
const SEPARATOR = '\u0000';

/**
 * Counters or gauges of one name, one for each combination of label values. Counting costs one look into a map; the form
 * that is merged and written is made when it is asked for, seldom.
 */
export class NumberTable {
  readonly #head: MetricHead;
  readonly #type: 'counter' | 'gauge';
  /** By the values of the labels, joined. */
  readonly #numbers = new Map<string, { value: number }>();

  constructor(type: 'counter' | 'gauge', head: MetricHead) {
    this.#type = type;
    this.#head = head;
    // Present from the start where there is only one.
    if (head.labels.length === 0) this.add(0, '');
  }

  /** `second` and `third` are left out where there are fewer labels. */
  add(amount: number, first: string, second?: string, third?: string): void {
    const key = keyOf(first, second, third);
    const number = this.#numbers.get(key);
    if (number === undefined) this.#numbers.set(key, { value: amount });
    else number.value += amount;
  }

  data(): MetricData {
    const { name, help } = this.#head;
    const values = [...this.#numbers].map(([key, { value }]) => ({ value, labels: labelsOf(this.#head.labels, key) }));
    return { name, help, type: this.#type, aggregator: 'sum', values };
  }
}

function keyOf(first: string, second: string | undefined, third: string | undefined): string {
  if (second === undefined) return first;
  return third === undefined ? first + SEPARATOR + second : first + SEPARATOR + second + SEPARATOR + third;
}

function labelsOf(names: readonly string[], key: string): Readonly<Record<string, string>> {
  const values = key.split(SEPARATOR);
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}
