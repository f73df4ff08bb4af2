import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TextMapPropagator } from '@opentelemetry/api';
import {
  CompositePropagator,
  ExportResultCode,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
  type ExportResult,
} from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import { messageOf } from '../base/invariant.ts';
import type { ExportTarget, MetricSettings, TelemetrySettings, TraceSettings } from '../config/telemetry-settings.ts';
import type { Logger } from '../logging/logger.ts';
import type { Redact } from './attributes.ts';
import { Histograms, Instruments } from './instruments.ts';
import { RequestTrace, type RequestHead, EpochClock, KnownNames, type TraceServices } from './request-trace.ts';
import { Sampling } from './spans.ts';

/** The longest waits for the receiver at the end of a process, in ms. A receiver that is up needs less. */
const LONGEST_FLUSH_MS = 5_000;
const LONGEST_FLUSH_OF_OUTAGE_MS = 1_000;

/** The models of the definition files, and the models that their providers report. */
const MAX_NAMES = 100;

interface TelemetryParts {
  readonly logger: Logger;
  readonly redact: Redact;
  readonly version: string;
  readonly worker: number;
}

/** Traces and metrics of one process, and their export. An export that fails or hangs has no effect on calls. */
export class Telemetry {
  readonly #services: TraceServices;
  readonly #spans: BoundedSpans | undefined;
  readonly #meters: MeterProvider | undefined;
  readonly #traceLog: ExportLog;
  readonly #metricLog: ExportLog;

  constructor(settings: TelemetrySettings, parts: TelemetryParts) {
    const { traces, metrics } = settings;
    const resource = resourceOf(settings, parts);
    this.#traceLog = new ExportLog('traces', parts.logger);
    this.#metricLog = new ExportLog('metrics', parts.logger);
    const scope = { name: 'svc', version: parts.version };
    this.#spans = traces && new BoundedSpans(traces, spanExporter(traces), this.#traceLog);
    const temporality = metrics?.temporality === 'cumulative' ? 'cumulative' : 'delta';
    const histograms = new Histograms(scope, temporality);
    if (metrics !== undefined) this.#meters = meterProvider(metrics, { resource, histograms }, this.#metricLog);
    this.#services = {
      traces: traces &&
        this.#spans && {
          queue: this.#spans,
          resource,
          scope,
          maxValueLength: traces.maxValueLength,
          sampling: new Sampling(traces),
        },
      instruments: metrics === undefined ? undefined : new Instruments(histograms),
      propagator: propagatorOf(settings.propagators),
      names: new KnownNames(MAX_NAMES),
      clock: new EpochClock(),
      captureContent: settings.captureContent,
      redact: parts.redact,
    };
  }

  /** The request arrived at `startedAt`, on the clock of `performance.now()`. */
  request(head: RequestHead, startedAt: number): RequestTrace {
    return new RequestTrace(this.#services, head, startedAt);
  }

  get droppedSpans(): number {
    return this.#spans?.dropped ?? 0;
  }

  /** The number of failed exports of metrics. The next export contains the same numbers, unless they are deltas. */
  get failedMetricExports(): number {
    return this.#metricLog.failures;
  }

  /** Exports the queue, within this time and some seconds. Never rejects. */
  async shutdown(timeoutMs: number): Promise<void> {
    const ends = [this.#spans, this.#meters].map(async (provider) => provider?.shutdown());
    const stop = new AbortController();
    const longestMs = this.#traceLog.failing || this.#metricLog.failing ? LONGEST_FLUSH_OF_OUTAGE_MS : LONGEST_FLUSH_MS;
    const limit = sleep(Math.min(timeoutMs, longestMs), undefined, { signal: stop.signal });
    await Promise.race([Promise.allSettled(ends), limit]);
    stop.abort();
    await limit.catch(() => undefined);
    this.#spans?.abandon();
  }
}

/** Logs the start and the end of an outage of the receiver, not each failure. */
class ExportLog implements ExportListener {
  readonly #signal: string;
  readonly #logger: Logger;
  failing = false;
  failures = 0;

  constructor(signal: string, logger: Logger) {
    this.#signal = signal;
    this.#logger = logger;
  }

  exported(): void {
    if (this.failing) this.#logger.info({ signal: this.#signal }, 'telemetry is exported again');
    this.failing = false;
  }

  failed(lost: number, error: unknown): void {
    this.failures += 1;
    if (this.failing) return;
    this.failing = true;
    this.#logger.warn(
      { signal: this.#signal, lost, reason: messageOf(error) },
      'telemetry cannot be exported; calls are not affected',
    );
  }
}

/** The metrics of two processes with equal attributes would overwrite each other. */
function resourceOf({ resource }: TelemetrySettings, { version, worker }: TelemetryParts): Resource {
  const given = resource['service.instance.id'];
  return resourceFromAttributes({
    'service.version': version,
    ...resource,
    'service.instance.id': given === undefined ? randomUUID() : `${given}.${worker}`,
    'process.pid': process.pid,
  });
}

/** At its end, the library exports all batches at once. The default of its exporter refuses those beyond the thirtieth. */
function spanExporter(settings: TraceSettings): OTLPTraceExporter {
  const concurrencyLimit = Math.ceil(settings.maxQueueSize / settings.maxBatchSize) + 1;
  return new OTLPTraceExporter({ ...exporterOptions(settings), concurrencyLimit });
}

function exporterOptions({ url, headers, timeoutMs, compression }: ExportTarget) {
  // The values of the library's enum are these words.
  const words = compression as unknown as NonNullable<
    ConstructorParameters<typeof OTLPMetricExporter>[0]
  >['compression'];
  return {
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    ...(words === undefined ? {} : { compression: words }),
  };
}

/** The provider gives the reader its resource; all metrics come from the histograms. */
function meterProvider(
  settings: MetricSettings,
  { resource, histograms }: { readonly resource: Resource; readonly histograms: Histograms },
  listener: ExportListener,
): MeterProvider {
  const reader = new PeriodicExportingMetricReader({
    exporter: watched(new OTLPMetricExporter(exporterOptions(settings)), listener),
    metricProducers: [histograms],
    exportIntervalMillis: settings.intervalMs,
    exportTimeoutMillis: settings.exportTimeoutMs,
  });
  return new MeterProvider({ resource, readers: [reader] });
}

/** Returns the same exporter. `listener` receives its outcomes. */
function watched(exporter: OTLPMetricExporter, listener: ExportListener): PushMetricExporter {
  return {
    export: (metrics, done) =>
      exporter.export(metrics, (result) => {
        if (result.code === ExportResultCode.SUCCESS) listener.exported();
        else listener.failed(1, result.error);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
    selectAggregation: (type) => exporter.selectAggregation(type),
    selectAggregationTemporality: (type) => exporter.selectAggregationTemporality(type),
  };
}

function propagatorOf(names: TelemetrySettings['propagators']): TextMapPropagator {
  const propagators = names.map((name) =>
    name === 'baggage' ? new W3CBaggagePropagator() : new W3CTraceContextPropagator(),
  );
  return new CompositePropagator({ propagators });
}

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
  dropped = 0;
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

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    const bytes = bytesOf(span);
    if (this.#ended || this.#waiting >= this.#maxQueueSize || this.#bytes + bytes > MAX_BYTES) {
      this.dropped += 1;
      return;
    }
    this.#waiting += 1;
    this.#bytes += bytes;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    this.#ended = true;
    return this.#batches.shutdown();
  }

  /** Counts all spans that are not exported as dropped: the process ends. */
  abandon(): void {
    this.dropped += this.#waiting + this.#underWay;
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
        this.dropped += length;
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
