import {
  type Attributes,
  type AttributeValue,
  type HrTime,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import { millisToHrTime, type InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, TimedEvent } from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../config/telemetry-settings.ts';
import { CONVENTIONS } from './attributes.ts';

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

/** The place of a request in its trace. It makes text of its ids on demand, because most requests are neither sampled nor logged. */
export class TracePosition {
  readonly isSampled: boolean;
  /** The span of the caller; undefined if the request starts a trace. */
  readonly parent: SpanContext | undefined;
  /** The id of the trace as 32-bit words, the most significant one first. */
  readonly #traceId: readonly number[];
  #context: SpanContext | undefined;

  constructor(sampling: Sampling, parent: SpanContext | undefined) {
    this.parent = parent;
    this.#traceId = parent === undefined ? randomWords(4) : wordsOf(parent.traceId);
    const [a = 0, b = 0, c = 0, d = 0] = this.#traceId;
    this.isSampled = sampling.isSampled(parent, (a ^ b ^ c ^ d) >>> 0);
  }

  /** The request's own span, whether it is sampled or not. */
  get context(): SpanContext {
    return (this.#context ??= {
      traceId: this.parent?.traceId ?? textOf(this.#traceId),
      spanId: newSpanId(),
      traceFlags: this.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      ...(this.parent?.traceState === undefined ? {} : { traceState: this.parent.traceState }),
    });
  }
}

function newSpanId(): string {
  return textOf(randomWords(2));
}

function randomWords(count: 2 | 4): readonly number[] {
  const words = [randomWord(), randomWord()];
  return count === 2 ? words : [...words, randomWord(), randomWord()];
}

function randomWord(): number {
  return Math.floor(Math.random() * WORDS);
}

const BYTES_OF_ID = Buffer.alloc(16);

function textOf(words: readonly number[]): string {
  let end = 0;
  for (const word of words) end = BYTES_OF_ID.writeUInt32BE(word, end);
  return BYTES_OF_ID.toString('hex', 0, end);
}

function wordsOf(text: string): readonly number[] {
  return Array.from({ length: text.length / 8 }, (_, index) =>
    Number.parseInt(text.slice(8 * index, 8 * index + 8), 16),
  );
}

/** The objects that all spans of a process share. */
export interface SpanOutput {
  readonly queue: { onEnd(span: ReadableSpan): void };
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  /** The longest text of an attribute, in characters; undefined without a limit. */
  readonly maxValueLength: number | undefined;
}

/** The start of a span. Times are milliseconds since 1970. */
interface SpanStart {
  readonly name: string;
  readonly startedAt: number;
  readonly kind?: SpanKind;
  readonly context: SpanContext;
  /** Undefined for the first span of a trace. */
  readonly parent?: SpanContext | undefined;
}

/** The default limit of OpenTelemetry (`OTEL_SPAN_EVENT_COUNT_LIMIT`). */
const MOST_EVENTS = 128;

const NO_TIME: HrTime = [0, 0];

/**
 * A span of a sampled trace. The spans of the library check and copy each attribute, and look for their parents in contexts, which
 * takes twice as long.
 */
export class RecordedSpan implements ReadableSpan {
  readonly #output: SpanOutput;
  readonly #context: SpanContext;
  readonly parentSpanContext?: SpanContext;
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  readonly attributes: Attributes = {};
  readonly events: TimedEvent[] = [];
  readonly links = [];
  readonly droppedAttributesCount = 0;
  readonly droppedLinksCount = 0;
  droppedEventsCount = 0;
  name: string;
  status: ReadableSpan['status'] = { code: SpanStatusCode.UNSET };
  endTime = NO_TIME;
  /** Exporters of OTLP do not need it. */
  readonly duration = NO_TIME;
  readonly ended = true;

  constructor(output: SpanOutput, { name, startedAt, kind = SpanKind.INTERNAL, context, parent }: SpanStart) {
    this.#output = output;
    this.name = name;
    this.kind = kind;
    this.startTime = millisToHrTime(startedAt);
    this.#context = context;
    if (parent !== undefined) this.parentSpanContext = parent;
  }

  get resource(): Resource {
    return this.#output.resource;
  }

  get instrumentationScope(): InstrumentationScope {
    return this.#output.scope;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  child(name: string, startedAt: number, kind = SpanKind.INTERNAL): RecordedSpan {
    const parent = this.#context;
    const context = { ...parent, spanId: newSpanId() };
    return new RecordedSpan(this.#output, { name, startedAt, kind, context, parent });
  }

  set(name: string, value: AttributeValue): void {
    this.attributes[name] = this.#limited(value);
  }

  setAll(attributes: Attributes): void {
    if (this.#output.maxValueLength === undefined) Object.assign(this.attributes, attributes);
    else for (const [name, value] of Object.entries(attributes)) if (value !== undefined) this.set(name, value);
  }

  event(name: string, at: number, attributes: Attributes = {}): void {
    if (this.events.length === MOST_EVENTS) this.droppedEventsCount += 1;
    else this.events.push({ name, time: millisToHrTime(at), attributes });
  }

  /**
   * The span failed for this reason: a code, or the status of a provider. Its status has no message, because that can quote a prompt or a
   * reply.
   */
  fail(error?: string): void {
    if (error !== undefined) this.set(CONVENTIONS.errorType, error);
    this.status = { code: SpanStatusCode.ERROR };
  }

  /** To be called once; passes the span on to its export. */
  end(at: number): void {
    this.endTime = millisToHrTime(at);
    this.#output.queue.onEnd(this);
  }

  #limited(value: AttributeValue): AttributeValue {
    const { maxValueLength: limit } = this.#output;
    if (limit === undefined) return value;
    if (typeof value === 'string') return value.slice(0, limit);
    return Array.isArray(value)
      ? (value.map((each) => (typeof each === 'string' ? each.slice(0, limit) : each)) as AttributeValue)
      : value;
  }
}
