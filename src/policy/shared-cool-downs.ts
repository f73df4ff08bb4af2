import type { Logger } from '../logging/logger.ts';
import type { CoolDownChange, CoolDownReason } from './cool-downs.ts';
import type { Store } from './store/store.ts';

/**
 * A cool-down whose time is over ends if no attempt has decided for this long: strategies do not need the client, for example because
 * the members before it answer.
 */
const UNUSED_MS = 60_000;

/** The longest time for which an attempt that decides keeps a cool-down from its end: the default time limit of an attempt. */
const DECIDING_MS = 600_000;

type Begin = Extract<CoolDownChange, { readonly type: 'begin' }>;

interface Cooling {
  readonly begin: Begin;
  readonly since: number;
  readonly until: number;
  /** When the cool-down ends if nothing decides. */
  readonly unusedAt: number;
}

/** A client that cools down. */
export interface CoolingClient {
  readonly client: string;
  readonly reason: CoolDownReason;
  /** The time left, in milliseconds; negative while an attempt decides. */
  readonly leftMs: number;
}

interface SharedCoolDownParts {
  readonly logger: Logger;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
  /** Called when a client begins to cool down; `reason` is undefined when it stops. */
  readonly counted: (client: string, reason: CoolDownReason | undefined) => void;
  /** Sends a change to all workers except the one that decided it. */
  readonly send: (change: CoolDownChange, from?: object) => void;
}

/** The cool-downs of all workers of a machine, in the primary. It logs each begin and each end once. */
export class SharedCoolDowns {
  readonly #parts: Required<SharedCoolDownParts>;
  readonly #cooling = new Map<string, Cooling>();

  constructor(parts: SharedCoolDownParts) {
    this.#parts = { now: () => performance.now(), ...parts };
  }

  /** Takes a change that the worker `from` decided. */
  take(change: CoolDownChange, from: object): void {
    if (change.type === 'decide') {
      this.#decide(change.client);
      return;
    }
    if (change.type === 'begin') this.#begin(change);
    else this.#end(change.client);
    this.#parts.send(change, from);
  }

  /** Ends the cool-downs that nothing decides. To be called about once a second. */
  endUnused(): void {
    const now = this.#parts.now();
    for (const [client, { unusedAt }] of this.#cooling) {
      if (now < unusedAt) continue;
      this.#end(client);
      this.#parts.send({ type: 'end', client });
    }
  }

  /** The changes that a new worker has to apply. */
  get changes(): readonly CoolDownChange[] {
    const now = this.#parts.now();
    return [...this.#cooling.values()].map(({ begin, until }) => ({ ...begin, forMs: Math.max(0, until - now) }));
  }

  get list(): readonly CoolingClient[] {
    const now = this.#parts.now();
    return [...this.#cooling.values()].map(({ begin: { client, reason }, until }) => {
      return { client, reason, leftMs: until - now };
    });
  }

  #begin(begin: Begin): void {
    const { client, forMs, reason } = begin;
    const now = this.#parts.now();
    const known = this.#cooling.get(client);
    const until = now + forMs;
    this.#cooling.set(client, { begin, since: known?.since ?? now, until, unusedAt: until + UNUSED_MS });
    if (known !== undefined) return;
    this.#parts.counted(client, reason);
    this.#parts.logger.warn({ client, reason, forMs }, 'a client cools down: strategies ask their other members first');
  }

  #decide(client: string): void {
    const known = this.#cooling.get(client);
    if (known !== undefined) this.#cooling.set(client, { ...known, unusedAt: this.#parts.now() + DECIDING_MS });
  }

  #end(client: string): void {
    const known = this.#cooling.get(client);
    if (known === undefined) return;
    this.#cooling.delete(client);
    this.#parts.counted(client, undefined);
    const ms = Math.round(this.#parts.now() - known.since);
    this.#parts.logger.info({ client, ms }, 'the cool-down of a client is over');
  }
}

/** A change that a machine reports to the others. */
type SharedChange = Exclude<CoolDownChange, { readonly type: 'decide' }>;

/**
 * Cool-downs of other machines. Each answer to the beat contains all cool-downs in the store, so a change reaches the other machines
 * within about a second, and a machine that starts learns them at once.
 */
export class StoreCoolDowns {
  readonly #store: Store;
  readonly #listeners: Array<(change: SharedChange) => void> = [];
  /** The cool-downs in the last answer, by client: the value is that of the store. */
  #known: ReadonlyMap<string, string> = new Map();

  constructor(store: Store) {
    this.#store = store;
    store.onBeat((reply) => this.#compare(reply));
    // A store that restarted has forgotten the cool-downs, which does not end them.
    store.onChange(({ state }) => {
      if (state !== 'up') this.#known = new Map();
    });
  }

  /** Calls `listener` with each change that another machine decided. */
  onChange(listener: (change: SharedChange) => void): void {
    this.#listeners.push(listener);
  }

  /** Reports a change that a worker of this machine decided. */
  report(change: CoolDownChange): void {
    if (change.type === 'decide') return;
    const { client } = change;
    const begin = change.type === 'begin' ? [change.forMs, change.reason] : [0, ''];
    void this.#store.run('cool', [this.#store.coolingKey], [client, this.#store.machine, ...begin, UNUSED_MS]);
  }

  #compare(reply: readonly unknown[]): void {
    const known = new Map<string, string>();
    for (let index = 0; index + 2 < reply.length; index += 3) {
      const [client, value, left] = reply.slice(index, index + 3);
      if (typeof client !== 'string' || typeof value !== 'string') continue;
      known.set(client, value);
      if (this.#known.get(client) !== value) this.#began(client, value, Number(left));
    }
    for (const client of this.#known.keys()) if (!known.has(client)) this.#notify({ type: 'end', client });
    this.#known = known;
  }

  /** `value`: until when, the reason and the machine. */
  #began(client: string, value: string, forMs: number): void {
    const [, reason, machine] = value.split(' ');
    if (machine === this.#store.machine || !(forMs > 0)) return;
    if (reason !== 'failures' && reason !== 'retry_after') return;
    this.#notify({ type: 'begin', client, forMs, reason });
  }

  #notify(change: SharedChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
