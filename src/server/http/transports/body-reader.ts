import type { BodyOutcome } from '../transport.ts';

/**
 * Without a byte for this long the client gets a 408. uWebSockets.js itself cuts the connection silently after 8 to 12
 * seconds, so this has to be shorter.
 */
const STALL_MS = 7_000;

/** A body takes no longer than this in all: at the 10 MiB default limit that is 1.4 Mbit/s. */
const TOTAL_MS = 60_000;

/** What the transport has to do after a piece. */
export type BodyProgress = 'more' | 'complete' | 'overflow';

type BodyListener = (outcome: BodyOutcome) => void;

const EMPTY = new Uint8Array(0);

/** The body of one request on its way in: collected up to a limit, or dropped as it comes. */
export class BodyReader {
  readonly #discardLimit: number;
  readonly #startedAt = performance.now();
  #lastByteAt = this.#startedAt;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #limit = 0;
  #listener: BodyListener | undefined;
  /** Nothing more is expected: the answer may leave. */
  complete: boolean;

  constructor(hasBody: boolean, discardLimit: number) {
    this.complete = !hasBody;
    this.#discardLimit = discardLimit;
  }

  read(limit: number, listener: BodyListener): void {
    if (this.complete) {
      listener({ kind: 'body', bytes: EMPTY });
      return;
    }
    this.#limit = limit;
    this.#listener = listener;
  }

  /** Takes a piece; `chunk` is copied, since its memory may belong to the library. */
  push(chunk: Uint8Array, isLast: boolean): BodyProgress {
    this.#size += chunk.length;
    if (this.#size > this.#limit) return this.#drop(isLast);
    this.#lastByteAt = performance.now();
    if (this.#listener !== undefined) this.#chunks.push(isLast && this.#chunks.length === 0 ? chunk : chunk.slice());
    if (!isLast) return 'more';
    this.complete = true;
    // The only piece is not copied: the listener decodes it before it returns.
    this.#tell({ kind: 'body', bytes: this.#chunks.length === 1 ? (this.#chunks[0] ?? EMPTY) : this.#joined() });
    return 'complete';
  }

  aborted(): void {
    this.complete = true;
    this.#tell({ kind: 'aborted' });
  }

  /** True when the client takes too long. */
  isLate(now: number): boolean {
    return !this.complete && (now - this.#lastByteAt >= STALL_MS || now - this.#startedAt >= TOTAL_MS);
  }

  /** Gives up: the answer may leave without the rest. */
  timeOut(): void {
    this.complete = true;
    this.#tell({ kind: 'timeout' });
  }

  #drop(isLast: boolean): BodyProgress {
    this.#chunks = [];
    if (isLast) this.complete = true;
    this.#tell({ kind: 'too-large' });
    if (isLast) return 'complete';
    return this.#size > this.#limit + this.#discardLimit ? 'overflow' : 'more';
  }

  #joined(): Uint8Array {
    return Buffer.concat(this.#chunks, this.#size);
  }

  #tell(outcome: BodyOutcome): void {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#chunks = [];
    listener?.(outcome);
  }
}

/** Something with a body that may have stalled. */
export interface Expiring {
  expire(now: number): void;
}

/** One timer for all unfinished bodies of a transport, instead of one each. */
export class BodyWatch {
  readonly #waiting = new Set<Expiring>();
  #timer: NodeJS.Timeout | undefined;

  add(item: Expiring): void {
    this.#waiting.add(item);
    this.#timer ??= setInterval(() => this.#sweep(), 1_000).unref();
  }

  delete(item: Expiring): void {
    this.#waiting.delete(item);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
  }

  #sweep(): void {
    const now = performance.now();
    for (const item of this.#waiting) item.expire(now);
    if (this.#waiting.size === 0) this.close();
  }
}
