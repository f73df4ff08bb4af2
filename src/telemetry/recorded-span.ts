import { type Attributes, type AttributeValue, SpanKind } from '@opentelemetry/api';
import { CONVENTIONS } from './attributes.ts';
import { newSpanId, type Id, type TracePosition } from './trace-position.ts';

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
