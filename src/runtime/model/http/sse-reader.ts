/** Cuts the bytes of a streamed response into events. */
export interface FrameReader {
  /** Takes the next bytes. Returns false if the stream exceeds its bounds or is damaged; then nothing more is read. */
  push(chunk: Buffer): boolean;
  /** Bytes that wait for the end of their event. */
  readonly waitingBytes: number;
  /** True when bytes were changed in transit: the same request can succeed. */
  readonly damaged?: boolean;
  /** The body ended well. */
  end(): void;
}

/** Hears of each event. The data of the event is `text.slice(start, end)`, not yet cut out: most readers need no copy. */
export type EventListener = (text: string, start: number, end: number) => void;

/**
 * Takes as many events as it can from `bytes.subarray(from, to)`, which begins with the `head` of an event: the bytes before its
 * data. Returns the position of the first remaining event: `from` if it took none.
 */
type RunListener = (bytes: Buffer, from: number, to: number, head: string) => number;

/** No model sends a longer line or event: svc refuses the stream. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;

/** The text before the data of an event: most providers write the plain one, others name the event. */
const PLAIN_HEAD = 'data: ';
const NAMED_HEAD = /^event: [^\n]*\ndata: /u;
/** No provider has a longer one. */
const MAX_HEAD_BYTES = 128;

const BLANK_LINE = Buffer.from('\n\n');

/** So many events in a row that no run takes show that these are not of one kind. */
const MAX_MISSES = 4;

const LF = 10;
const CR = 13;
const BOM = '\uFEFF';

/**
 * Reads a stream of server-sent events (WHATWG HTML, 9.2.6) from the bytes of a response. Only `data` matters here: no
 * provider puts anything into `event`, `id` or `retry` that its data does not contain too.
 *
 * Linear in the bytes: a chunk is cut at its last line break (which is never inside a UTF-8 sequence), so each byte is
 * decoded once and copied at most once.
 */
export class SseReader implements FrameReader {
  readonly #listener: EventListener;
  readonly #takeRun: RunListener | undefined;
  /** Bytes after the last line break, not yet decoded. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** Data lines of an event whose blank line has not arrived yet. */
  #data: string[] = [];
  #dataLength = 0;
  #atStart = true;
  /** The last line ended with CR at the very end of a chunk: an LF that follows belongs to it. */
  #skipLf = false;

  /** Events are first offered to `takeRun`, which needs no string of them; `listener` receives the remaining ones one by one. */
  constructor(listener: EventListener, takeRun?: RunListener) {
    this.#listener = listener;
    this.#takeRun = takeRun;
  }

  get waitingBytes(): number {
    return this.#restBytes + this.#dataLength;
  }

  push(chunk: Buffer): boolean {
    const cut = lastLineBreak(chunk) + 1;
    if (cut === 0) return this.#keep(chunk);
    const from = this.#takeRun === undefined ? 0 : this.#runs(this.#takeRun, chunk, cut);
    if (from < cut) this.#lines(this.#decode(chunk, from, cut));
    if (cut < chunk.length) this.#keep(chunk.subarray(cut));
    return this.#restBytes <= MAX_EVENT_BYTES && this.#dataLength <= MAX_EVENT_BYTES;
  }

  /** A last event without its blank line, or a last line without its line break, still counts. */
  end(): void {
    if (this.#restBytes > 0) this.#lines(`${this.#takeRest()}\n`);
    this.#dispatch();
  }

  #keep(chunk: Buffer): boolean {
    // A copy: the chunk is part of a larger block of memory, which these few bytes would keep alive.
    this.#rest.push(Buffer.from(chunk));
    this.#restBytes += chunk.length;
    return this.#restBytes <= MAX_EVENT_BYTES;
  }

  /** Reads runs of events, and single events between them. Returns the position from which the lines are read one by one. */
  #runs(takeRun: RunListener, chunk: Buffer, cut: number): number {
    let at = 0;
    for (let misses = 0; at < cut && misses < MAX_MISSES; misses += 1) {
      const next = this.#run(takeRun, chunk, at, cut);
      if (next > at) misses = 0;
      const end = next < cut ? chunk.indexOf(BLANK_LINE, next) + BLANK_LINE.length : 0;
      if (end < BLANK_LINE.length || end > cut) return next;
      this.#lines(this.#decode(chunk, next, end));
      at = end;
    }
    return at;
  }

  #run(takeRun: RunListener, chunk: Buffer, at: number, cut: number): number {
    // The bytes continue an event.
    if (this.#restBytes > 0 || this.#data.length > 0 || this.#skipLf) return at;
    const head = headAt(chunk.toString('latin1', at, Math.min(at + MAX_HEAD_BYTES, cut)));
    const next = head === undefined ? at : takeRun(chunk, at, cut, head);
    if (next > at) this.#atStart = false;
    return next;
  }

  /** The text of these bytes, after the rest of the last ones. */
  #decode(chunk: Buffer, from: number, to: number): string {
    if (this.#restBytes === 0) return chunk.toString('utf8', from, to);
    return this.#takeRest(chunk.subarray(from, to));
  }

  #takeRest(head?: Buffer): string {
    if (head !== undefined) this.#rest.push(head);
    const text = Buffer.concat(this.#rest).toString('utf8');
    this.#rest = [];
    this.#restBytes = 0;
    return text;
  }

  /** `text` ends with a line break. */
  #lines(text: string): void {
    let start = 0;
    if (this.#atStart) {
      this.#atStart = false;
      if (text.startsWith(BOM)) start = 1;
    }
    if (this.#skipLf && text.charCodeAt(start) === LF) start += 1;
    const hasCr = text.includes('\r');
    this.#skipLf = hasCr && text.endsWith('\r');
    while (start < text.length) {
      const end = hasCr ? lineEnd(text, start) : text.indexOf('\n', start);
      this.#line(text, start, end);
      start = end + (text.charCodeAt(end) === CR && text.charCodeAt(end + 1) === LF ? 2 : 1);
    }
  }

  #line(text: string, start: number, end: number): void {
    if (start === end) {
      this.#dispatch();
      return;
    }
    if (!text.startsWith('data', start)) return;
    if (end === start + 4) this.#addData('');
    else if (text.charCodeAt(start + 4) === 58) this.#dataLine(text, start + 5, end);
  }

  #dataLine(text: string, afterColon: number, end: number): void {
    const start = text.charCodeAt(afterColon) === 32 ? afterColon + 1 : afterColon;
    // Nearly always one data line and the blank line are both here, so nothing needs to be cut out or kept.
    if (this.#data.length === 0 && isBlankAfter(text, end)) this.#listener(text, start, Math.max(start, end));
    else this.#addData(text.slice(start, end));
  }

  #addData(line: string): void {
    this.#data.push(line);
    this.#dataLength += line.length + 1;
  }

  #dispatch(): void {
    if (this.#data.length === 0) return;
    const text = this.#data.length === 1 ? (this.#data[0] ?? '') : this.#data.join('\n');
    this.#data = [];
    this.#dataLength = 0;
    this.#listener(text, 0, text.length);
  }
}

/** The text before the data of the event with which `text` begins; undefined in any other form. */
function headAt(text: string): string | undefined {
  return text.startsWith(PLAIN_HEAD) ? PLAIN_HEAD : NAMED_HEAD.exec(text)?.[0];
}

/** True if a blank line follows, so the event is complete. The blank line itself is then skipped as an empty event. */
function isBlankAfter(text: string, end: number): boolean {
  return text.charCodeAt(end) === LF && text.charCodeAt(end + 1) === LF;
}

function lineEnd(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === LF || code === CR) break;
  }
  return at;
}

function lastLineBreak(chunk: Buffer): number {
  const lf = chunk.lastIndexOf(LF);
  if (lf >= 0 && lf === chunk.length - 1) return lf;
  return Math.max(lf, chunk.lastIndexOf(CR));
}
