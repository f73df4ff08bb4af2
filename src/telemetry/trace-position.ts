import { TraceFlags, type SpanContext } from '@opentelemetry/api';
import type { TraceSettings } from '../config/telemetry-settings.ts';

/** One more than the highest value of a word. */
const WORDS = 2 ** 32;

/**
 * Decides which traces are sampled. A ratio depends on the trace id alone, by the rule of the OpenTelemetry SDK, so that all services
 * with the same ratio sample the same traces.
 */
export class Sampling {
  readonly #followsParent: boolean;
  /** Traces are sampled if the sum of their id is below this number. */
  readonly #bound: number;

  constructor({ sampler, sampledShare }: Pick<TraceSettings, 'sampler' | 'sampledShare'>) {
    this.#followsParent = sampler.startsWith('parentbased_');
    if (sampler.endsWith('always_on') || sampledShare >= 1) this.#bound = WORDS;
    else this.#bound = Math.floor(sampledShare * (WORDS - 1));
    if (sampler.endsWith('always_off')) this.#bound = 0;
  }

  /** `sum`: the exclusive or of the four words of the trace id. */
  isSampled(parent: SpanContext | undefined, sum: number): boolean {
    if (this.#followsParent && parent !== undefined) return (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    return sum < this.#bound;
  }
}

/** The place of a request in its trace. It makes its ids on demand, because most requests are neither sampled nor logged. */
export class TracePosition {
  readonly isSampled: boolean;
  readonly parent: SpanContext | undefined;
  /** The words of the id of a new trace. */
  readonly #words: readonly [number, number, number, number] | undefined;
  #context: SpanContext | undefined;

  /** `parent`: the span of the caller; undefined if the request starts a trace. */
  constructor(sampling: Sampling, parent: SpanContext | undefined) {
    this.parent = parent;
    if (parent === undefined) this.#words = [randomWord(), randomWord(), randomWord(), randomWord()];
    const [a, b, c, d] = this.#words ?? wordsOf(parent?.traceId ?? '');
    this.isSampled = sampling.isSampled(parent, (a ^ b ^ c ^ d) >>> 0);
  }

  /** The ids of the request's own span, whether it is sampled or not. */
  get context(): SpanContext {
    this.#context ??= {
      traceId: this.#words?.map(hex).join('') ?? this.parent?.traceId ?? '',
      spanId: newSpanId(),
      traceFlags: this.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      ...(this.parent?.traceState === undefined ? {} : { traceState: this.parent.traceState }),
    };
    return this.#context;
  }
}

export function newSpanId(): string {
  return hex(randomWord()) + hex(randomWord());
}

function randomWord(): number {
  return Math.floor(Math.random() * WORDS);
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}

function wordsOf(traceId: string): readonly [number, number, number, number] {
  const word = (index: number): number => Number.parseInt(traceId.slice(8 * index, 8 * index + 8), 16);
  return [word(0), word(1), word(2), word(3)];
}
