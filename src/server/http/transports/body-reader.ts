import type { ByteBudget } from '../../../base/byte-budget.ts';
import type { BodyOutcome, TransportOptions } from '../transport.ts';

/**
 * A client that sends nothing for this long gets a 408. uWebSockets.js itself cuts the connection silently after 8 to 12
 * seconds, so this must be shorter.
 */
const STALL_MS = 7_000;

/** The longest time for a whole body: at the default limit of 10 MiB, this is 1.4 Mbit/s. */
const TOTAL_MS = 60_000;

/** The state of a body after a chunk; `overflow`: cut the connection. */
type BodyProgress = 'more' | 'complete' | 'overflow';

type BodyLimits = Pick<TransportOptions, 'discardLimit' | 'bodyBudget'>;

type BodyListener = (outcome: BodyOutcome) => void;

const EMPTY = new Uint8Array(0);

/** The body of one request while it arrives: collected up to a limit, or discarded. */
export class BodyReader {
  readonly #discardLimit: number;
  readonly #budget: ByteBudget;
  readonly #startedAt = performance.now();
  #lastByteAt = this.#startedAt;
  #chunks: Uint8Array[] = [];
  /** Bytes taken from the budget. */
  #held = 0;
  #size = 0;
  #limit = 0;
  #listener: BodyListener | undefined;
  /** No more bytes are expected, so the answer can leave. */
  complete: boolean;

  constructor(hasBody: boolean, { discardLimit, bodyBudget }: BodyLimits) {
    this.complete = !hasBody;
    this.#discardLimit = discardLimit;
    this.#budget = bodyBudget;
  }

  read(limit: number, listener: BodyListener): void {
    if (this.complete) {
      listener({ kind: 'body', bytes: EMPTY });
      return;
    }
    this.#limit = limit;
    this.#listener = listener;
  }

  /** Reads a chunk, and copies what it keeps: the memory belongs to the library. */
  push(chunk: Uint8Array, isLast: boolean): BodyProgress {
    this.#size += chunk.length;
    this.#lastByteAt = performance.now();
    if (this.#size > this.#limit) return this.#discard('too-large', isLast);
    if (this.#listener !== undefined && !this.#keep(chunk, isLast)) return this.#discard('overloaded', isLast);
    if (!isLast) return 'more';
    this.complete = true;
    // A single chunk is not copied: the listener decodes it before it returns.
    this.#report({ kind: 'body', bytes: this.#chunks.length === 1 ? (this.#chunks[0] ?? EMPTY) : this.#joined() });
    return 'complete';
  }

  aborted(): void {
    this.complete = true;
    this.#report({ kind: 'aborted' });
  }

  /** True when the client is too slow. */
  isLate(now: number): boolean {
    return !this.complete && (now - this.#lastByteAt >= STALL_MS || now - this.#startedAt >= TOTAL_MS);
  }

  /** Expects no more bytes: the answer can leave without them. */
  timeOut(): void {
    this.complete = true;
    this.#report({ kind: 'timeout' });
  }

  /** Returns false when all unfinished bodies together have reached their limit. */
  #keep(chunk: Uint8Array, isLast: boolean): boolean {
    if (isLast && this.#chunks.length === 0) {
      this.#chunks.push(chunk);
      return true;
    }
    if (!this.#budget.take(chunk.length)) return false;
    this.#held += chunk.length;
    this.#chunks.push(chunk.slice());
    return true;
  }

  #discard(kind: 'too-large' | 'overloaded', isLast: boolean): BodyProgress {
    if (isLast) this.complete = true;
    this.#report({ kind });
    if (isLast) return 'complete';
    return this.#size > this.#limit + this.#discardLimit ? 'overflow' : 'more';
  }

  #joined(): Uint8Array {
    return Buffer.concat(this.#chunks, this.#size);
  }

  #report(outcome: BodyOutcome): void {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#chunks = [];
    this.#budget.give(this.#held);
    this.#held = 0;
    listener?.(outcome);
  }
}
