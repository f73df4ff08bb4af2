import { setNewest } from '../base/set-newest.ts';

/** A number of units that a caller can use in a window of time, or hold at the same time. */
export interface Limit {
  /** The caller and the resource, such as `key:team-a requests_per_minute`. */
  readonly id: string;
  /** A whole number of at least 1. A reload of the keys can change it while the id stays. */
  readonly units: number;
  /**
   * The length of the window in milliseconds. A window begins with the first units that are taken from it; a window of `DAY_MS`
   * begins at midnight UTC. Undefined: units are held until they are given back, such as calls in flight.
   */
  readonly windowMs: number | undefined;
}

export interface Grant {
  /** 0, or from the least to the most that was requested. */
  readonly granted: number;
  /** The units of the limit that no one has taken. */
  readonly remaining: number;
  /** Milliseconds until the window ends; 0 without a window. */
  readonly resetMs: number;
  /** Identifies the window, so that units return only to the window that they are from. */
  readonly window: number;
}

/**
 * Counts the units of limits for all callers of one machine, or of several machines. The counts of a limit never exceed it, except
 * for units that were used before anyone could refuse them (see `give`).
 */
export interface Ledger {
  /**
   * Takes up to this number of units, or none if fewer than `least` are free: what a refused call cannot use stays free for others. 0
   * takes nothing and reports the state. Rejects if the ledger cannot answer in time.
   */
  take(limit: Limit, units: number, least?: number): Promise<Grant>;
  /**
   * Gives unused units back to their window; after its end, it has no effect. A negative number takes units of the current window
   * that were used already, even beyond the limit.
   */
  give(limit: Limit, units: number, window: number): void;
}

export const DAY_MS = 86_400_000;

/** The milliseconds from this time of day to the next midnight UTC. */
export function untilMidnight(utcMs: number): number {
  return DAY_MS - (utcMs % DAY_MS);
}

/** The units to grant of those that are free. */
export function grantOf(free: number, units: number, least: number): number {
  const granted = Math.min(units, free);
  return granted >= least ? granted : 0;
}

/** The most windows of one length that the ledger of a process remembers, about 20 MB. It forgets the oldest first. */
const MAX_WINDOWS = 100_000;

/** The clocks of a ledger, in milliseconds. A test passes its own. */
export interface Clock {
  /** Never jumps. */
  elapsedMs(): number;
  /** The time of day, for windows of a day. */
  utcMs(): number;
}

export const SYSTEM_CLOCK: Clock = { elapsedMs: () => performance.now(), utcMs: () => Date.now() };

interface Window {
  readonly number: number;
  readonly endsAt: number;
  taken: number;
}

/** The windows of one length, in the order of their beginning. */
type Windows = Map<string, Window>;

export class MemoryLedger implements Ledger {
  readonly #clock: Clock;
  readonly #maxWindows: number;
  readonly #windows = new Map<number | undefined, Windows>();
  #lastNumber = 0;

  constructor(clock: Clock = SYSTEM_CLOCK, maxWindows = MAX_WINDOWS) {
    this.#clock = clock;
    this.#maxWindows = maxWindows;
  }

  get size(): number {
    return [...this.#windows.values()].reduce((sum, { size }) => sum + size, 0);
  }

  take(limit: Limit, units: number, least = 1): Promise<Grant> {
    const window = units === 0 ? this.#known(limit) : this.#current(limit);
    // A report begins no window.
    if (window === undefined) return Promise.resolve({ granted: 0, remaining: limit.units, resetMs: 0, window: 0 });
    const granted = grantOf(limit.units - window.taken, units, least);
    window.taken += granted;
    const remaining = Math.max(0, limit.units - window.taken);
    const resetMs = limit.windowMs === undefined ? 0 : window.endsAt - this.#now(limit.windowMs);
    this.#discardUnheld(limit, window);
    return Promise.resolve({ granted, remaining, resetMs, window: window.number });
  }

  give(limit: Limit, units: number, window: number): void {
    const current = this.#current(limit);
    if (units < 0 || current.number === window) current.taken = Math.max(0, current.taken - units);
    this.#discardUnheld(limit, current);
  }

  /** The window that runs, if there is one. */
  #known({ id, windowMs }: Limit): Window | undefined {
    const known = this.#windowsOf(windowMs).get(id);
    return known !== undefined && (windowMs === undefined || this.#now(windowMs) < known.endsAt) ? known : undefined;
  }

  #current(limit: Limit): Window {
    const known = this.#known(limit);
    if (known !== undefined) return known;
    const windows = this.#windowsOf(limit.windowMs);
    if (limit.windowMs === undefined) return this.#begin(windows, limit.id, HELD);
    const now = this.#now(limit.windowMs);
    this.#discardEnded(windows, now);
    return this.#begin(windows, limit.id, this.#nextWindow(limit.windowMs, now));
  }

  #nextWindow(windowMs: number, now: number): Omit<Window, 'taken'> {
    if (windowMs === DAY_MS) {
      return { number: Math.floor(now / DAY_MS), endsAt: now + untilMidnight(now) };
    }
    this.#lastNumber += 1;
    return { number: this.#lastNumber, endsAt: now + windowMs };
  }

  #begin(windows: Windows, id: string, window: Omit<Window, 'taken'>): Window {
    const begun = { ...window, taken: 0 };
    // Units that are held have to come back, so their counts stay.
    setNewest(windows, id, begun, window === HELD ? Infinity : this.#maxWindows);
    return begun;
  }

  /** The oldest windows are first, so this ends at the first one that is current. */
  #discardEnded(windows: Windows, now: number): void {
    for (const [id, { endsAt }] of windows) {
      if (now < endsAt) return;
      windows.delete(id);
    }
  }

  /** Units that are held have no window that ends: without any, the limit needs no memory. */
  #discardUnheld({ id, windowMs }: Limit, { taken }: Window): void {
    if (windowMs === undefined && taken === 0) this.#windowsOf(undefined).delete(id);
  }

  #windowsOf(windowMs: number | undefined): Windows {
    const known = this.#windows.get(windowMs);
    if (known !== undefined) return known;
    const windows: Windows = new Map();
    this.#windows.set(windowMs, windows);
    return windows;
  }

  #now(windowMs: number): number {
    return windowMs === DAY_MS ? this.#clock.utcMs() : this.#clock.elapsedMs();
  }
}

/** The one window of units that are held. */
const HELD = { number: 0, endsAt: Number.POSITIVE_INFINITY } as const;
