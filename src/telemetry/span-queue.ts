import { TraceFlags } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../config/telemetry-settings.ts';
import { CONVENTIONS, OWN } from './attributes.ts';

/** The maximum size of spans that wait or are being exported. Spans with prompts and replies can be large. */
const MAX_BYTES = 32 * 1024 * 1024;

/** The memory of a span without content. */
const SPAN_BYTES = 2_000;

/** The attributes whose values can be long. */
const CONTENTS = [CONVENTIONS.inputMessages, CONVENTIONS.outputMessages, OWN.arguments];

/** Receives the outcomes of exports, for the log and for metrics. */
export interface ExportListener {
  exported(): void;
  /** `lost`: the number of spans, or of collections of metrics, that were dropped. */
  failed(lost: number, error: unknown): void;
}

/**
 * Exports spans in batches, in the background. Keeps a limited number of them: while the receiver is down or slow, it drops new
 * spans and counts them. The batch processor drops them too, but does not report it.
 */
export class SpanQueue implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #maxSpans: number;
  /** Spans that wait, without those of the exports that are under way. */
  #waiting = 0;
  #underWay = 0;
  /** Estimated bytes of all spans that are not exported. */
  #bytes = 0;
  #dropped = 0;

  constructor(exporter: SpanExporter, settings: TraceSettings, listener: ExportListener) {
    this.#maxSpans = settings.maxQueueSize;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#counting(exporter, listener),
      maxQueueSize: settings.maxQueueSize,
      maxExportBatchSize: settings.maxBatchSize,
      scheduledDelayMillis: settings.delayMs,
      exportTimeoutMillis: settings.exportTimeoutMs,
    });
  }

  /** The number of dropped spans. */
  get dropped(): number {
    return this.#dropped;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    const bytes = bytesOf(span);
    if (this.#waiting >= this.#maxSpans || this.#bytes + bytes > MAX_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += 1;
    this.#bytes += bytes;
    this.#batches.onEnd(span);
  }

  /** Counts all spans that are not exported as dropped: the process ends. */
  abandon(): void {
    this.#dropped += this.#waiting + this.#underWay;
    this.#waiting = 0;
    this.#underWay = 0;
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  /** Counts the spans that leave the queue, and those whose export fails. */
  #counting(exporter: SpanExporter, listener: ExportListener): SpanExporter {
    const ended = (spans: readonly ReadableSpan[], { code, error }: ExportResult): void => {
      this.#underWay -= spans.length;
      for (const span of spans) this.#bytes -= bytesOf(span);
      if (code === ExportResultCode.SUCCESS) {
        listener.exported();
        return;
      }
      this.#dropped += spans.length;
      listener.failed(spans.length, error);
    };
    return {
      export: (spans, done) => {
        this.#waiting -= spans.length;
        this.#underWay += spans.length;
        exporter.export(spans, (result) => {
          ended(spans, result);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    };
  }
}

function bytesOf({ attributes }: ReadableSpan): number {
  let bytes = SPAN_BYTES;
  for (const name of CONTENTS) {
    const value = attributes[name];
    if (typeof value === 'string') bytes += value.length;
  }
  return bytes;
}
