import type { TraceSettings } from '../config/telemetry-settings.ts';
import type { RecordedSpan } from './spans.ts';
import type { SpanEncoder } from './span-encoder.ts';

/** The maximum size of spans that wait or are being exported. Spans with prompts and replies can be large. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Receives the outcomes of exports, for the log and for metrics. */
export interface ExportListener {
  exported(): void;
  /** `lost`: the number of spans, or of collections of metrics, that were dropped. */
  failed(lost: number, error: unknown): void;
}

/** Sends one request of OTLP; rejects if the receiver did not take it. */
export interface SpanTransport {
  send(request: Buffer): Promise<void>;
  /** Waits for the requests that are under way. */
  shutdown(): Promise<void>;
}

interface QueueParts {
  readonly encoder: SpanEncoder;
  readonly transport: SpanTransport;
  readonly listener: ExportListener;
}

type QueueSettings = Pick<TraceSettings, 'maxQueueSize' | 'maxBatchSize' | 'delayMs' | 'exportTimeoutMs'>;

interface Batch {
  readonly request: Buffer;
  readonly spans: number;
}

/**
 * Exports spans in batches, in the background: a full batch at once, and another after a delay. Keeps a limited number of spans: while
 * the receiver is down or slow, it drops new ones and counts them.
 */
export class SpanQueue {
  readonly #settings: QueueSettings;
  readonly #encoder: SpanEncoder;
  readonly #transport: SpanTransport;
  readonly #listener: ExportListener;
  /** Spans in the encoder. */
  #open = 0;
  /** Full batches. */
  readonly #ready: Batch[] = [];
  /** Spans that wait, without those of the exports that are under way. */
  #waiting = 0;
  #underWay = 0;
  /** Bytes of the batches that are ready or under way. */
  #bytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The open batch has waited long enough. */
  #isDue = false;
  #export: Promise<void> | undefined;
  #ended = false;

  constructor(settings: QueueSettings, { encoder, transport, listener }: QueueParts) {
    this.#settings = settings;
    this.#encoder = encoder;
    this.#transport = transport;
    this.#listener = listener;
  }

  /** The number of dropped spans. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: RecordedSpan): void {
    const { maxQueueSize, maxBatchSize, delayMs } = this.#settings;
    if (this.#ended || this.#waiting >= maxQueueSize) {
      this.#dropped += 1;
      return;
    }
    const before = this.#encoder.length;
    this.#encoder.add(span);
    if (this.#bytes + this.#encoder.length > MAX_BYTES) {
      this.#encoder.truncate(before);
      this.#dropped += 1;
      return;
    }
    this.#open += 1;
    this.#waiting += 1;
    if (this.#open >= maxBatchSize) this.#close();
    else this.#timer ??= setTimeout(() => this.#due(), delayMs).unref();
  }

  /** Exports all spans. */
  async shutdown(): Promise<void> {
    this.#ended = true;
    this.#due();
    while (this.#export !== undefined) await this.#export;
    await this.#transport.shutdown();
  }

  /** Counts all spans that are not exported as dropped: the process ends. */
  abandon(): void {
    this.#dropped += this.#waiting + this.#underWay;
    this.#waiting = 0;
    this.#underWay = 0;
  }

  #due(): void {
    this.#isDue = true;
    this.#next();
  }

  /** Moves the spans of the encoder to a batch. */
  #close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
    if (this.#open === 0) return;
    const batch = { request: this.#encoder.take(), spans: this.#open };
    this.#open = 0;
    this.#bytes += batch.request.length;
    this.#ready.push(batch);
    this.#next();
  }

  /** Starts the next export, unless one is under way. */
  #next(): void {
    if (this.#export !== undefined) return;
    const batch = this.#ready.shift();
    if (batch === undefined) {
      if (this.#isDue) this.#close();
      return;
    }
    this.#export = this.#run(batch);
  }

  /** Never rejects. */
  async #run(batch: Batch): Promise<void> {
    this.#waiting -= batch.spans;
    this.#underWay += batch.spans;
    await this.#limited(this.#send(batch));
    this.#export = undefined;
    this.#next();
  }

  /** Never rejects. */
  async #send({ request, spans }: Batch): Promise<void> {
    try {
      await this.#transport.send(request);
      this.#listener.exported();
    } catch (error) {
      this.#dropped += spans;
      this.#listener.failed(spans, error);
    } finally {
      this.#underWay -= spans;
      this.#bytes -= request.length;
    }
  }

  /** Waits for an export, but not too long: then the next one can start. */
  async #limited(sent: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#settings.exportTimeoutMs).unref();
    });
    await Promise.race([sent, limit]);
    clearTimeout(timer);
  }
}
