import type { ByteBudget } from '../../../base/byte-budget.ts';
import type { HeaderList, HttpResponse } from '../transport.ts';
import type { StreamLimits } from './stream-limits.ts';
import type { StreamSweep, Swept } from './stream-sweep.ts';

/** Well under the 8 to 12 seconds after which a transport may cut a reader that takes nothing. */
const KEEP_WAITING_MS = 4_000;

/** A line that readers ignore. */
const COMMENT = ':\n\n';

const STREAM_HEADERS: HeaderList = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache, no-transform'],
  // nginx would gather the events of a stream into buffers.
  ['x-accel-buffering', 'no'],
];

/** What the owner of a stream decides and is told. */
export interface EventStreamOwner {
  readonly limits: StreamLimits;
  /** Room for what readers have not taken yet, over all streams. */
  readonly backlog: ByteBudget;
  /** The reader takes events again. */
  writable(): void;
  /** The reader took nothing for a while: what is made for it now would only wait. */
  behind(): void;
  /** The reader is given up: its connection has to be abandoned. `reason` is for the log. */
  cut(reason: string): void;
}

/** Server-sent events on one response, in order: heartbeats when silent, and an end to readers that take nothing. */
export class EventStream implements Swept {
  readonly #response: HttpResponse;
  readonly #owner: EventStreamOwner;
  readonly #sweep: StreamSweep;
  setIndex = -1;
  #opened = false;
  #writable = true;
  #lastWriteAt = 0;
  #lastProgressAt = 0;
  #lastWaitAt = 0;
  #toldBehind = false;
  #ended = false;
  /** Written while the reader was behind, and not taken yet. */
  #waiting = 0;

  constructor(response: HttpResponse, sweep: StreamSweep, owner: EventStreamOwner) {
    this.#response = response;
    this.#sweep = sweep;
    this.#owner = owner;
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** False while the reader is behind: what can be left out should be. */
  get writable(): boolean {
    return this.#writable;
  }

  /** Sends status 200 and a comment, which makes the headers leave. */
  open(headers: HeaderList): void {
    if (this.#opened) return;
    this.#opened = true;
    this.#response.start(200, [...STREAM_HEADERS, ...headers], COMMENT);
    this.#response.onDrain((empty) => this.#drained(empty));
    this.#sweep.add(this);
    this.#write(COMMENT);
  }

  /** One event: `json` is JSON text, which has no line breaks of its own. */
  event(json: string): void {
    this.#write(`data: ${json}\n\n`);
  }

  /** The last event. A reader that is behind gets the time for it that it got for the others. */
  last(json: string): void {
    if (this.#writable) this.#lastProgressAt = performance.now();
    this.#ended = true;
    this.#writable = this.#response.write(`data: ${json}\n\n`);
    this.#response.end();
    if (this.#response.closed) this.close();
  }

  /** The reader left: nothing more is written. */
  close(): void {
    this.#sweep.delete(this);
    this.#takeBack();
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
    } else if (stalledMs >= stalledReaderMs) this.#owner.cut('the reader took nothing for too long');
    else {
      if (stalledMs >= pauseModelMs) this.#tellBehind();
      this.#keepWaiting(now);
    }
  }

  #tellBehind(): void {
    if (this.#toldBehind) return;
    this.#toldBehind = true;
    this.#owner.behind();
  }

  #keepWaiting(now: number): void {
    if (now - this.#lastWaitAt < KEEP_WAITING_MS) return;
    this.#lastWaitAt = now;
    this.#response.keepWaiting();
  }

  #write(text: string): void {
    const now = performance.now();
    this.#lastWriteAt = now;
    const wasWritable = this.#writable;
    this.#writable = this.#response.write(text);
    // Falling behind starts the clock; being behind already does not start it again.
    if (wasWritable) this.#lastProgressAt = now;
    if (!this.#writable) this.#wait(text.length);
  }

  #wait(bytes: number): void {
    if (this.#owner.backlog.take(bytes)) this.#waiting += bytes;
    else this.#owner.cut('too much waits for readers that are behind');
  }

  #takeBack(): void {
    this.#owner.backlog.give(this.#waiting);
    this.#waiting = 0;
  }

  #drained(empty: boolean): void {
    this.#lastProgressAt = performance.now();
    if (!empty) return;
    this.#takeBack();
    this.#writable = true;
    this.#toldBehind = false;
    if (!this.#ended) this.#owner.writable();
  }
}
