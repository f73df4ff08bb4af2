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
import { CONVENTIONS } from './attributes.ts';

/** A metric of the conventions, with the upper bounds of its buckets in ascending order. */
interface HistogramDefinition {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly bounds: readonly number[];
}

/** The bounds of buckets and the units are those of the conventions. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const SECONDS_PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const SECONDS_OF_SERVER = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Every metric, by its name in the conventions. */
export const METRICS = {
  request: {
    name: 'http.server.request.duration',
    unit: 's',
    description: 'Duration of HTTP server requests.',
    bounds: SECONDS_OF_SERVER,
  },
  operation: {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    description: 'GenAI operation duration.',
    bounds: SECONDS,
  },
  tokens: {
    name: 'gen_ai.client.token.usage',
    unit: '{token}',
    description: 'Number of input and output tokens used.',
    bounds: TOKENS,
  },
  firstChunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    unit: 's',
    description: 'Time to receive the first chunk of a stream.',
    bounds: SECONDS,
  },
  perToken: {
    name: 'gen_ai.server.time_per_output_token',
    unit: 's',
    description: 'Time per output token generated after the first token for successful responses.',
    bounds: SECONDS_PER_TOKEN,
  },
} as const satisfies Readonly<Record<string, HistogramDefinition>>;

/** The limit of the library. Further series share one. */
const MAX_SERIES = 2000;

const OVERFLOW: Attributes = { 'otel.metric.overflow': true };

/** The data that metrics need about one request to a model. Times are in milliseconds. */
interface AttemptNumbers {
  readonly durationMs: number;
  /** Undefined unless the reply was streamed. */
  readonly firstTextMs: number | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** `error.type` of a failure. */
  readonly error: string | undefined;
}

/** The attributes of a series, with a unique key. They are built only for a new key. */
interface SeriesKey {
  readonly key: string;
  readonly attributes: () => Attributes;
}

/** The model of an attempt. */
interface ObservedModel {
  /** Identifies the client. */
  readonly client: object;
  /** The model that the provider reports. */
  readonly responseModel: string | undefined;
  /** The attributes of the operation without `error.type`. */
  readonly key: () => SeriesKey;
}

/** The metrics of one process. */
export class Instruments {
  readonly #histograms: Histograms;
  readonly #requests = new Map<string, Series>();
  readonly #models = new Map<string, ModelSeries>();
  /** The last series of each client: nearly all replies of a client report the same model. */
  readonly #last = new WeakMap<object, { readonly responseModel: string | undefined; readonly series: ModelSeries }>();

  constructor(histograms: Histograms) {
    this.#histograms = histograms;
  }

  requestEnded(durationMs: number, { key, attributes }: SeriesKey): void {
    let series = this.#requests.get(key);
    if (series === undefined) {
      series = this.#histograms.series(METRICS.request, attributes());
      this.#requests.set(key, series);
    }
    series.record(durationMs / 1000);
  }

  attemptEnded(numbers: AttemptNumbers, model: ObservedModel): void {
    let last = this.#last.get(model.client);
    if (last === undefined || last.responseModel !== model.responseModel) {
      last = { responseModel: model.responseModel, series: this.#seriesOf(model.key()) };
      this.#last.set(model.client, last);
    }
    last.series.record(numbers);
  }

  #seriesOf({ key, attributes }: SeriesKey): ModelSeries {
    let series = this.#models.get(key);
    if (series === undefined) {
      series = new ModelSeries(this.#histograms, attributes());
      this.#models.set(key, series);
    }
    return series;
  }
}

/** The series of one model; each is created with its first value. */
class ModelSeries {
  readonly #histograms: Histograms;
  readonly #attributes: Attributes;
  /** By the type of the error; an empty string for success. */
  readonly #operations = new Map<string, Series>();
  #input: Series | undefined;
  #output: Series | undefined;
  #firstChunk: Series | undefined;
  #perToken: Series | undefined;

  constructor(histograms: Histograms, attributes: Attributes) {
    this.#histograms = histograms;
    this.#attributes = attributes;
  }

  record({ durationMs, firstTextMs, inputTokens, outputTokens, error }: AttemptNumbers): void {
    this.#operation(error).record(durationMs / 1000);
    if (inputTokens !== undefined) (this.#input ??= this.#tokens('input')).record(inputTokens);
    if (outputTokens !== undefined) (this.#output ??= this.#tokens('output')).record(outputTokens);
    if (firstTextMs === undefined || error !== undefined) return;
    this.#firstChunk ??= this.#histograms.series(METRICS.firstChunk, this.#attributes);
    this.#firstChunk.record(firstTextMs / 1000);
    if (outputTokens === undefined || outputTokens < 2) return;
    this.#perToken ??= this.#histograms.series(METRICS.perToken, this.#attributes);
    this.#perToken.record((durationMs - firstTextMs) / 1000 / (outputTokens - 1));
  }

  #operation(error = ''): Series {
    const known = this.#operations.get(error);
    if (known !== undefined) return known;
    const own = error === '' ? this.#attributes : { ...this.#attributes, [CONVENTIONS.errorType]: error };
    const series = this.#histograms.series(METRICS.operation, own);
    this.#operations.set(error, series);
    return series;
  }

  #tokens(type: 'input' | 'output'): Series {
    return this.#histograms.series(METRICS.tokens, { ...this.#attributes, [CONVENTIONS.tokenType]: type });
  }
}

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
class Series {
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
