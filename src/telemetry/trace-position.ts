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

/** An id as 32-bit words, the most significant one first: two of a span, four of a trace. */
export type Id = readonly number[];

/** The place of a request in its trace. It makes text of its ids on demand, because most requests are neither sampled nor logged. */
export class TracePosition {
  readonly isSampled: boolean;
  /** The span of the caller; undefined if the request starts a trace. */
  readonly parent: SpanContext | undefined;
  readonly traceId: Id;
  #spanId: Id | undefined;
  #context: SpanContext | undefined;

  constructor(sampling: Sampling, parent: SpanContext | undefined) {
    this.parent = parent;
    this.traceId = parent === undefined ? newTraceId() : idOf(parent.traceId);
    const [a = 0, b = 0, c = 0, d = 0] = this.traceId;
    this.isSampled = sampling.isSampled(parent, (a ^ b ^ c ^ d) >>> 0);
  }

  /** The id of the request's own span. */
  get spanId(): Id {
    return (this.#spanId ??= newSpanId());
  }

  /** The id of the caller's span. */
  get callerId(): Id | undefined {
    return this.parent && idOf(this.parent.spanId);
  }

  /** The `tracestate` of the caller; empty without one. */
  get traceState(): string {
    return this.parent?.traceState?.serialize() ?? '';
  }

  get traceIdText(): string {
    return this.parent?.traceId ?? textOf(this.traceId);
  }

  /** The request's own span, whether it is sampled or not. */
  get context(): SpanContext {
    return (this.#context ??= this.contextOf(this.spanId));
  }

  /** A span of the trace. */
  contextOf(spanId: Id): SpanContext {
    return {
      traceId: this.traceIdText,
      spanId: textOf(spanId),
      traceFlags: this.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      ...(this.parent?.traceState === undefined ? {} : { traceState: this.parent.traceState }),
    };
  }
}

export function newSpanId(): Id {
  return [randomWord(), randomWord()];
}

function newTraceId(): Id {
  return [randomWord(), randomWord(), randomWord(), randomWord()];
}

function randomWord(): number {
  return Math.floor(Math.random() * WORDS);
}

const BYTES_OF_ID = Buffer.alloc(16);

/** Returns hexadecimal digits. */
function textOf(id: Id): string {
  let end = 0;
  for (const word of id) end = BYTES_OF_ID.writeUInt32BE(word, end);
  return BYTES_OF_ID.toString('hex', 0, end);
}

/** Reads hexadecimal digits. */
function idOf(text: string): Id {
  return Array.from({ length: text.length / 8 }, (_, index) =>
    Number.parseInt(text.slice(8 * index, 8 * index + 8), 16),
  );
}
