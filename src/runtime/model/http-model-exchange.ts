import type { Cancellation } from '../../base/cancellation.ts';
import type { Err } from '../../base/result.ts';
import { err, ok } from '../../base/result.ts';
import type { ReplyFormat, StreamedReply } from './wire/reply-format.ts';
import { BodyBuffer } from './http/body-buffer.ts';
import type { ExchangeLimits } from './http/exchange-clock.ts';
import type { EventListener, FrameReader } from './http/sse-reader.ts';
import { HttpExchange } from './http/http-exchange.ts';
import type { ExchangeListener, HttpCall, ResponseHeaders } from './http/http-exchange.ts';
import { errorText } from './http/upstream-failure.ts';
import type { UpstreamFailure } from './http/upstream-failure.ts';
import type { MediaBudget } from './http/fetch-media.ts';
import { SseReader } from './http/sse-reader.ts';
import { ReadCoalescer } from './http/read-coalescer.ts';
import type { Upstream } from './http/upstream.ts';
import type { ModelExchange, ModelListener } from './model-client.ts';
import type { AttemptFailure } from './attempt-failure.ts';

interface ExchangeParts {
  readonly format: ReplyFormat;
  /** A stream is whole when its body ended well and brought text, whatever its events say. */
  readonly endsWithBody: boolean;
  /** The provider was asked for a stream. */
  readonly streamed: boolean;
  /** The listener wants the text as it comes; what comes whole is one piece. */
  readonly tellsText: boolean;
  readonly limits: ExchangeLimits;
  readonly deadlineAt: number;
  readonly listener: ModelListener;
  readonly fault: (fault: UpstreamFailure) => AttemptFailure;
}

/** setTimeout takes 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const TOO_LARGE: UpstreamFailure = { kind: 'unusable', message: 'sent an event larger than 8 MiB' };
const DAMAGED: UpstreamFailure = { kind: 'cut', message: 'sent an event with a wrong checksum' };
const UNFINISHED: UpstreamFailure = { kind: 'cut', message: 'ended its stream before the reply was complete' };
const EMPTY: UpstreamFailure = { kind: 'cut', message: 'answered with nothing' };
const BYTE_ORDER_MARK = 0xfe_ff;

/** One question over HTTP: feeds the body to the provider's reply format and tells the listener. */
export class HttpModelExchange implements ModelExchange, ExchangeListener {
  readonly #parts: ExchangeParts;
  #exchange: HttpExchange | undefined;
  #over = false;
  /** A reply that comes whole. */
  readonly #body = new BodyBuffer();
  /** What came of a stream and was not read yet. */
  #chunks: Buffer[] = [];
  #events: FrameReader | undefined;
  #reply: StreamedReply | undefined;
  #text = '';
  /** The response says where its body ends; without that, a cut looks like an end. */
  #framed = false;
  #preparation: Cancellation | undefined;
  #preparing: NodeJS.Timeout | undefined;
  #media: MediaBudget | undefined;
  readonly #startedAt = performance.now();
  #flushing = false;
  #paused = false;
  #gate: ReadCoalescer | undefined;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  start(upstream: Upstream, call: HttpCall): void {
    if (this.#over) return;
    clearTimeout(this.#preparing);
    const { limits, deadlineAt, streamed } = this.#parts;
    this.#exchange = new HttpExchange({ upstream, call, limits, deadlineAt, streamed }, this);
    this.#exchange.start();
  }

  /**
   * Something has to be fetched before the request can be sent: it ends with the call, or when its time is over. The end gives
   * back the room that `media` took.
   */
  prepares(preparation: Cancellation, media?: MediaBudget): void {
    clearTimeout(this.#preparing);
    this.#preparation = preparation;
    this.#media = media;
    const left = Math.max(0, this.#parts.deadlineAt - performance.now()) + 1;
    this.#preparing = setTimeout(() => this.#tooLate(), Math.min(left, LONGEST_TIMER_MS));
  }

  /** Ends it before anything was sent. */
  refuse(result: Err<AttemptFailure>): void {
    if (this.#over) return;
    this.#close();
    this.#parts.listener.ended(result);
  }

  cancel(): void {
    this.#close();
    this.#preparation?.cancel('nobody waits for the answer');
    this.#exchange?.cancel();
  }

  pause(): void {
    this.#paused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#gate?.closed !== true) this.#exchange?.resume();
  }

  gather(ms: number): void {
    if (this.#over) return;
    this.#gate ??= new ReadCoalescer(ms, {
      pause: () => this.#exchange?.pause(),
      readOn: () => this.#readOn(),
    });
  }

  accepted(headers: ResponseHeaders): void {
    this.#framed = headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
    // Some servers ignore `stream` and answer whole: their content-type says so.
    if (!this.#parts.streamed || String(headers['content-type']).startsWith('application/json')) return;
    const { format } = this.#parts;
    const reply = format.openStream();
    const tell: EventListener = (source, start, end) => reply.event(source, start, end);
    this.#reply = reply;
    this.#events = format.frames?.(tell) ?? new SseReader(tell, (source, start, gap) => reply.run(source, start, gap));
  }

  data(chunk: Buffer): void {
    if (this.#events === undefined) {
      this.#body.add(chunk);
      return;
    }
    this.#chunks.push(chunk);
    if (this.#flushing) return;
    // One read of the socket holds many chunks of the body; all of them are handled together, after the last one.
    this.#flushing = true;
    queueMicrotask(() => this.#flush());
  }

  ended(): void {
    if (this.#over) return;
    this.#guard(() => (this.#events === undefined ? this.#wholeEnded() : this.#eventsEnded(this.#events)));
  }

  failed(fault: UpstreamFailure): void {
    if (this.#over) return;
    this.#close();
    this.#exchange?.cancel();
    this.#parts.listener.ended(err(this.#parts.fault(fault)));
  }

  #flush(): void {
    this.#flushing = false;
    this.#guard(() => this.#feed());
  }

  /** Nobody above catches what reading throws: it would end the worker, or leave the call without an end. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (this.#over) throw error;
      this.failed({ kind: 'unusable', message: `sent a reply that could not be read: ${errorText(error)}` });
    }
  }

  /** Feeds the events that came since the last time. */
  #feed(): void {
    const chunks = this.#chunks;
    if (this.#over || chunks.length === 0) return;
    this.#chunks = [];
    const bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    const withinBounds = bytes === undefined || this.#events?.push(bytes) !== false;
    this.#tellText();
    if (!withinBounds) this.failed(this.#events?.damaged === true ? DAMAGED : TOO_LARGE);
    else if (this.#reply?.fault !== undefined) this.failed(this.#reply.fault);
    else if (this.#reply?.done === true) this.#streamEnded();
    if (!this.#over) this.#gate?.wasRead(chunks.length, bytes?.length ?? 0);
  }

  /** What the socket holds comes at once, and what the kernel holds later in this turn: both are taken together. */
  #readOn(): void {
    if (this.#paused) return;
    this.#flushing = true;
    this.#exchange?.resume();
    setImmediate(() => this.#flush());
  }

  /** What the end of the connection ended may have been longer. */
  #cutOr(fault: UpstreamFailure): UpstreamFailure {
    return fault.kind === 'unusable' && !this.#framed ? { kind: 'cut', message: fault.message } : fault;
  }

  #endedWithBody(): boolean {
    return this.#parts.endsWithBody && this.#framed && this.#text !== '';
  }

  #tooLate(): void {
    this.#preparation?.cancel('the time of the whole call is over');
    this.failed({ kind: 'timeout', timer: 'total', afterMs: Math.round(performance.now() - this.#startedAt) });
  }

  #close(): void {
    this.#over = true;
    clearTimeout(this.#preparing);
    this.#gate?.stop();
    this.#media?.release();
  }

  #tellText(): void {
    const piece = this.#reply?.takeText() ?? '';
    if (piece === '' || this.#over) return;
    this.#exchange?.textArrived();
    this.#text += piece;
    this.#parts.listener.text(piece);
  }

  #streamEnded(): void {
    if (this.#over) return;
    this.#close();
    this.#exchange?.finish();
    this.#parts.listener.ended(ok({ ...this.#reply?.details, text: this.#text }));
  }

  #eventsEnded(events: FrameReader): void {
    this.#feed();
    if (this.#over) return;
    events.end();
    this.#tellText();
    if (this.#reply?.fault !== undefined) this.failed(this.#reply.fault);
    else if (this.#reply?.complete === true || this.#endedWithBody()) this.#streamEnded();
    else this.failed(UNFINISHED);
  }

  #wholeEnded(): void {
    const body = textOf(this.#body.take());
    const reply = this.#parts.format.readWhole(body);
    if (!reply.ok) {
      this.failed(body === '' ? EMPTY : this.#cutOr(reply.failure));
      return;
    }
    if (this.#parts.tellsText && reply.value.text !== '') this.#parts.listener.text(reply.value.text);
    this.#close();
    this.#parts.listener.ended(reply);
  }
}

/** The whole body. A byte order mark is no part of a text (RFC 8259, 8.1 lets readers skip it). */
function textOf(body: Buffer): string {
  const text = body.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
