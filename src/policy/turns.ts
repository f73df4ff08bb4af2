import type { Store } from './store/store.ts';

/** Numbers the turns of round-robin clients: 0, 1, 2, … for each client. */
export interface Turns {
  next(client: string): number | Promise<number>;
}

/** Turns of one machine, over all its workers. */
export class MachineTurns implements Turns {
  readonly #turns = new Map<string, number>();

  next(client: string): number {
    const turn = this.#turns.get(client) ?? 0;
    this.#turns.set(client, turn + 1);
    return turn;
  }
}

/** A lease that lasts for less than this was too small: the next one is twice as large. */
const LEASE_MS = 1_000;

/** One operation of the store for this many turns is cheap enough. */
const LARGEST_LEASE = 256;

/** A counter that no machine used for this long is forgotten: turns begin at 0 again. */
const COUNTER_LIFETIME_MS = 86_400_000;

/** Turns that this machine took from the store and not used yet. */
interface TurnLease {
  next: number;
  end: number;
  size: number;
  takenAt: number;
  /** The operation that takes the next turns. All callers that need a turn wait for it. */
  taking: Promise<void> | undefined;
}

/**
 * Turns over all machines. Each machine takes several at once if it uses them fast, so the order among machines is only
 * approximate. Without the store, the machine counts on from its last turn.
 */
export class StoreTurns implements Turns {
  readonly #store: Store;
  readonly #leases = new Map<string, TurnLease>();

  constructor(store: Store) {
    this.#store = store;
  }

  async next(client: string): Promise<number> {
    let lease = this.#leases.get(client);
    if (lease === undefined) {
      lease = { next: 0, end: 0, size: 1, takenAt: -Infinity, taking: undefined };
      this.#leases.set(client, lease);
    }
    if (lease.next >= lease.end) await (lease.taking ??= this.#take(client, lease));
    // More callers than turns: the others count from there.
    const turn = lease.next;
    lease.next += 1;
    return turn;
  }

  async #take(client: string, lease: TurnLease): Promise<void> {
    const now = performance.now();
    lease.size = now - lease.takenAt < LEASE_MS ? Math.min(LARGEST_LEASE, lease.size * 2) : 1;
    lease.takenAt = now;
    const end = await this.#store.run('turns', [this.#store.key('turns', client)], [lease.size, COUNTER_LIFETIME_MS]);
    if (typeof end === 'number') {
      lease.end = end;
      lease.next = end - lease.size;
    }
    lease.taking = undefined;
  }
}
