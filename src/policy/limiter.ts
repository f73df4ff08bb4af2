import { LRUCache } from 'lru-cache';
import type { CallerLimits } from '../config/key-file.ts';
import { NO_WINDOW, type Leases } from './leases.ts';
import { DAY_MS, type Limit } from './ledger.ts';

/** What a call uses, or will probably use. A reservation has both; of a call that ended, a part can be unknown. */
export interface Usage {
  readonly tokens: number | undefined;
  /** US dollars. */
  readonly cost: number | undefined;
  /** The provider did not report all of it: the call can have used more. */
  readonly isEstimate?: boolean;
}

/** What the limiter has to know about a call. */
export interface LimitedCall {
  /** Only the names of functions and clients that exist, because the limiter keeps an entry for each pair. */
  readonly functionName: string;
  /** The client of the definitions that the call asks; the function's own if the request decides. */
  readonly client?: string;
  /** The request brings clients or variables, whose usage says nothing about other calls. */
  readonly decidesUpstream?: boolean;
}

/** The units of a call: `take` reserves an estimate, and `settle` replaces it with what the call used. */
export class Reservation implements Usage {
  readonly set: LimitSet;
  /** The averages of the caller's earlier calls of the same function and client. */
  readonly earlier: EarlierCalls;
  /** Later calls are estimated from this one too. */
  readonly teaches: boolean;
  /** The estimate for its arguments. */
  readonly argumentTokens: number;
  readonly tokens: number;
  readonly cost: number;
  /** The windows of the units that the call holds, in the order of the limits. A list that grows would take more memory. */
  readonly windows: number[] = [NO_WINDOW, NO_WINDOW, NO_WINDOW, NO_WINDOW];
  /** The call holds units of the first `held` limits of the set. */
  held = 0;
  ended = false;

  constructor({
    set,
    earlier,
    teaches,
    argumentTokens,
  }: Pick<Reservation, 'set' | 'earlier' | 'teaches' | 'argumentTokens'>) {
    this.set = set;
    this.earlier = earlier;
    this.teaches = teaches;
    this.argumentTokens = argumentTokens;
    this.tokens = earlier.tokensOf(argumentTokens);
    this.cost = earlier.cost;
  }

  hold(window: number): void {
    this.windows[this.held] = window;
    this.held += 1;
  }
}

export interface LimitReached {
  readonly name: LimitName;
  readonly retryAfterSeconds: number;
}

export interface LimitedKey {
  readonly name: string;
  readonly limits: CallerLimits | undefined;
}

const NO_LIMITS: LimitSet = { caller: '', limits: [], policy: ['ratelimit-policy', ''] };

/** Callers without a key, by address. Each takes about 1 KB. */
const ADDRESSES = 10_000;

/** The most averages, each of a caller, a function and a client. Each takes about 200 bytes. */
const AVERAGES = 50_000;

/** Reserves the units of calls, and settles them when the calls end. */
export class Limiter {
  readonly leases: Leases;
  /** By caller, function and client: no caller changes the estimates of another one. A reload of the keys keeps them. */
  readonly #earlier = new LRUCache<string, EarlierCalls>({ max: AVERAGES });
  /** The limits of each address, on a server without keys. */
  #addressLimits: CallerLimits | undefined;
  readonly #keys = new WeakMap<LimitedKey, LimitSet>();
  #addresses: LRUCache<string, LimitSet> | undefined;

  constructor(leases: Leases, addressLimits: CallerLimits | undefined) {
    this.leases = leases;
    this.#addressLimits = addressLimits;
  }

  replace(addressLimits: CallerLimits | undefined): void {
    this.#addressLimits = addressLimits;
    this.#addresses = undefined;
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
    this.#addresses ??= new LRUCache({ max: ADDRESSES });
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const set = limitSetOf(`address:${address}`, this.#addressLimits);
    if (set !== undefined) this.#addresses.set(address, set);
    return set;
  }

  /** A reservation that holds nothing yet. `argumentTokens`: the estimate for its arguments. */
  reservation(set: LimitSet, call: LimitedCall, argumentTokens: number): Reservation {
    const { functionName, client = '', decidesUpstream } = call;
    const id = `${set.caller} ${functionName} ${client}`;
    let earlier = this.#earlier.get(id);
    if (earlier === undefined) this.#earlier.set(id, (earlier = new EarlierCalls()));
    return new Reservation({ set, earlier, teaches: decidesUpstream !== true, argumentTokens });
  }

  /**
   * Takes the units of a call, all or none. Returns the limit that the caller has reached, or undefined. Returns a promise only if this
   * worker has to ask for more units. If the call ends during that wait, `take` gives back the units that arrive and takes no more.
   */
  take(call: Reservation): LimitReached | undefined | Promise<LimitReached | undefined> {
    const { limits } = call.set;
    const now = this.leases.now();
    for (let named = limits[call.held]; named !== undefined; named = limits[call.held]) {
      const window = this.leases.spend(named.limit, unitsOf(named, call), now);
      if (typeof window !== 'number') return this.#continue(call, named, window);
      if (window === NO_WINDOW) return this.#refuse(call, named);
      call.hold(window);
    }
    return undefined;
  }

  /**
   * `used`: undefined if the call never reached a model. Keeps what is reserved if the usage is unknown, and as the least if it is an
   * estimate. Updates the averages.
   */
  settle(call: Reservation, used: Usage | undefined): void {
    const { held, set, windows } = call;
    const now = this.leases.now();
    call.ended = true;
    call.held = 0;
    for (let index = 0; index < held; index += 1) {
      const named = set.limits[index];
      if (named === undefined || named.unit === 'requests') continue;
      const { limit, unit } = named;
      const reserved = unitsOf(named, call);
      const isOver = used === undefined || unit === 'concurrent-requests';
      const known = isOver ? 0 : exactUnits(unit, used);
      const units =
        known === undefined || (!isOver && used.isEstimate === true) ? Math.max(reserved, known ?? 0) : known;
      if (units < reserved) this.leases.release(limit, reserved - units, windows[index] ?? NO_WINDOW, now);
      else if (units > reserved) this.leases.charge(limit, units - reserved, now);
    }
    if (used !== undefined && used.isEstimate !== true && call.teaches) call.earlier.learn(call.argumentTokens, used);
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

  async #continue(call: Reservation, at: NamedLimit, asked: Promise<number>): Promise<LimitReached | undefined> {
    const window = await asked;
    if (window === NO_WINDOW) return this.#refuse(call, at);
    if (call.ended) {
      this.leases.release(at.limit, unitsOf(at, call), window);
      return undefined;
    }
    call.hold(window);
    return this.take(call);
  }

  /** Gives back the units of the limits before the one that is reached. */
  #refuse(call: Reservation, at: NamedLimit): LimitReached {
    const { held, set, windows } = call;
    call.held = 0;
    for (let index = 0; index < held; index += 1) {
      const named = set.limits[index];
      if (named !== undefined) this.leases.release(named.limit, unitsOf(named, call), windows[index] ?? NO_WINDOW);
    }
    const { resetMs } = this.leases.stateOf(at.limit);
    // A call in flight can end at any time.
    const waitMs = at.limit.windowMs === undefined ? 1_000 : resetMs;
    return { name: at.name, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
  }
}

/** The units to reserve: no more than the limit, because a larger call could never run. */
function unitsOf({ limit, unit }: NamedLimit, estimate: Usage): number {
  if (unit === 'requests' || unit === 'concurrent-requests') return 1;
  return Math.min(limit.units, Math.max(1, exactUnits(unit, estimate) ?? 1));
}

function exactUnits(unit: LimitUnit, { tokens, cost }: Usage): number | undefined {
  const units = unit === 'tokens' ? tokens : cost === undefined ? undefined : cost * UNITS_OF_A_DOLLAR;
  return units === undefined ? undefined : Math.min(Math.ceil(units), Number.MAX_SAFE_INTEGER);
}

/** The weight of the newest call in the averages once there are ten: about the last twenty calls count. */
const NEWEST = 0.1;

/** One call counts in an average as at most this multiple of it, so that no single call makes the next ones reserve a whole limit. */
const HIGHEST_LESSON = 4;

/** What a call counts for at most while the average is small. */
const FIRST_LESSON = { tokens: 10_000, cost: 1 };

/** The average usage of a caller's calls of one function and client, from which the next call is estimated. */
export class EarlierCalls {
  /**
   * The average number of tokens that the arguments do not explain: those of the prompt's own text and of the reply. Never negative:
   * calls with large arguments that cost little must not let later ones through.
   */
  #tokens = 0;
  /** The average cost in US dollars. */
  cost = 0;
  #calls = 0;

  tokensOf(argumentTokens: number): number {
    return Math.max(1, Math.ceil(argumentTokens + this.#tokens));
  }

  learn(argumentTokens: number, { tokens, cost }: Usage): void {
    if (tokens === undefined && cost === undefined) return;
    this.#calls += 1;
    const weight = Math.max(NEWEST, 1 / this.#calls);
    const next = (average: number, lesson: number, first: number): number =>
      average + weight * (Math.min(lesson, Math.max(first, HIGHEST_LESSON * average)) - average);
    if (tokens !== undefined)
      this.#tokens = next(this.#tokens, Math.max(0, tokens - argumentTokens), FIRST_LESSON.tokens);
    if (cost !== undefined) this.cost = next(this.cost, cost, FIRST_LESSON.cost);
  }
}

/** The limits of a caller, as in the key file and in answers. */
export type LimitName = 'requests_per_minute' | 'tokens_per_minute' | 'in_flight' | 'cost_per_day';

/** What a limit counts. The draft defines `requests` and `concurrent-requests`. */
export type LimitUnit = 'requests' | 'tokens' | 'concurrent-requests' | 'micro-usd';

export interface NamedLimit {
  readonly name: LimitName;
  readonly limit: Limit;
  readonly unit: LimitUnit;
  /** The part of the header `ratelimit` before the number that remains. */
  readonly headerStart: string;
  /** The number of units that are one in the header. */
  readonly unitsInHeader: number;
}

export interface LimitSet {
  /** The unique name of the caller, such as `key:team-a`. */
  readonly caller: string;
  readonly limits: readonly NamedLimit[];
  /** The header that states the limits (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly policy: readonly ['ratelimit-policy', string];
}

/** Ledgers count whole numbers, and a small call costs less than a millionth of a dollar. */
const UNITS_OF_A_DOLLAR = 1e9;

const MINUTE_MS = 60_000;

/** Headers state costs in millionths of a dollar. */
const COST_UNITS_IN_HEADER = 1_000;

/** Returns undefined if the caller has no limits. `caller` is its unique name, such as `key:team-a`. */
export function limitSetOf(caller: string, given: CallerLimits | undefined): LimitSet | undefined {
  if (given === undefined) return undefined;
  const limits: NamedLimit[] = [];
  const policies: string[] = [];
  const add = (name: LimitName, units: number | undefined, kind: LimitKind): void => {
    if (units === undefined) return;
    const { windowMs, unitsInHeader = 1, unit } = kind;
    const headerStart = `${limits.length === 0 ? '' : ', '}"${name}";r=`;
    limits.push({ name, limit: { id: `${caller} ${name}`, units, windowMs }, unit, headerStart, unitsInHeader });
    const window = windowMs === undefined ? '' : `;w=${windowMs / 1000}`;
    policies.push(`"${name}";q=${Math.floor(units / unitsInHeader)};qu="${unit}"${window}`);
  };
  add('requests_per_minute', given.requestsPerMinute, { windowMs: MINUTE_MS, unit: 'requests' });
  add('tokens_per_minute', given.tokensPerMinute, { windowMs: MINUTE_MS, unit: 'tokens' });
  add('in_flight', given.inFlight, { windowMs: undefined, unit: 'concurrent-requests' });
  const cost =
    given.costPerDay === undefined
      ? undefined
      : Math.min(Number.MAX_SAFE_INTEGER, Math.max(1, Math.round(given.costPerDay * UNITS_OF_A_DOLLAR)));
  add('cost_per_day', cost, { windowMs: DAY_MS, unit: 'micro-usd', unitsInHeader: COST_UNITS_IN_HEADER });
  return limits.length === 0 ? undefined : { caller, limits, policy: ['ratelimit-policy', policies.join(', ')] };
}

interface LimitKind {
  readonly windowMs: number | undefined;
  readonly unit: LimitUnit;
  readonly unitsInHeader?: number;
}
