import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../config/telemetry-settings.ts';

/** The maximum size of spans that wait or are being exported. Spans with prompts and replies can be large. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Attributes of up to this many characters are not counted one by one. */
const SHORT_TEXT = 256;
/** More than a span takes without its long attributes. */
const SPAN_BYTES = 1024;

/** Receives the outcomes of exports, for the log and for metrics. */
export interface ExportListener {
  exported(): void;
  /** `lost`: the number of spans, or of collections of metrics, that were dropped. */
  failed(lost: number, error: unknown): void;
}

type QueueSettings = Pick<TraceSettings, 'maxQueueSize' | 'maxBatchSize' | 'delayMs' | 'exportTimeoutMs'>;

/**
 * The batch processor of the library with a limit in bytes. Counts the spans that are dropped, which the library does not report.
 */
export class BoundedSpans implements SpanProcessor {
  readonly #maxQueueSize: number;
  readonly #exporter: SpanExporter;
  readonly #listener: ExportListener;
  readonly #batches: BatchSpanProcessor;
  /** Spans in the queue of the library. */
  #waiting = 0;
  #underWay = 0;
  /** Bytes of the spans that wait or are under way. */
  #bytes = 0;
  #dropped = 0;
  #ended = false;

  constructor(settings: QueueSettings, exporter: SpanExporter, listener: ExportListener) {
    this.#maxQueueSize = settings.maxQueueSize;
    this.#exporter = exporter;
    this.#listener = listener;
    this.#batches = new BatchSpanProcessor({
      exporter: { export: (spans, done) => this.#export(spans, done), shutdown: () => exporter.shutdown() },
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
    const bytes = bytesOf(span);
    if (this.#ended || this.#waiting >= this.#maxQueueSize || this.#bytes + bytes > MAX_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += 1;
    this.#bytes += bytes;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  /** Exports all spans. */
  shutdown(): Promise<void> {
    this.#ended = true;
    return this.#batches.shutdown();
  }

  /** Counts all spans that are not exported as dropped: the process ends. */
  abandon(): void {
    this.#dropped += this.#waiting + this.#underWay;
    this.#waiting = 0;
    this.#underWay = 0;
  }

  #export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const { length } = spans;
    this.#waiting -= length;
    this.#underWay += length;
    this.#exporter.export(spans, (result) => {
      this.#underWay -= length;
      this.#bytes -= spans.reduce((sum, span) => sum + bytesOf(span), 0);
      if (result.code === ExportResultCode.SUCCESS) this.#listener.exported();
      else {
        this.#dropped += length;
        this.#listener.failed(length, result.error);
      }
      done(result);
    });
  }
}

function bytesOf({ attributes }: ReadableSpan): number {
  let bytes = SPAN_BYTES;
  for (const name in attributes) {
    const value = attributes[name];
    if (typeof value === 'string' && value.length > SHORT_TEXT) bytes += Buffer.byteLength(value);
  }
  return bytes;
}
