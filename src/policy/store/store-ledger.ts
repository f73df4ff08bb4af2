import { setNewest } from '../../base/set-newest.ts';
import {
  DAY_MS,
  grantOf,
  SYSTEM_CLOCK,
  untilMidnight,
  type Clock,
  type Grant,
  type Ledger,
  type Limit,
} from '../ledger.ts';
import type { Store } from './store.ts';

/** The units that a silent machine holds are free after this time. Each machine renews its own three times in that time. */
const HOLD_LIFETIME_MS = 15_000;

/** The most windows that a machine remembers. It forgets the oldest first. */
const MAX_WINDOWS = 100_000;

/** The most units that the store receives at once: its counters are integers of 64 bits, and its scripts compute with doubles. */
const MAX_UNITS = Number.MAX_SAFE_INTEGER;

/** What this machine took in one window. */
interface OwnWindow {
  readonly window: number;
  readonly endsAt: number;
  taken: number;
  /** The part of `taken` that the store does not know yet. */
  unknown: number;
}

/** What this machine holds of one limit. */
interface OwnHold {
  limit: Limit;
  held: number;
  /** An operation is under way, whose answer changes `held`. */
  asking: boolean;
  /** The store does not know `held`. */
  changed: boolean;
  renewAt: number;
}

/**
 * Units of limits over all machines. Windows are counters of the store. Of units that are held, each machine reports its own number, so
 * a machine that dies holds none after a while. Without the store, this machine counts by itself, up to its share: the units of the
 * limit divided by the number of machines, including what it took before.
 */
export class StoreLedger implements Ledger {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #windows = new Map<string, OwnWindow>();
  readonly #holds = new Map<string, OwnHold>();
  readonly #renewal: NodeJS.Timeout;
  /** Small numbers are those of windows that began without the store, which numbers windows by their time. */
  #lastWindow = 0;

  constructor(store: Store, clock: Clock = SYSTEM_CLOCK) {
    this.#store = store;
    this.#clock = clock;
    this.#renewal = setInterval(() => this.#renew(), HOLD_LIFETIME_MS / 10).unref();
  }

  take(limit: Limit, units: number, least = 1): Promise<Grant> {
    const wanted = { units, least };
    return limit.windowMs === undefined ? this.#hold(limit, wanted) : this.#takeFrom(limit, limit.windowMs, wanted);
  }

  give(limit: Limit, units: number, window: number): void {
    if (limit.windowMs === undefined) this.#giveHeld(limit, units);
    else if (units < 0) this.#charge(limit, limit.windowMs, -units);
    else this.#giveBack(limit, units, window);
  }

  /** Frees what this machine holds. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    await Promise.all([...this.#holds.values()].map((hold) => this.#report({ ...hold, held: 0 })));
  }

  async #takeFrom(limit: Limit, windowMs: number, wanted: Wanted): Promise<Grant> {
    const unknown = this.#current(limit)?.unknown ?? 0;
    const args = [limit.units, windowMs, unknown, wanted.units, wanted.least];
    const answer = numbersIn(await this.#store.run('take', [this.#key(limit)], args));
    if (answer === undefined) return this.#takeAlone(limit, windowMs, wanted);
    const [granted = 0, remaining = 0, resetMs = 0, window = 0] = answer;
    let own = this.#current(limit);
    if (own === undefined || own.window !== window) {
      own = this.#begin(limit, { window, endsAt: this.#clock.elapsedMs() + resetMs, taken: unknown, unknown: 0 });
    } else own.unknown -= Math.min(own.unknown, unknown);
    own.taken += granted;
    return { granted, remaining, resetMs: Math.max(0, resetMs), window };
  }

  #takeAlone(limit: Limit, windowMs: number, { units, least }: Wanted): Grant {
    const own = this.#current(limit) ?? this.#beginAlone(limit, windowMs);
    const share = this.#shareOf(limit);
    const granted = grantOf(share - own.taken, units, least);
    own.taken += granted;
    own.unknown += granted;
    const resetMs = own.endsAt - this.#clock.elapsedMs();
    return { granted, remaining: Math.max(0, share - own.taken), resetMs, window: own.window };
  }

  /** Units that were used already. The next `take` reports them to the store. */
  #charge(limit: Limit, windowMs: number, units: number): void {
    const own = this.#current(limit) ?? this.#beginAlone(limit, windowMs);
    own.taken += units;
    own.unknown = Math.min(MAX_UNITS, own.unknown + units);
  }

  #giveBack(limit: Limit, units: number, window: number): void {
    const own = this.#current(limit);
    if (own === undefined || own.window !== window) return;
    own.taken = Math.max(0, own.taken - units);
    const unknown = Math.min(own.unknown, units);
    own.unknown -= unknown;
    if (units > unknown) void this.#store.run('give', [this.#key(limit)], [units - unknown, window]);
  }

  #current(limit: Limit): OwnWindow | undefined {
    const own = this.#windows.get(limit.id);
    return own !== undefined && this.#clock.elapsedMs() < own.endsAt ? own : undefined;
  }

  #beginAlone(limit: Limit, windowMs: number): OwnWindow {
    const now = this.#clock.elapsedMs();
    if (windowMs === DAY_MS) {
      const utc = this.#clock.utcMs();
      const window = Math.floor(utc / DAY_MS);
      return this.#begin(limit, { window, endsAt: now + untilMidnight(utc), taken: 0, unknown: 0 });
    }
    this.#lastWindow += 1;
    return this.#begin(limit, { window: this.#lastWindow, endsAt: now + windowMs, taken: 0, unknown: 0 });
  }

  #begin({ id }: Limit, own: OwnWindow): OwnWindow {
    setNewest(this.#windows, id, own, MAX_WINDOWS);
    return own;
  }

  async #hold(limit: Limit, wanted: Wanted): Promise<Grant> {
    const hold = this.#holdOf(limit);
    hold.asking = true;
    const answer = numbersIn(await this.#report(hold, wanted));
    hold.asking = false;
    const share = this.#shareOf(limit);
    const [granted = 0, remaining = 0] = answer ?? aloneOf(share - hold.held, wanted);
    hold.held += granted;
    // Units came back meanwhile, which the store does not know.
    if (hold.changed) this.#reportLater(hold);
    this.#forgetUnheld(hold);
    return { granted, remaining, resetMs: 0, window: 0 };
  }

  #giveHeld(limit: Limit, units: number): void {
    const hold = this.#holdOf(limit);
    hold.held = Math.max(0, hold.held - units);
    hold.changed = true;
    if (!hold.asking) this.#reportLater(hold);
    this.#forgetUnheld(hold);
  }

  #reportLater(hold: OwnHold): void {
    hold.changed = false;
    void this.#report(hold);
  }

  #report(hold: OwnHold, { units, least }: Wanted = NOTHING): Promise<unknown> {
    const { limit, held } = hold;
    hold.renewAt = this.#clock.elapsedMs() + HOLD_LIFETIME_MS / 3;
    const args = [limit.units, this.#store.machine, held, units, HOLD_LIFETIME_MS, least];
    return this.#store.run('hold', [this.#key(limit)], args);
  }

  #renew(): void {
    const now = this.#clock.elapsedMs();
    for (const hold of this.#holds.values()) if (!hold.asking && now >= hold.renewAt) void this.#report(hold);
  }

  #holdOf(limit: Limit): OwnHold {
    const known = this.#holds.get(limit.id);
    const hold = known ?? { limit, held: 0, asking: false, changed: false, renewAt: Infinity };
    hold.limit = limit;
    this.#holds.set(limit.id, hold);
    return hold;
  }

  #forgetUnheld({ limit, held, asking }: OwnHold): void {
    if (held === 0 && !asking) this.#holds.delete(limit.id);
  }

  #shareOf({ units }: Limit): number {
    return Math.max(1, Math.floor(units / this.#store.health.machines));
  }

  #key({ id, windowMs }: Limit): string {
    return this.#store.key(windowMs === undefined ? 'held' : 'units', id);
  }
}

/** The most and the least units that someone asks for. */
interface Wanted {
  readonly units: number;
  readonly least: number;
}

const NOTHING: Wanted = { units: 0, least: 1 };

function aloneOf(free: number, { units, least }: Wanted): readonly number[] {
  const granted = grantOf(free, units, least);
  return [granted, Math.max(0, free - granted)];
}

function numbersIn(answer: unknown): readonly number[] | undefined {
  if (!Array.isArray(answer)) return undefined;
  return answer.every((each) => typeof each === 'number') ? answer : undefined;
}
