import { LARGE } from '../../../base/own-turn.ts';
import type { BodyBudget, BodyBudgetLimit } from '../../admission.ts';
import { networkOf } from '../local-caller.ts';
import type { BodyOutcome, HttpRequest, TransportOptions } from '../transport.ts';

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
  readonly #budget: BodyBudget;
  readonly #request: Pick<HttpRequest, 'peer'>;
  readonly #startedAt = performance.now();
  #lastByteAt = this.#startedAt;
  #chunks: Uint8Array[] = [];
  /** Bytes taken from the budget. */
  #held = 0;
  /** The caller whose share they count against; determined when a body has more than one chunk. */
  #caller: string | undefined;
  #size = 0;
  #limit = 0;
  #listener: BodyListener | undefined;
  /** No more bytes are expected, so the answer can leave. */
  complete: boolean;

  constructor(hasBody: boolean, { discardLimit, bodyBudget }: BodyLimits, request: Pick<HttpRequest, 'peer'>) {
    this.complete = !hasBody;
    this.#request = request;
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
    if (this.#size > this.#limit) return this.#discard({ kind: 'too-large' }, isLast);
    const exceeded = this.#listener === undefined ? undefined : this.#keep(chunk, isLast);
    if (exceeded !== undefined) return this.#discard({ kind: 'overloaded', limit: exceeded }, isLast);
    if (!isLast) return 'more';
    this.complete = true;
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] ?? EMPTY) : Buffer.concat(this.#chunks, this.#size);
    this.#close()?.({ kind: 'body', bytes });
    return 'complete';
  }

  aborted(): void {
    this.complete = true;
    this.#close()?.({ kind: 'aborted' });
  }

  /** True when the client is too slow. */
  isLate(now: number): boolean {
    return !this.complete && (now - this.#lastByteAt >= STALL_MS || now - this.#startedAt >= TOTAL_MS);
  }

  /** Expects no more bytes: the answer can leave without them. */
  timeOut(): void {
    this.complete = true;
    this.#close()?.({ kind: 'timeout' });
  }

  /** Returns the limit that the unfinished bodies have reached, if any. */
  #keep(chunk: Uint8Array, isLast: boolean): BodyBudgetLimit | undefined {
    if (isLast && this.#chunks.length === 0) {
      // The listener decodes a small one before it returns, and a large one on a later turn.
      this.#chunks.push(chunk.length < LARGE ? chunk : chunk.slice());
      return undefined;
    }
    this.#caller ??= networkOf(this.#request.peer);
    const exceeded = this.#budget.take(this.#caller, chunk.length);
    if (exceeded !== undefined) return exceeded;
    this.#held += chunk.length;
    this.#chunks.push(chunk.slice());
    return undefined;
  }

  #discard(outcome: BodyOutcome, isLast: boolean): BodyProgress {
    if (isLast) this.complete = true;
    this.#close()?.(outcome);
    if (isLast) return 'complete';
    return this.#size > this.#limit + this.#discardLimit ? 'overflow' : 'more';
  }

  /** Gives the bytes back to the budget, and returns the listener, which is called once. */
  #close(): BodyListener | undefined {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#chunks = [];
    if (this.#caller !== undefined) this.#budget.give(this.#caller, this.#held);
    this.#held = 0;
    return listener;
  }
}
