import {
  type Attributes,
  type AttributeValue,
  type HrTime,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import { hrTimeDuration, type InstrumentationScope, millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, SpanProcessor, TimedEvent } from '@opentelemetry/sdk-trace';
import { CONVENTIONS } from './attributes.ts';
import { newSpanId } from './trace-position.ts';

/** The objects that all spans of a process share. */
export interface SpanOutput {
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
  readonly queue: Pick<SpanProcessor, 'onEnd'>;
  /** The longest text of an attribute, in characters; undefined without a limit. */
  readonly maxValueLength: number | undefined;
}

/** The start of a span. Times are milliseconds since 1970. */
interface SpanStart {
  readonly name: string;
  readonly startedAt: number;
  readonly kind?: SpanKind;
  readonly parent: SpanContext | undefined;
  /** By default, a new span of the parent's trace. */
  readonly context?: SpanContext;
}

/** The default limit of OpenTelemetry (`OTEL_SPAN_EVENT_COUNT_LIMIT`). */
const MOST_EVENTS = 128;

const UNSET: SpanStatus = { code: SpanStatusCode.UNSET };

/** No message, because it can quote a prompt or a reply. */
const ERROR: SpanStatus = { code: SpanStatusCode.ERROR };

/**
 * A span of a sampled trace, in the form that exporters read. The spans of the library check and copy each attribute, and look for
 * their parents in contexts, which takes twice as long.
 */
export class RecordedSpan implements ReadableSpan {
  readonly #output: SpanOutput;
  readonly #context: SpanContext;
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  readonly attributes: Attributes = {};
  readonly events: TimedEvent[] = [];
  readonly links = [];
  readonly droppedAttributesCount = 0;
  droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  name: string;
  status = UNSET;
  endTime: HrTime = [0, 0];
  ended = false;
  /** Absent for the first span of a trace. */
  declare readonly parentSpanContext?: SpanContext;

  constructor(output: SpanOutput, { name, startedAt, kind = SpanKind.INTERNAL, parent, context }: SpanStart) {
    this.#output = output;
    this.name = name;
    this.kind = kind;
    this.startTime = millisToHrTime(startedAt);
    if (parent !== undefined) this.parentSpanContext = parent;
    this.#context = context ?? {
      traceId: parent?.traceId ?? '',
      spanId: newSpanId(),
      traceFlags: TraceFlags.SAMPLED,
      ...(parent?.traceState === undefined ? {} : { traceState: parent.traceState }),
    };
  }

  /** Starts a span below this one. */
  child(name: string, startedAt: number, kind = SpanKind.INTERNAL): RecordedSpan {
    return new RecordedSpan(this.#output, { name, startedAt, kind, parent: this.#context });
  }

  get resource(): Resource {
    return this.#output.resource;
  }

  get instrumentationScope(): InstrumentationScope {
    return this.#output.scope;
  }

  get duration(): HrTime {
    return hrTimeDuration(this.startTime, this.endTime);
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  set(name: string, value: AttributeValue): void {
    this.attributes[name] = this.#limited(value);
  }

  setAll(attributes: Attributes): void {
    for (const [name, value] of Object.entries(attributes)) if (value !== undefined) this.set(name, value);
  }

  event(name: string, at: number, attributes: Attributes = {}): void {
    if (this.events.length === MOST_EVENTS) this.droppedEventsCount += 1;
    else this.events.push({ name, time: millisToHrTime(at), attributes, droppedAttributesCount: 0 });
  }

  /** The span failed for this reason: a code, or the status of a provider. */
  fail(error?: string): void {
    if (error !== undefined) this.set(CONVENTIONS.errorType, error);
    this.status = ERROR;
  }

  /** To be called once; passes the span on to its export. */
  end(at: number): void {
    this.endTime = millisToHrTime(at);
    this.ended = true;
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
