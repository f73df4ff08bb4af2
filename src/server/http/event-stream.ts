import type { ByteBudget } from '../../base/byte-budget.ts';
import { lengthOfParts, textParts, type TextParts } from '../../base/text-parts.ts';
import type { HeaderList } from './response-head.ts';
import type { Sweep, Swept } from './sweep.ts';
import type { HttpResponse } from './transport.ts';

/** Times of a stream, in milliseconds, and the data that its process holds for readers that are behind, in bytes. */
export interface StreamLimits {
  readonly statusWaitMs: number;
  readonly heartbeatMs: number;
  readonly pauseModelMs: number;
  readonly stalledReaderMs: number;
  readonly maxBacklogBytes: number;
}

export const STREAM_LIMITS: StreamLimits = {
  /** Until the model's first text, or for this long, a failure still has its true status. */
  statusWaitMs: 5_000,
  /** Proxies and browsers close silent connections after 30 to 60 seconds. */
  heartbeatMs: 15_000,
  /**
   * When a reader has accepted nothing for this long, svc stops reading the model's reply, which would otherwise grow in memory.
   * Shorter stalls cost the stream no time.
   */
  pauseModelMs: 1_000,
  /** A reader that accepts nothing for this long is gone or stuck; its memory is freed. */
  stalledReaderMs: 30_000,
  /**
   * Data that readers have not accepted yet, over all streams of a process. At most one partial waits per stream: this is room
   * for thousands of typical ones, and a limit for many readers with large ones.
   */
  maxBacklogBytes: 64 * 2 ** 20,
};

/** Well under the 8 to 12 seconds after which a transport can cut a reader that accepts nothing. */
const KEEP_WAITING_MS = 4_000;

/** A line that readers ignore. Some readers would take an empty line after it for a message without data. */
export const COMMENT = ':\n';

/** Some readers take these for the end of a line. In the JSON of an event, they occur only in strings. */
const LINE_ENDS = /[\u0085\u2028\u2029]/;

const STREAM_HEADERS: HeaderList = [
  // Without the character set, some readers decode a text type as ISO-8859-1.
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-cache, no-transform'],
  // Without it, nginx buffers events.
  ['x-accel-buffering', 'no'],
];

/** The request behind an event stream. */
export interface EventStreamOwner {
  readonly limits: StreamLimits;
  /** Limits the data that readers have not accepted yet, over all streams. */
  readonly backlog: ByteBudget;
  /** The reader accepts events again. */
  writable(): void;
  /** The reader has accepted nothing for a while: new events would only wait. */
  behind(): void;
  /** The reader is too far behind: abandon its connection. `reason` is for the log. */
  cut(reason: string): void;
}

/** Server-sent events on one response: sends heartbeats while silent, and ends the stream of a reader that accepts nothing. */
export class EventStream implements Swept {
  readonly #response: HttpResponse;
  readonly #owner: EventStreamOwner;
  readonly #sweep: Sweep;
  setIndex = -1;
  #opened = false;
  #writable = true;
  #lastWriteAt = 0;
  #lastProgressAt = 0;
  #lastWaitAt = 0;
  #reportedBehind = false;
  #ended = false;
  /** Bytes that were written while the reader was behind, and that it has not accepted yet. */
  #waiting = 0;

  constructor(response: HttpResponse, sweep: Sweep, owner: EventStreamOwner) {
    this.#response = response;
    this.#sweep = sweep;
    this.#owner = owner;
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** False while the reader is behind: skip events that can be skipped. */
  get writable(): boolean {
    return this.#writable;
  }

  /** Sends status 200, and a comment that pushes the headers out. */
  open(headers: HeaderList): void {
    if (this.#opened) return;
    this.#opened = true;
    this.#response.start(200, [...STREAM_HEADERS, ...headers], COMMENT);
    this.#response.onDrain((empty) => this.#drained(empty));
    this.#sweep.add(this);
    this.#write(COMMENT);
  }

  /** Sends one event; `json` is JSON text without line breaks. A reader that connects again names the last `id`. */
  event(json: TextParts, id?: string): void {
    this.#write([id === undefined ? 'data: ' : `id: ${id}\ndata: `, json, '\n\n']);
  }

  /** Ends the stream without a last event. */
  end(): void {
    this.#ended = true;
    this.#response.end();
    if (this.#response.closed) this.close();
  }

  /** Sends the last event. A reader that is behind gets as much time for it as for the others. */
  last(json: string): void {
    if (this.#writable) this.#lastProgressAt = performance.now();
    this.#ended = true;
    for (const part of textParts(['data: ', json, '\n\n']))
      this.#writable = this.#response.write(withoutLineEnds(part));
    this.#response.end();
    if (this.#response.closed) this.close();
  }

  /** To be called when the reader left: writes nothing more. */
  close(): void {
    this.#sweep.delete(this);
    this.#release();
  }

  /** Cuts the connection without a last event. */
  abandon(): void {
    this.close();
    this.#response.destroy();
  }

  sweep(now: number): void {
    if (this.#response.closed) {
      this.close();
      return;
    }
    const { heartbeatMs, pauseModelMs, stalledReaderMs } = this.#owner.limits;
    const stalledMs = now - this.#lastProgressAt;
    if (this.#writable) {
      if (!this.#ended && now - this.#lastWriteAt >= heartbeatMs) this.#write(COMMENT);
    } else if (stalledMs >= stalledReaderMs) this.#owner.cut('the reader accepted nothing for too long');
    else {
      if (stalledMs >= pauseModelMs) this.#reportBehind();
      this.#keepWaiting(now);
    }
  }

  #reportBehind(): void {
    if (this.#reportedBehind) return;
    this.#reportedBehind = true;
    this.#owner.behind();
  }

  #keepWaiting(now: number): void {
    if (now - this.#lastWaitAt < KEEP_WAITING_MS) return;
    this.#lastWaitAt = now;
    this.#response.keepWaiting();
  }

  #write(text: TextParts): void {
    const now = performance.now();
    this.#lastWriteAt = now;
    const wasWritable = this.#writable;
    const parts = textParts(text);
    for (const part of parts) this.#writable = this.#response.write(withoutLineEnds(part));
    // Only the first write that finds the reader behind starts the clock.
    if (wasWritable) this.#lastProgressAt = now;
    if (!this.#writable) this.#hold(lengthOfParts(parts));
  }

  #hold(bytes: number): void {
    if (this.#owner.backlog.take(bytes)) this.#waiting += bytes;
    else this.#owner.cut('too much data waits for readers that are behind');
  }

  #release(): void {
    this.#owner.backlog.give(this.#waiting);
    this.#waiting = 0;
  }

  #drained(empty: boolean): void {
    this.#lastProgressAt = performance.now();
    if (!empty) return;
    this.#release();
    this.#writable = true;
    this.#reportedBehind = false;
    if (!this.#ended) this.#owner.writable();
  }
}

/** Escapes the characters in JSON text that some readers take for the end of a line. */
export function withoutLineEnds(json: string): string {
  // Nearly all events have none of them, and a test takes less time than a replacement.
  return LINE_ENDS.test(json) ? json.replaceAll(new RegExp(LINE_ENDS, 'g'), escaped) : json;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
