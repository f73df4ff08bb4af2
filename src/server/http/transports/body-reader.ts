import { SwapRemoveSet, type SwapRemoveMember } from '../../../base/swap-remove-set.ts';
import type { ByteBudget } from '../../../base/byte-budget.ts';
import type { BodyOutcome, TransportOptions } from '../transport.ts';

/**
 * Without a byte for this long the client gets a 408. uWebSockets.js itself cuts the connection silently after 8 to 12
 * seconds, so this has to be shorter.
 */
const STALL_MS = 7_000;

/** A body takes no longer than this in all: at the 10 MiB default limit that is 1.4 Mbit/s. */
const TOTAL_MS = 60_000;

/** What the transport has to do after a piece. */
export type BodyProgress = 'more' | 'complete' | 'overflow';

type BodyLimits = Pick<TransportOptions, 'discardLimit' | 'bodyBudget'>;

type BodyListener = (outcome: BodyOutcome) => void;

const EMPTY = new Uint8Array(0);

/** The body of one request on its way in: collected up to a limit, or dropped as it comes. */
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
  /** Nothing more is expected: the answer may leave. */
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

  /** Takes a piece; `chunk` is copied, since its memory may belong to the library. */
  push(chunk: Uint8Array, isLast: boolean): BodyProgress {
    this.#size += chunk.length;
    this.#lastByteAt = performance.now();
    if (this.#size > this.#limit) return this.#drop('too-large', isLast);
    if (this.#listener !== undefined && !this.#keep(chunk, isLast)) return this.#drop('overloaded', isLast);
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

  /** False where all bodies together hold as much as they may. */
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

  #drop(why: 'too-large' | 'overloaded', isLast: boolean): BodyProgress {
    if (isLast) this.complete = true;
    this.#tell({ kind: why });
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
    this.#budget.give(this.#held);
    this.#held = 0;
    listener?.(outcome);
  }
}

/** Something with a body that may have stalled. */
export interface Expiring extends SwapRemoveMember {
  expire(now: number): void;
}

/** One timer for all unfinished bodies of a transport, instead of one each. */
export class BodyWatch {
  readonly #waiting = new SwapRemoveSet<Expiring>();
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
    for (const item of this.#waiting.list()) this.#waiting.delete(item);
  }

  #sweep(): void {
    const now = performance.now();
    for (const item of this.#waiting.list()) item.expire(now);
    if (this.#waiting.size === 0) this.close();
  }
}
