import { LEASES_OF_LIMIT, type LeaseRequest, type ReturnedUnits } from './lease-desk.ts';
import {
  DAY_MS,
  MemoryLedger,
  SYSTEM_CLOCK,
  untilMidnight,
  type Clock,
  type Grant,
  type Ledger,
  type Limit,
} from './ledger.ts';

/** The way to the desk of the primary. */
export interface LeaseSource {
  /** Rejects if the primary does not answer in time. */
  take(request: LeaseRequest): Promise<Grant>;
  give(units: ReturnedUnits): void;
}

/** The state of a limit, as this worker knows it. Other workers can hold a part of `remaining`. */
export interface LimitState {
  readonly remaining: number;
  /** Milliseconds until the window ends; 0 without a window. */
  readonly resetMs: number;
}

/** How long this worker refuses without a question after the primary had no units: at most 20 questions in a second. */
const REFUSED_MS = 50;

/** How long this worker counts by itself after the primary did not answer, so that not every request waits for it. */
const ALONE_MS = 5_000;

/** The shortest time over which demand is measured: less would turn two requests in a row into a thousand in a second. */
const SHORTEST_MEASURE_MS = 10;

/** Not the number of any window: between two windows, and for units that were refused. */
export const NO_WINDOW = -1;

interface Waiting {
  readonly units: number;
  readonly resolve: (window: number) => void;
}

/**
 * The units of a limit that this worker took. It is a class so that all leases share one hidden class. Otherwise, when a new lease
 * replaces a forgotten one, its hidden class can differ, and V8 discards the optimized code of a call.
 */
class Lease {
  limit: Limit;
  unspent = 0;
  window = 0;
  endsAt = Number.POSITIVE_INFINITY;
  /** The units that no worker had taken at the last answer. */
  remaining: number;
  /** Until this time, requests for more than `refusedAbove` units are refused without a question. */
  refusedUntil = 0;
  refusedAbove = 0;
  /** The units spent since the last question. */
  spent = 0;
  askedAt: number;
  /** The units that are in use, if the limit has no window. */
  inUse = 0;
  /** True if a request spent or released units since the last check for unused leases. */
  used = true;
  /** The primary recalled the lease and granted nothing since: another worker waits for units that become free. */
  recalled = false;
  /** Requests that wait for units, in order. A question is under way if there is any. */
  readonly waiting: Waiting[] = [];

  constructor(limit: Limit, now: number) {
    this.limit = limit;
    this.remaining = limit.units;
    this.askedAt = now;
  }
}

export interface LeaseOptions {
  readonly source: LeaseSource;
  /** The number of workers: without an answer of the primary, each keeps to its share of a limit. */
  readonly workers: number;
  /** Other machines use the limits too. No one can recall what a lease holds for them, so it gives back more than a small part at once. */
  readonly shared?: boolean;
  readonly clock?: Clock;
  /** Called when the primary does not answer. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * A worker's side of limits: takes units from the primary in batches (leases) and spends them without a message. Call `sweep` once
 * a second.
 */
export class Leases {
  readonly #options: LeaseOptions;
  readonly #clock: Clock;
  readonly #leases = new Map<string, Lease>();
  /** Counts this worker's share while the primary does not answer. */
  #own: Ledger;
  #aloneUntil = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#own = new MemoryLedger(this.#clock);
  }

  get size(): number {
    return this.#leases.size;
  }

  /** Milliseconds on the clock of the leases: a call reads it once for all of its limits. */
  now(): number {
    return this.#clock.elapsedMs();
  }

  /**
   * Spends units and returns their window, or `NO_WINDOW` if the limit is reached. Returns at once if the lease has enough, or if
   * the primary refused more just before.
   */
  spend(limit: Limit, units: number, now = this.now()): number | Promise<number> {
    const lease = this.#leaseOf(limit, now);
    lease.used = true;
    if (lease.unspent >= units && lease.waiting.length === 0) {
      take(lease, units);
      return lease.window;
    }
    if (now < lease.refusedUntil && units > lease.refusedAbove) return NO_WINDOW;
    return new Promise((resolve) => {
      lease.waiting.push({ units, resolve });
      if (lease.waiting.length === 1) void this.#ask(lease);
    });
  }

  /** Undoes a part of `spend`, if the window of that time still runs. */
  release(limit: Limit, units: number, window: number, now = this.now()): void {
    const lease = this.#leaseOf(limit, now);
    lease.used = true;
    lease.inUse = Math.max(0, lease.inUse - units);
    if (lease.window !== window) return;
    if (lease.recalled) {
      this.#options.source.give({ limit, units, window });
      return;
    }
    lease.unspent += units;
    if (this.#options.shared === true && lease.unspent > limit.units / LEASES_OF_LIMIT) this.#giveBack(lease);
  }

  /** Counts units that were used without `spend`, such as the tokens of a reply that was longer than expected. */
  charge(limit: Limit, units: number, now = this.now()): void {
    const lease = this.#leaseOf(limit, now);
    const own = Math.min(units, lease.unspent);
    lease.unspent -= own;
    lease.spent += units;
    lease.remaining = Math.max(0, lease.remaining - (units - own));
    if (units > own) this.#options.source.give({ limit, units: own - units, window: lease.window });
  }

  stateOf(limit: Limit, now = this.now()): LimitState {
    const lease = this.#leases.get(limit.id);
    const leftMs = lease === undefined || limit.windowMs === undefined ? 0 : lease.endsAt - now;
    const isOver = limit.windowMs !== undefined && leftMs <= 0;
    if (lease === undefined || isOver) return { remaining: limit.units, resetMs: this.#newWindowMs(limit) };
    const resetMs = Number.isFinite(leftMs) ? leftMs : this.#newWindowMs(limit);
    return { remaining: Math.min(limit.units, lease.remaining + lease.unspent), resetMs };
  }

  /** The primary needs the unused units for another worker. */
  recalled(limitId: string, recall: number): void {
    const lease = this.#leases.get(limitId);
    if (lease === undefined) {
      this.#options.source.give({ limit: { id: limitId, units: 1, windowMs: undefined }, units: 0, window: 0, recall });
      return;
    }
    this.#giveBack(lease, recall);
    lease.recalled = true;
  }

  /** Gives back the units of leases that were not used since the last call, and forgets those whose window is over. */
  sweep(): void {
    const now = this.now();
    for (const [id, lease] of this.#leases) {
      if (lease.waiting.length > 0) continue;
      if (!lease.used && lease.unspent > 0 && now < lease.endsAt) this.#giveBack(lease);
      const idle = lease.limit.windowMs === undefined && !lease.used && lease.inUse === 0;
      if (now >= lease.endsAt || idle) this.#leases.delete(id);
      lease.used = false;
    }
  }

  /** The length of a window that begins now; 0 without a window. */
  #newWindowMs({ windowMs = 0 }: Limit): number {
    return windowMs === DAY_MS ? untilMidnight(this.#clock.utcMs()) : windowMs;
  }

  #giveBack(lease: Lease, recall?: number): void {
    const { limit, unspent, window } = lease;
    lease.unspent = 0;
    lease.remaining += unspent;
    this.#options.source.give({ limit, units: unspent, window, recall });
  }

  #leaseOf(limit: Limit, now: number): Lease {
    const known = this.#leases.get(limit.id);
    if (known === undefined) {
      const lease = new Lease(limit, now);
      this.#leases.set(limit.id, lease);
      return lease;
    }
    known.limit = limit;
    if (now >= known.endsAt) endWindow(known);
    return known;
  }

  /** Asks for the units of all that wait. If there are fewer, refuses those for whom they do not suffice, and asks again for the first of the others. */
  async #ask(lease: Lease): Promise<void> {
    let free = Number.POSITIVE_INFINITY;
    while (lease.waiting.length > 0) {
      const need = sumUpTo(lease.waiting, free) - lease.unspent;
      const askedAt = this.now();
      const demand = (lease.spent * 1000) / Math.max(askedAt - lease.askedAt, SHORTEST_MEASURE_MS);
      lease.spent = 0;
      lease.askedAt = askedAt;
      const grant = await this.#grantOf({ limit: lease.limit, need: Math.max(1, need), demand });
      this.#add(lease, grant, askedAt);
      if (this.now() >= lease.endsAt) endWindow(lease);
      else {
        free = grant.granted > 0 ? Number.POSITIVE_INFINITY : lease.unspent + grant.remaining;
        this.#serve(lease);
        if (grant.granted === 0) this.#refuseAbove(lease, free);
      }
    }
  }

  /** Measures the window from before the question, so that it never ends later here than in the primary. */
  #add(lease: Lease, { granted, remaining, resetMs, window }: Grant, askedAt: number): void {
    if (lease.window !== window) lease.unspent = 0;
    lease.window = window;
    lease.endsAt = lease.limit.windowMs === undefined ? Number.POSITIVE_INFINITY : askedAt + resetMs;
    lease.unspent += granted;
    lease.remaining = remaining;
    if (granted > 0) lease.recalled = false;
  }

  #serve(lease: Lease): void {
    for (let next = lease.waiting[0]; next !== undefined && next.units <= lease.unspent; next = lease.waiting[0]) {
      lease.waiting.shift();
      take(lease, next.units);
      next.resolve(lease.window);
    }
  }

  #refuseAbove(lease: Lease, free: number): void {
    lease.refusedUntil = Math.min(lease.endsAt, this.now() + REFUSED_MS);
    lease.refusedAbove = free;
    for (const waiting of lease.waiting.splice(0)) {
      if (waiting.units > free) waiting.resolve(NO_WINDOW);
      else lease.waiting.push(waiting);
    }
  }

  /** Never rejects: while the primary does not answer, this worker keeps to its own share of the limit. */
  async #grantOf(request: LeaseRequest): Promise<Grant> {
    const { source, workers, onFailure } = this.#options;
    if (this.now() >= this.#aloneUntil) {
      try {
        return await source.take(request);
      } catch (error) {
        this.#aloneUntil = this.now() + ALONE_MS;
        this.#own = new MemoryLedger(this.#clock);
        onFailure(error);
      }
    }
    const { limit, need } = request;
    return this.#own.take({ ...limit, units: Math.max(1, Math.floor(limit.units / workers)) }, need, need);
  }
}

/** The units of the first requests that do not need more than `most` together; at least those of the first one. */
function sumUpTo(waiting: readonly Waiting[], most: number): number {
  let sum = 0;
  for (const { units } of waiting) {
    if (sum > 0 && sum + units > most) break;
    sum += units;
  }
  return sum;
}

function take(lease: Lease, units: number): void {
  lease.unspent -= units;
  lease.spent += units;
  lease.inUse += units;
}

/** The units of the old window are worth nothing in the next one. */
function endWindow(lease: Lease): void {
  lease.unspent = 0;
  lease.window = NO_WINDOW;
  lease.endsAt = Number.POSITIVE_INFINITY;
  lease.remaining = lease.limit.units;
  lease.refusedUntil = 0;
}
