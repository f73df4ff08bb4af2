import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime, type InstrumentationScope } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type HistogramMetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';

/** A metric of the conventions, with the upper bounds of its buckets in ascending order. */
export interface HistogramDefinition {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly bounds: readonly number[];
}

/** The limit of the library. Further series share one. */
const MAX_SERIES = 2000;

const OVERFLOW: Attributes = { 'otel.metric.overflow': true };

/**
 * Histograms whose callers keep their series. The instruments of the library search for the series of each value by all its
 * attributes, which takes more time than the rest of the telemetry of a call.
 */
export class Histograms implements MetricProducer {
  readonly #scope: InstrumentationScope;
  /** Each collection starts from zero. */
  readonly #isDelta: boolean;
  readonly #all = new Map<HistogramDefinition, Series[]>();
  #startedAt: HrTime = millisToHrTime(Date.now());

  constructor(scope: InstrumentationScope, temporality: 'cumulative' | 'delta') {
    this.#scope = scope;
    this.#isDelta = temporality === 'delta';
  }

  /** Creates a series. The caller keeps it, because this method does not look for an equal one. */
  series(definition: HistogramDefinition, attributes: Attributes): Series {
    let list = this.#all.get(definition);
    if (list === undefined) this.#all.set(definition, (list = []));
    const last = list.at(-1);
    if (list.length >= MAX_SERIES && last !== undefined) return last;
    const series = new Series(definition.bounds, list.length === MAX_SERIES - 1 ? OVERFLOW : attributes);
    list.push(series);
    return series;
  }

  async collect(): Promise<CollectionResult> {
    const [startTime, endTime] = [this.#startedAt, millisToHrTime(Date.now())];
    const metrics = [...this.#all].map(([definition, list]) => this.#dataOf(definition, list, { startTime, endTime }));
    if (this.#isDelta) {
      for (const list of this.#all.values()) for (const series of list) series.clear();
      this.#startedAt = endTime;
    }
    // The reader uses its own resource.
    const resource = emptyResource();
    return { resourceMetrics: { resource, scopeMetrics: [{ scope: this.#scope, metrics }] }, errors: [] };
  }

  #dataOf(
    { name, unit, description }: HistogramDefinition,
    list: readonly Series[],
    times: Times,
  ): HistogramMetricData {
    const used = list.filter((series) => series.count > 0);
    return {
      descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
      aggregationTemporality: this.#isDelta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: used.map((series) => ({ ...times, attributes: series.attributes, value: series.value() })),
    };
  }
}

interface Times {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** The values with one combination of attributes. */
export class Series {
  readonly attributes: Attributes;
  readonly #bounds: readonly number[];
  /** One more bucket than bounds, for values above the last bound. */
  #counts: number[];
  #count = 0;
  #sum = 0;

  constructor(bounds: readonly number[], attributes: Attributes) {
    this.#bounds = bounds;
    this.attributes = attributes;
    this.#counts = zeros(bounds.length + 1);
  }

  get count(): number {
    return this.#count;
  }

  record(value: number): void {
    let bucket = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      bucket += 1;
    }
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count += 1;
    this.#sum += value;
  }

  /** A copy: recording continues during the export. */
  value(): HistogramMetricData['dataPoints'][number]['value'] {
    const buckets = { boundaries: [...this.#bounds], counts: [...this.#counts] };
    return { buckets, sum: this.#sum, count: this.#count };
  }

  clear(): void {
    this.#counts = zeros(this.#counts.length);
    this.#count = 0;
    this.#sum = 0;
  }
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}
