import { BoundedCache } from '../base/bounded-cache.ts';
import type { CallerLimits } from '../config/key-file.ts';
import { NO_WINDOW, type Leases } from './leases.ts';
import { limitSetOf, UNITS_OF_A_DOLLAR, type LimitName, type LimitSet, type NamedLimit } from './limit-set.ts';

/** What a call uses, or will probably use. An estimate has both; of a call that ended, a part can be unknown. */
export interface Usage {
  readonly tokens: number | undefined;
  /** US dollars. */
  readonly cost: number | undefined;
}

/** The units that a call holds until it ends. */
export class Reservation {
  readonly set: LimitSet;
  readonly estimate: Usage;
  /** The window of each limit of the set, in its order. */
  readonly windows: number[] = [];

  constructor(set: LimitSet, estimate: Usage) {
    this.set = set;
    this.estimate = estimate;
  }
}

/** The limit that a caller has reached. */
export interface LimitReached {
  readonly name: LimitName;
  readonly retryAfterSeconds: number;
}

/** A key of the key file. */
export interface LimitedKey {
  readonly name: string;
  readonly limits: CallerLimits | undefined;
}

const NO_LIMITS: LimitSet = { limits: [], policy: ['ratelimit-policy', ''] };

/** Callers without a key, by address. Each takes about 1 KB. */
const ADDRESSES = { entries: 10_000, characters: 10_000 } as const;

/** Reserves the units of calls, and settles them when the calls end. */
export class Limiter {
  readonly leases: Leases;
  readonly estimates = new Estimates();
  /** The limits of each address, on a server without keys. */
  #addressLimits: CallerLimits | undefined;
  readonly #keys = new WeakMap<LimitedKey, LimitSet>();
  #addresses = new BoundedCache<LimitSet>(ADDRESSES);

  constructor(leases: Leases, addressLimits: CallerLimits | undefined) {
    this.leases = leases;
    this.#addressLimits = addressLimits;
  }

  /** Uses other limits for addresses from now on. */
  replace(addressLimits: CallerLimits | undefined): void {
    this.#addressLimits = addressLimits;
    this.#addresses = new BoundedCache(ADDRESSES);
  }

  /** Remembers the limits of each object, so pass the same one for each request of a key. */
  setOfKey(caller: LimitedKey): LimitSet | undefined {
    let set = this.#keys.get(caller);
    if (set === undefined) {
      set = limitSetOf(`key:${caller.name}`, caller.limits) ?? NO_LIMITS;
      this.#keys.set(caller, set);
    }
    return set === NO_LIMITS ? undefined : set;
  }

  /** `network` is called only if addresses have limits. */
  setOfAddress(network: () => string): LimitSet | undefined {
    if (this.#addressLimits === undefined) return undefined;
    const address = network();
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const set = limitSetOf(`address:${address}`, this.#addressLimits);
    if (set !== undefined) this.#addresses.set(address, set, 1);
    return set;
  }

  /** Takes the units of a call, all or none. Returns at once unless this worker has to ask for more units. */
  reserve(set: LimitSet, estimate: Usage): Reservation | LimitReached | Promise<Reservation | LimitReached> {
    return this.#reserve(new Reservation(set, estimate));
  }

  /** `used`: undefined if the call never reached a model. Keeps the estimate of what is unknown. */
  settle({ set, estimate, windows }: Reservation, used: Usage | undefined): void {
    const now = this.leases.now();
    for (let index = 0; index < windows.length; index += 1) {
      const named = set.limits[index];
      if (named === undefined || named.name === 'requests_per_minute') continue;
      const { name, limit } = named;
      const reserved = unitsOf(named, estimate);
      const known = name === 'in_flight' || used === undefined ? 0 : exactUnits(name, used);
      const units = known ?? reserved;
      if (units < reserved) this.leases.release(limit, reserved - units, windows[index] ?? NO_WINDOW, now);
      else if (units > reserved) this.leases.charge(limit, units - reserved, now);
    }
  }

  /** The value of the header `ratelimit`, as far as this worker knows. */
  state({ limits }: LimitSet): string {
    const now = this.leases.now();
    let text = '';
    for (const { headerStart, limit, unitsInHeader } of limits) {
      const { remaining, resetMs } = this.leases.stateOf(limit, now);
      text += `${headerStart}${Math.floor(remaining / unitsInHeader)}`;
      if (limit.windowMs !== undefined) text += `;t=${Math.ceil(resetMs / 1000)}`;
    }
    return text;
  }

  #reserve(call: Reservation): Reservation | LimitReached | Promise<Reservation | LimitReached> {
    const { estimate, windows } = call;
    const { limits } = call.set;
    const now = this.leases.now();
    for (let named = limits[windows.length]; named !== undefined; named = limits[windows.length]) {
      const window = this.leases.spend(named.limit, unitsOf(named, estimate), now);
      if (typeof window !== 'number') return this.#continue(call, window);
      if (window === NO_WINDOW) return this.#refuse(call, named);
      windows.push(window);
    }
    return call;
  }

  async #continue(call: Reservation, asked: Promise<number>): Promise<Reservation | LimitReached> {
    const window = await asked;
    const named = call.set.limits[call.windows.length];
    if (window === NO_WINDOW && named !== undefined) return this.#refuse(call, named);
    call.windows.push(window);
    return this.#reserve(call);
  }

  /** Gives back the units of the limits before the one that is reached. */
  #refuse({ set, estimate, windows }: Reservation, at: NamedLimit): LimitReached {
    for (const [index, window] of windows.entries()) {
      const named = set.limits[index];
      if (named !== undefined) this.leases.release(named.limit, unitsOf(named, estimate), window);
    }
    const { resetMs } = this.leases.stateOf(at.limit);
    // A call in flight can end at any time.
    const waitMs = at.limit.windowMs === undefined ? 1_000 : resetMs;
    return { name: at.name, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
  }
}

/** The units to reserve: no more than the limit, because a larger call could never run. */
function unitsOf({ name, limit }: NamedLimit, estimate: Usage): number {
  if (name === 'requests_per_minute' || name === 'in_flight') return 1;
  return Math.min(limit.units, Math.max(1, exactUnits(name, estimate) ?? 1));
}

function exactUnits(name: LimitName, { tokens, cost }: Usage): number | undefined {
  if (name === 'tokens_per_minute') return tokens === undefined ? undefined : Math.ceil(tokens);
  return cost === undefined ? undefined : Math.ceil(cost * UNITS_OF_A_DOLLAR);
}

/** The weight of the newest call in the averages: about the last twenty calls count. */
const NEWEST = 0.1;

/** A token has about four characters in English, and the bodies of callers are mostly text. */
const CHARACTERS_OF_A_TOKEN = 4;

/** Estimates what a call will use, from the size of its arguments and from earlier calls of its function. */
export class Estimates {
  readonly #averages = new Map<string, { tokens: number; cost: number }>();

  /** `characters`: the length of the request body. */
  of(functionName: string, characters: number): { readonly tokens: number; readonly cost: number } {
    const { tokens, cost } = this.#averages.get(functionName) ?? NOTHING;
    return { tokens: Math.max(1, Math.ceil(characters / CHARACTERS_OF_A_TOKEN + tokens)), cost };
  }

  /** The average is of the tokens that the arguments do not explain: the text of the prompt, and the reply. */
  learn(functionName: string, characters: number, { tokens, cost }: Usage): void {
    const known = this.#averages.get(functionName);
    const average = known ?? { tokens: 0, cost: 0 };
    const weight = known === undefined ? 1 : NEWEST;
    if (tokens !== undefined) average.tokens += weight * (tokens - characters / CHARACTERS_OF_A_TOKEN - average.tokens);
    if (cost !== undefined) average.cost += weight * (cost - average.cost);
    this.#averages.set(functionName, average);
  }
}

const NOTHING = { tokens: 0, cost: 0 } as const;
