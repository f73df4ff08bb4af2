import type { CoolDownChange } from '../cool-downs.ts';
import { UNUSED_MS } from '../shared-cool-downs.ts';
import type { Store } from './store.ts';

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
