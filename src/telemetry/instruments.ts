import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import { CONVENTIONS } from './attributes.ts';

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
} as const;

/** The facts of one request to a model that its metrics need. Times are in milliseconds. */
interface AttemptNumbers {
  readonly durationMs: number;
  readonly firstTextMs: number | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly succeeded: boolean;
}

/** The metrics of one process. */
export class Instruments {
  readonly #request: Histogram;
  readonly #operation: Histogram;
  readonly #tokens: Histogram;
  readonly #firstChunk: Histogram;
  readonly #perToken: Histogram;

  constructor(meter: Meter) {
    const histogram = ({ name, unit, description, bounds }: (typeof METRICS)[keyof typeof METRICS]): Histogram =>
      meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds] } });
    this.#request = histogram(METRICS.request);
    this.#operation = histogram(METRICS.operation);
    this.#tokens = histogram(METRICS.tokens);
    this.#firstChunk = histogram(METRICS.firstChunk);
    this.#perToken = histogram(METRICS.perToken);
  }

  requestEnded(durationMs: number, attributes: Attributes): void {
    this.#request.record(durationMs / 1000, attributes);
  }

  /** `attributes` are those of the operation without `error.type`. */
  attemptEnded(numbers: AttemptNumbers, attributes: Attributes, error: string | undefined): void {
    const { durationMs, firstTextMs, inputTokens, outputTokens, succeeded } = numbers;
    const withError = error === undefined ? attributes : { ...attributes, [CONVENTIONS.errorType]: error };
    this.#operation.record(durationMs / 1000, withError);
    if (inputTokens !== undefined) this.#countTokens(inputTokens, 'input', attributes);
    if (outputTokens !== undefined) this.#countTokens(outputTokens, 'output', attributes);
    if (firstTextMs === undefined || !succeeded) return;
    this.#firstChunk.record(firstTextMs / 1000, attributes);
    if (outputTokens === undefined || outputTokens < 2) return;
    this.#perToken.record((durationMs - firstTextMs) / 1000 / (outputTokens - 1), attributes);
  }

  #countTokens(count: number, type: 'input' | 'output', attributes: Attributes): void {
    this.#tokens.record(count, { ...attributes, [CONVENTIONS.tokenType]: type });
  }
}
