import type { SwapRemoveSet } from '../../base/swap-remove-set.ts';
import { CallerShares } from '../caller-shares.ts';
import type { Drainable } from './drainable.ts';
import { networkOf } from './peer-address.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

/** A person who mistypes, or a program with an old key that tries again, is answered at once. */
const FREE_FAILURES = 3;

/** The wait after the first failure that is not free; it doubles with each further one. */
const FIRST_DELAY_MS = 100;

/** Short enough for a client that retries, and long enough that one connection tries fewer than a thousand keys in an hour. */
const LONGEST_DELAY_MS = 5_000;

/** An address without a wrong key for this long starts again. */
const FORGET_MS = 60_000;

/** Addresses that are remembered: about 1 MB. The one whose last wrong key is oldest goes first. */
const MAX_ADDRESSES = 10_000;

/** Answers of one address that wait at the same time. A client that has further ones is guessing: its connections are cut. */
const MAX_WAITING_OF_ADDRESS = 64;

/** Answers that wait in one process, each with a connection. */
const MAX_WAITING = 1_024;

interface Failures {
  count: number;
  lastAt: number;
}

/**
 * Slows down an address that sends wrong keys: each further answer waits longer. A right key is never delayed, since a caller
 * who has one can share the address with one who guesses.
 */
export class WrongKeys {
  readonly #active: SwapRemoveSet<Drainable>;
  /** By network, in the order of their last wrong keys. */
  readonly #failures = new Map<string, Failures>();
  #waiting = 0;
  readonly #waitingOf = new CallerShares(MAX_WAITING_OF_ADDRESS);

  /** `active`: the requests that a drain ends. */
  constructor(active: SwapRemoveSet<Drainable>) {
    this.#active = active;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get addresses(): number {
    return this.#failures.size;
  }

  /** Counts a wrong key of this network at this time (milliseconds), and returns for how long its answer has to wait. */
  count(network: string, now: number): number {
    const known = this.#failures.get(network);
    const failures = known === undefined ? { count: 0, lastAt: now } : known;
    if (now - failures.lastAt >= FORGET_MS) failures.count = 0;
    failures.count += 1;
    failures.lastAt = now;
    this.#failures.delete(network);
    this.#failures.set(network, failures);
    this.#forgetOldest();
    const over = failures.count - FREE_FAILURES;
    return over <= 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (over - 1));
  }

  /** Calls `answer` when the request with a wrong key can be answered: now or later, unless the caller leaves. */
  refuse(request: Pick<HttpRequest, 'peer'>, response: HttpResponse, answer: () => void): void {
    const network = networkOf(request.peer);
    const delayMs = this.count(network, performance.now());
    if (delayMs === 0) answer();
    else if (this.#takesRoom(network)) {
      const waiting = new WaitingAnswer(answer, () => {
        this.#active.delete(waiting);
        this.#waiting -= 1;
        this.#waitingOf.give(network, 1);
      });
      this.#active.add(waiting);
      waiting.start(response, delayMs);
    } else response.destroy();
  }

  #takesRoom(network: string): boolean {
    if (this.#waiting >= MAX_WAITING || !this.#waitingOf.take(network, 1)) return false;
    this.#waiting += 1;
    return true;
  }

  #forgetOldest(): void {
    if (this.#failures.size <= MAX_ADDRESSES) return;
    const [oldest] = this.#failures.keys();
    if (oldest !== undefined) this.#failures.delete(oldest);
  }
}

/** An answer to a wrong key that waits. A drain sends it at once. */
class WaitingAnswer implements Drainable {
  setIndex = -1;
  readonly #answer: () => void;
  readonly #ended: () => void;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(answer: () => void, ended: () => void) {
    this.#answer = answer;
    this.#ended = ended;
  }

  start(response: HttpResponse, delayMs: number): void {
    this.#timer = setTimeout(() => this.drain(), delayMs);
    response.onAborted(() => this.#end());
  }

  drain(): void {
    this.#end();
    this.#answer();
  }

  /** Also called when the caller leaves before the answer is complete. */
  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#ended();
  }
}
