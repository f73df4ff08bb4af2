import type { TransportOptions } from '../transport.ts';
import { LARGE } from '../../../base/own-turn.ts';
import { Sweep } from '../sweep.ts';

/** The state of a transport that its requests use. */
export class TransportState {
  readonly options: TransportOptions;
  /** Unfinished bodies. */
  readonly bodies = new Sweep();
  /** Complete answers that their clients have not accepted yet: a drain waits for them. */
  readonly unread: UnreadAnswers;
  /** Every answer is the last one of its connection. */
  finishing = false;
  /** The number of next answers that end their connections. */
  handOvers = 0;

  constructor(options: TransportOptions) {
    this.options = options;
    this.unread = new UnreadAnswers(options.maxUnreadBytes);
  }

  /** Takes one hand-over; returns true if the answer that begins now must end its connection. */
  takeHandOver(): boolean {
    if (this.handOvers === 0) return false;
    this.handOvers -= 1;
    return true;
  }
}

/** Encoding and writing a long text takes milliseconds. Bytes are a page that is ready. */
export function isLarge(body: string | Uint8Array | undefined): boolean {
  return typeof body === 'string' && body.length >= LARGE;
}

/** A complete answer, or the end of a stream, that its client has not accepted yet. */
export interface UnreadAnswer {
  /** The bytes that only this answer holds: 0 for a page whose buffer all answers share. */
  readonly unreadBytes: number;
  /** Ends the connection. */
  cut(): void;
}

/**
 * The answers that clients have not accepted yet. Above the limit, cuts large ones, so that callers with answers of the usual
 * size keep theirs: of the answers at least half as large as the largest, the one whose client has accepted nothing for the
 * longest time. A single answer is always allowed.
 */
export class UnreadAnswers {
  readonly #limit: number;
  /** In the order in which clients last accepted data. */
  readonly #members = new Set<UnreadAnswer>();
  #bytes = 0;

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#members.size;
  }

  /** `unreadBytes` must not change until `delete`. */
  add(answer: UnreadAnswer): void {
    if (this.#members.has(answer)) return;
    this.#members.add(answer);
    this.#bytes += answer.unreadBytes;
    while (this.#bytes > this.#limit && this.#members.size > 1) this.#cutOne();
  }

  /** To be called when the client accepted a part of the answer. */
  progressed(answer: UnreadAnswer): void {
    if (this.#members.delete(answer)) this.#members.add(answer);
  }

  delete(answer: UnreadAnswer): void {
    if (this.#members.delete(answer)) this.#bytes -= answer.unreadBytes;
  }

  #cutOne(): void {
    let most = 0;
    for (const { unreadBytes } of this.#members) most = Math.max(most, unreadBytes);
    for (const answer of this.#members) {
      if (answer.unreadBytes < most / 2) continue;
      this.delete(answer);
      answer.cut();
      return;
    }
  }
}
