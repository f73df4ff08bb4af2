import { setNewest } from '../../base/bounded-cache.ts';
import type { SwapRemoveSet } from '../../base/swap-remove-set.ts';
import { CallerShares } from '../caller-shares.ts';
import type { Drainable } from './drainable.ts';
import { networkOf } from './peer-address.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

/** Wrong keys without a delay, for a person who mistypes and a program that retries with an old key. */
const FREE_FAILURES = 3;

/** The first delay; it doubles with each further wrong key. */
const FIRST_DELAY_MS = 100;

/** Short enough for a client that retries, and long enough that one connection tries fewer than a thousand keys in an hour. */
const LONGEST_DELAY_MS = 5_000;

/** An address that sends no wrong key for this long starts again without a delay. */
const FORGET_MS = 60_000;

/** The most addresses that svc remembers, about 1 MB. It forgets the one with the oldest wrong key first. */
const MAX_ADDRESSES = 10_000;

/** The most delayed answers of one address. A client with more of them is guessing, so svc cuts its connections. */
const MAX_WAITING_OF_ADDRESS = 64;

/** The most delayed answers in one process; each holds a connection. */
const MAX_WAITING = 1_024;

interface Failures {
  count: number;
  lastAt: number;
}

/**
 * Slows down an address that sends wrong keys: each further answer has a longer delay. A right key is never delayed, because
 * its caller can share the address with one that guesses.
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

  /** Counts a wrong key of this network at `now`, and returns the delay of its answer, both in milliseconds. */
  count(network: string, now: number): number {
    const known = this.#failures.get(network);
    const failures = known === undefined ? { count: 0, lastAt: now } : known;
    if (now - failures.lastAt >= FORGET_MS) failures.count = 0;
    failures.count += 1;
    failures.lastAt = now;
    setNewest(this.#failures, network, failures, MAX_ADDRESSES);
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
}

/** A delayed answer to a wrong key. A drain sends it immediately. */
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
