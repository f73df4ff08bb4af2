import type { HttpResponse as NativeResponse } from 'uWebSockets.js';

/** More than this in one write, or two writes in one cork, can lose bytes in uWebSockets.js (its buffer has 16 KB). */
const MAX_WRITE_BYTES = 15_000;

/** This many UTF-16 units fit into one write, whatever they encode to. */
const SURELY_FITS = MAX_WRITE_BYTES / 3;

/** The body of a streamed answer: writes chunks in order, as fast as the client accepts them. */
export class UwsWriter {
  readonly #native: NativeResponse;
  readonly #filler: string;
  #writeHead: (() => void) | undefined;
  #queue: Array<string | Uint8Array> = [];
  #opened = false;
  #blocked = false;
  #ended: (() => void) | undefined;
  #isLastAnswer = false;
  #finished = false;
  drainListener: ((empty: boolean) => void) | undefined;

  /** `filler` is text that readers ignore between two writes: sending it pushes what the library still holds. */
  constructor(native: NativeResponse, filler: string, writeHead: () => void) {
    this.#native = native;
    this.#filler = filler;
    this.#writeHead = writeHead;
    // From the start: otherwise the library's write timer cuts the stream 10 seconds after one moment of back-pressure.
    native.onWritable(() => this.#onWritable());
  }

  /** Sends the status line, the headers and everything written so far. */
  open(): void {
    this.#opened = true;
    this.#pump();
  }

  write(chunk: string): boolean {
    if (chunk.length <= SURELY_FITS) this.#queue.push(chunk);
    else splitBytes(Buffer.from(chunk), this.#queue);
    return this.#pump();
  }

  /**
   * Calls `done` once the library has everything: the response must not be used after that. `isLastAnswer`: the connection reads
   * nothing more.
   */
  end(isLastAnswer: boolean, done: () => void): void {
    this.#isLastAnswer = isLastAnswer;
    this.#ended ??= done;
    this.#pump();
  }

  /**
   * Restarts the library's write timer, as each write does: adds one chunk to its buffer. Call it every few seconds and not more
   * often, because the buffer grows by that chunk.
   */
  keepWaiting(): void {
    if (!this.#blocked || this.#finished) return;
    this.#writeNext(this.#queue.shift() ?? this.#filler);
    if (!this.#blocked) this.#drained();
  }

  #pump(): boolean {
    if (!this.#opened) return true;
    while (!this.#blocked && this.#queue.length > 0) this.#writeNext(this.#queue.shift() ?? '');
    if (this.#ended !== undefined && this.#queue.length === 0) this.#finish(this.#ended);
    return !this.#blocked;
  }

  #writeNext(chunk: string | Uint8Array): void {
    this.#native.cork(() => {
      this.#sendHead();
      this.#blocked = !this.#native.write(chunk);
    });
  }

  #finish(done: () => void): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#native.cork(() => {
      this.#sendHead();
      // The client closes the connection, or the library does after 8 to 12 seconds. Until then, no further request can run.
      if (this.#isLastAnswer) this.#native.pause();
      // Never with closeConnection: after a write it corrupts the chunked body.
      this.#native.end();
    });
    done();
  }

  #sendHead(): void {
    const writeHead = this.#writeHead;
    this.#writeHead = undefined;
    writeHead?.();
  }

  /** The client accepted data. Only another write pushes what the library still holds. */
  #onWritable(): boolean {
    this.#blocked = false;
    if (this.#queue.length === 0) this.#queue.push(this.#filler);
    this.#drained();
    return true;
  }

  #drained(): void {
    this.#pump();
    if (!this.#finished) this.drainListener?.(!this.#blocked);
  }
}

function splitBytes(bytes: Uint8Array, into: Array<string | Uint8Array>): void {
  for (let from = 0; from < bytes.length; from += MAX_WRITE_BYTES) {
    into.push(bytes.subarray(from, from + MAX_WRITE_BYTES));
  }
}
