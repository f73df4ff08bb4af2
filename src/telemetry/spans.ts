import { type Attributes, type AttributeValue, type SpanContext, SpanKind, TraceFlags } from '@opentelemetry/api';
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

function newSpanId(): Id {
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

/** The objects that all spans of a process share. */
export interface SpanOutput {
  readonly queue: { add(span: RecordedSpan): void };
  /** The longest text of an attribute, in characters; undefined without a limit. */
  readonly maxValueLength: number | undefined;
}

/** The start of a span. Times are milliseconds since 1970. */
interface SpanStart {
  readonly name: string;
  readonly startedAt: number;
  readonly kind?: SpanKind;
  readonly position: TracePosition;
  /** Undefined for the span of the request itself. */
  readonly parentId?: Id;
}

export interface SpanEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes: ReadonlyArray<readonly [string, AttributeValue]>;
}

/** The default limit of OpenTelemetry (`OTEL_SPAN_EVENT_COUNT_LIMIT`). */
const MOST_EVENTS = 128;

/**
 * A span of a sampled trace. The spans of the library check and copy each attribute, and look for their parents in contexts, which
 * takes twice as long.
 */
export class RecordedSpan {
  readonly #output: SpanOutput;
  readonly position: TracePosition;
  readonly id: Id;
  /** Undefined for the first span of a trace. */
  readonly parentId: Id | undefined;
  /** The parent is a span of the caller. */
  readonly hasRemoteParent: boolean;
  readonly kind: SpanKind;
  readonly startedAt: number;
  readonly attributes: Array<readonly [string, AttributeValue]> = [];
  /** Attributes that other spans have too. */
  readonly shared: Attributes[] = [];
  readonly events: SpanEvent[] = [];
  droppedEvents = 0;
  name: string;
  failed = false;
  endedAt = 0;

  constructor(output: SpanOutput, { name, startedAt, kind = SpanKind.INTERNAL, position, parentId }: SpanStart) {
    this.#output = output;
    this.name = name;
    this.kind = kind;
    this.startedAt = startedAt;
    this.position = position;
    this.id = parentId === undefined ? position.spanId : newSpanId();
    this.parentId = parentId ?? position.callerId;
    this.hasRemoteParent = parentId === undefined && this.parentId !== undefined;
  }

  /** Starts a span below this one. */
  child(name: string, startedAt: number, kind = SpanKind.INTERNAL): RecordedSpan {
    return new RecordedSpan(this.#output, { name, startedAt, kind, position: this.position, parentId: this.id });
  }

  set(name: string, value: AttributeValue): void {
    this.attributes.push([name, this.#limited(value)]);
  }

  /** Sets the attributes of an object that never changes, and that many spans get. */
  share(attributes: Attributes): void {
    if (this.#output.maxValueLength === undefined) this.shared.push(attributes);
    else this.setAll(attributes);
  }

  setAll(attributes: Attributes): void {
    for (const [name, value] of Object.entries(attributes)) if (value !== undefined) this.set(name, value);
  }

  event(name: string, at: number, attributes: SpanEvent['attributes'] = []): void {
    if (this.events.length === MOST_EVENTS) this.droppedEvents += 1;
    else this.events.push({ name, at, attributes });
  }

  /**
   * The span failed for this reason: a code, or the status of a provider. Its status has no message, because that can quote a prompt or a
   * reply.
   */
  fail(error?: string): void {
    if (error !== undefined) this.set(CONVENTIONS.errorType, error);
    this.failed = true;
  }

  /** To be called once; passes the span on to its export. */
  end(at: number): void {
    this.endedAt = at;
    this.#output.queue.add(this);
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
