import type { Grant, Ledger, Limit } from './ledger.ts';

export interface LeaseRequest {
  readonly limit: Limit;
  /** The units that its waiting requests need. */
  readonly need: number;
  /** The units that it used in a second, lately. */
  readonly demand: number;
}

/** Units that a worker gives back, or a number below 0 that it used beyond what it took. */
export interface ReturnedUnits {
  readonly limit: Limit;
  readonly units: number;
  readonly window: number;
  readonly recall?: number | undefined;
}

/** A worker of this machine, as the desk knows it. */
export interface LeaseHolder {
  /** Asks it to give back what it does not use. It answers with `ReturnedUnits` that have this id, even if it gives nothing. */
  recall(limitId: string, recall: number): void;
}

/**
 * The most of a limit that unused leases can hold together, as a divisor: 0.5 %. Requests are refused only after a recall of the
 * leases of other workers, so this bounds what is lost when a worker dies, and the number of messages: 200 in each window.
 */
export const LEASES_OF_LIMIT = 200;

/** A worker answers within a millisecond, unless it is busy or hangs; the request that waits for it is refused otherwise. */
const RECALL_MS = 50;

/** The most limits of which the desk knows the holders; it forgets the ones that were not used for the longest time. */
const MAX_LIMITS = 100_000;

interface Holding {
  /** The units that a worker took and did not give back. With a window, it may have spent them. */
  units: number;
  /** True after a recall, until the worker takes units again: it has none to give back. */
  emptied: boolean;
}

interface Held {
  window: number;
  readonly holders: Map<LeaseHolder, Holding>;
  limit: Limit;
  /** The last request for units of this limit: the next one waits for it. */
  last: Promise<unknown>;
}

interface Recall {
  readonly limitId: string;
  readonly asked: Set<LeaseHolder>;
  readonly end: () => void;
}

/**
 * The primary's side of leases: takes units from the ledger for workers, recalls unused ones when the ledger has none left, and
 * gives back what a dead worker held.
 */
export class LeaseDesk {
  readonly #ledger: Ledger;
  /** By the id of the limit, in the order of last use. */
  readonly #held = new Map<string, Held>();
  readonly #recalls = new Map<number, Recall>();
  #lastRecall = 0;
  readonly #recallMs: number;

  constructor(ledger: Ledger, recallMs = RECALL_MS) {
    this.#ledger = ledger;
    this.#recallMs = recallMs;
  }

  /** Grants at least the units that are needed, or none. Rejects if the ledger does. Requests for one limit are answered in order. */
  take(worker: LeaseHolder, request: LeaseRequest): Promise<Grant> {
    const held = this.#heldOf(request.limit);
    const grant = held.last.then(() => this.#take(worker, held, request));
    held.last = grant.catch(ignore);
    return grant;
  }

  /** Takes nothing and returns the state of a limit, after the workers gave back what they do not use. Rejects if the ledger does. */
  async stateOf(limit: Limit): Promise<Grant> {
    const held = this.#held.get(limit.id);
    if (held !== undefined) await this.#recallFrom(held, undefined);
    return this.#ledger.take(limit, 0);
  }

  give(worker: LeaseHolder, { limit, units, window, recall }: ReturnedUnits): void {
    if (units < 0) this.#ledger.give(limit, units, window);
    const held = this.#held.get(limit.id);
    if (held !== undefined && units > 0) this.#giveBack(held, worker, { limit, units, window });
    if (recall !== undefined) this.#answered(recall, worker);
  }

  /** A worker ended. Units of a window stay taken, because it may have spent them. */
  lost(worker: LeaseHolder): void {
    for (const { holders, limit, window } of this.#held.values()) {
      const units = holders.get(worker)?.units ?? 0;
      if (units > 0 && limit.windowMs === undefined) this.#ledger.give(limit, units, window);
      holders.delete(worker);
    }
    for (const id of this.#recalls.keys()) this.#answered(id, worker);
  }

  async #take(worker: LeaseHolder, held: Held, { limit, need, demand }: LeaseRequest): Promise<Grant> {
    const share = Math.floor(limit.units / LEASES_OF_LIMIT / Math.max(1, held.holders.size));
    const units = Math.max(need, Math.min(Math.ceil(demand), share));
    const first = await this.#takeFor(worker, held, { limit, units, need });
    if (first.granted > 0 || !(await this.#recallFrom(held, worker))) return first;
    return this.#takeFor(worker, held, { limit, units: need, need });
  }

  async #takeFor(
    worker: LeaseHolder,
    held: Held,
    { limit, units, need }: Pick<LeaseRequest, 'limit' | 'need'> & { readonly units: number },
  ): Promise<Grant> {
    const grant = await this.#ledger.take(limit, units, need);
    if (held.window !== grant.window) held.holders.clear();
    held.window = grant.window;
    held.limit = limit;
    if (grant.granted > 0) {
      const before = held.holders.get(worker)?.units ?? 0;
      held.holders.set(worker, { units: before + grant.granted, emptied: false });
    }
    return grant;
  }

  /** Asks every worker but this one for its unused units. Resolves with false if there is none to ask. */
  async #recallFrom(held: Held, worker: LeaseHolder | undefined): Promise<boolean> {
    const others: LeaseHolder[] = [];
    for (const [other, { emptied }] of held.holders) if (other !== worker && !emptied) others.push(other);
    if (others.length === 0) return false;
    this.#lastRecall += 1;
    const id = this.#lastRecall;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#endRecall(id), this.#recallMs);
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#recalls.set(id, { limitId: held.limit.id, asked: new Set(others), end });
      for (const other of others) other.recall(held.limit.id, id);
    });
    return true;
  }

  #answered(id: number, worker: LeaseHolder): void {
    const recall = this.#recalls.get(id);
    if (recall?.asked.delete(worker) !== true) return;
    const holding = this.#held.get(recall.limitId)?.holders.get(worker);
    if (holding !== undefined) holding.emptied = true;
    if (recall.asked.size === 0) this.#endRecall(id);
  }

  #endRecall(id: number): void {
    this.#recalls.get(id)?.end();
    this.#recalls.delete(id);
  }

  /** A worker can only give back what it took from this desk: while the primary did not answer, it used units of its own. */
  #giveBack(held: Held, worker: LeaseHolder, { limit, units, window }: Omit<ReturnedUnits, 'recall'>): void {
    const holding = held.holders.get(worker);
    if (holding === undefined || held.window !== window) return;
    const returned = Math.min(units, holding.units);
    holding.units -= returned;
    if (holding.units === 0) held.holders.delete(worker);
    this.#ledger.give(limit, returned, window);
  }

  #heldOf(limit: Limit): Held {
    const known = this.#held.get(limit.id);
    const held = known ?? { window: 0, holders: new Map(), limit, last: Promise.resolve() };
    this.#held.delete(limit.id);
    this.#held.set(limit.id, held);
    if (this.#held.size > MAX_LIMITS) this.#forgetOldest();
    return held;
  }

  /** A limit without a window is forgotten only when no one holds its units. */
  #forgetOldest(): void {
    for (const [id, { limit, holders }] of this.#held) {
      if (limit.windowMs === undefined && holders.size > 0) continue;
      this.#held.delete(id);
      return;
    }
  }
}

function ignore(): void {}
