import { randomUUID } from 'node:crypto';
import type { Logger } from '../../logging/logger.ts';
import type { StoreOperation } from './scripts.ts';
import { codeOf } from '../../base/invariant.ts';

/**
 * `up`: svc uses the store. `slow`: it does not answer within the budget. `full`: it refuses to store more. `down`: there is no
 * connection, or the store refuses every operation. svc uses the store only while it is up.
 */
export type StoreState = 'up' | 'slow' | 'down' | 'full';

export interface StoreHealth {
  readonly state: StoreState;
  /** A code such as ECONNREFUSED; absent while the store is up. */
  readonly reason?: string;
  /** The machines that use the store, this one included, as of the last answer. */
  readonly machines: number;
}

/** Why an operation got no answer from the store. `unavailable`: the store was not up, so svc did not ask it. */
export type StoreFailure = 'timeout' | 'refused' | 'unavailable';

/** Counts operations. `seconds` is absent if svc did not ask the store. */
export type StoreObserver = (operation: StoreOperation, seconds?: number, failure?: StoreFailure) => void;

export interface StoreOptions {
  readonly prefix: string;
  readonly logger: Logger;
  readonly observe: StoreObserver;
}

/** The time for one operation: a call that waits for a few of them is still fast compared with a model. */
export const BUDGET_MS = 50;

/** One late answer can be an accident, such as a backup that starts. After this many in a row, svc stops asking. */
const TIMEOUTS_UNTIL_SLOW = 3;

/** Each machine announces itself this often, and more often while the store is not up, which is how svc notices its return. */
const BEAT_MS = 1_000;
const PROBE_MS = 250;

/** A machine that was silent for this long is gone. */
const MACHINE_LIFETIME_MS = 10_000;

/** Operations under way: more mean that the store does not keep up. */
const MOST_OPERATIONS = 1_000;

/** Answers with which a store refuses every operation or every write, and the state that they mean. */
const REFUSALS: ReadonlyMap<string, StoreState> = new Map([
  ['OOM', 'full'],
  ['MISCONF', 'full'],
  ['READONLY', 'down'],
  ['LOADING', 'down'],
  ['MASTERDOWN', 'down'],
  ['CLUSTERDOWN', 'down'],
  ['NOREPLICAS', 'down'],
  ['BUSY', 'slow'],
  ['NOAUTH', 'down'],
  ['WRONGPASS', 'down'],
  ['NOPERM', 'down'],
]);

/**
 * The store, with a time budget for each operation and a state that decides whether svc asks it at all. No method throws or
 * rejects. While the store is not up, only the beat reaches it: its answer within the budget brings the store back.
 */
export class Store {
  readonly #client: StoreClient;
  readonly #options: StoreOptions;
  /** Names this machine in the store. */
  readonly machine = randomUUID();
  readonly #listeners: Array<(health: StoreHealth) => void> = [];
  readonly #beatListeners: Array<(reply: readonly unknown[]) => void> = [];
  #health: StoreHealth = { state: 'down', reason: 'connecting', machines: 1 };
  #timeouts = 0;
  #underWay = 0;
  #beating = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(client: StoreClient, options: StoreOptions) {
    this.#client = client;
    this.#options = options;
    client.onChange((error) => this.#connectionChanged(error));
    this.#schedule();
  }

  get health(): StoreHealth {
    return this.#health;
  }

  get up(): boolean {
    return this.#health.state === 'up';
  }

  /** Calls `listener` with each answer to the beat, without the number of machines. */
  onBeat(listener: (reply: readonly unknown[]) => void): void {
    this.#beatListeners.push(listener);
  }

  /** Calls `listener` at each change of the state or its reason. */
  onChange(listener: (health: StoreHealth) => void): void {
    this.#listeners.push(listener);
  }

  /** The key of some data. Keys with the same `tag` are on the same node of a cluster. */
  key(kind: string, tag: string): string {
    return `${this.#options.prefix}:${kind}:{${tag}}`;
  }

  /** The answer of the store to an operation; undefined if there is none within the budget. */
  async run(
    operation: StoreOperation,
    keys: readonly string[],
    args: ReadonlyArray<string | number>,
  ): Promise<unknown> {
    if (this.up && this.#client.ready && this.#underWay < MOST_OPERATIONS) return this.#ask(operation, keys, args);
    this.#options.observe(operation, undefined, 'unavailable');
    return undefined;
  }

  /** Removes this machine from the store, and closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.up) await this.#ask('leave', [this.#machines], [this.machine]);
    this.#client.close();
  }

  get #machines(): string {
    return this.key('machines', 'all');
  }

  /** The key of the clients that cool down: on the same node of a cluster as the machines, because the beat reads both. */
  get coolingKey(): string {
    return this.key('cooling', 'all');
  }

  async #ask(
    operation: StoreOperation,
    keys: readonly string[],
    args: ReadonlyArray<string | number>,
  ): Promise<unknown> {
    const started = performance.now();
    this.#underWay += 1;
    const outcome = await this.#inBudget(this.#client.run(operation, keys, args));
    this.#underWay -= 1;
    const seconds = (performance.now() - started) / 1000;
    if (outcome === 'timeout') this.#late();
    else if ('error' in outcome) this.#refused(operation, outcome.error);
    else {
      this.#timeouts = 0;
      this.#options.observe(operation, seconds);
      return outcome.answer;
    }
    this.#options.observe(operation, seconds, outcome === 'timeout' ? 'timeout' : 'refused');
    return undefined;
  }

  #inBudget(running: Promise<unknown>): Promise<Outcome> {
    return new Promise((resolve) => {
      // Timers run before sockets are read: after a pause of this process, an answer can be there already.
      const timer = setTimeout(() => setImmediate(resolve, 'timeout'), BUDGET_MS);
      running
        .then(
          (answer) => resolve({ answer }),
          (error: unknown) => resolve({ error }),
        )
        .finally(() => clearTimeout(timer));
    });
  }

  #late(): void {
    this.#timeouts += 1;
    if (this.#timeouts >= TIMEOUTS_UNTIL_SLOW && this.#client.ready) this.#became('slow', `${BUDGET_MS}ms`);
  }

  /** A node of a cluster can be away while the others work, so a failure alone means nothing, except that of the beat. */
  #refused(operation: StoreOperation, error: unknown): void {
    const code = errorCode(error);
    const state = REFUSALS.get(code);
    if (state !== undefined) this.#became(state, code);
    else if (!this.#client.ready || operation === 'beat') this.#became('down', code);
    else this.#options.logger.debug({ code }, 'the store refused an operation');
  }

  #connectionChanged(error: unknown): void {
    if (this.#closed) return;
    if (error === undefined) void this.#beat();
    else this.#became('down', errorCode(error));
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#beat(), this.up && this.#timeouts === 0 ? BEAT_MS : PROBE_MS).unref();
  }

  async #beat(): Promise<void> {
    if (this.#beating || this.#closed) return;
    this.#beating = true;
    clearTimeout(this.#timer);
    if (this.#client.ready) await this.#announce();
    this.#beating = false;
    this.#schedule();
  }

  async #announce(): Promise<void> {
    const reply = await this.#ask('beat', [this.#machines, this.coolingKey], [this.machine, MACHINE_LIFETIME_MS]);
    if (!Array.isArray(reply) || this.#closed) return;
    const [machines, ...others] = reply as readonly unknown[];
    this.#health = { ...this.#health, machines: Math.max(1, Number(machines)) };
    if (!this.up) this.#became('up');
    for (const listener of this.#beatListeners) listener(others);
  }

  #became(state: StoreState, reason?: string): void {
    const before = this.#health;
    if (before.state === state && before.reason === reason) return;
    this.#timeouts = 0;
    this.#health = { state, machines: before.machines, ...(reason !== undefined && { reason }) };
    const { logger } = this.#options;
    if (state === 'up') logger.info({ machines: before.machines }, 'the store is up');
    else if (before.state !== state || before.reason === 'connecting')
      logger.warn({ state, reason }, DESCRIPTIONS[state]);
    for (const listener of this.#listeners) listener(this.#health);
  }
}

type Outcome = 'timeout' | { readonly answer: unknown } | { readonly error: unknown };

const ON_ITS_OWN = 'this machine goes on with a state of its own';

const DESCRIPTIONS: Readonly<Record<Exclude<StoreState, 'up'>, string>> = {
  slow: `the store does not answer in time: ${ON_ITS_OWN}`,
  full: `the store refuses to store more: ${ON_ITS_OWN}`,
  down: `the store cannot be used: ${ON_ITS_OWN}`,
};

/** A connection that restores itself. */
export interface StoreClient {
  /** Whether the store accepts operations now. */
  readonly ready: boolean;
  /** Runs a script. Rejects with the error of the store or of the connection; the answer of a slow store can take long. */
  run(operation: StoreOperation, keys: readonly string[], args: ReadonlyArray<string | number>): Promise<unknown>;
  /** Calls `listener` when the connection becomes ready, and with the error when it ends or cannot be made. */
  onChange(listener: (error: unknown) => void): void;
  close(): void;
}

/** The code of an error, such as ECONNREFUSED or WRONGPASS. Messages can quote addresses, users and arguments. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = codeOf(error);
  if (code !== undefined) return code;
  if ('lastNodeError' in error && error.lastNodeError !== undefined) return errorCode(error.lastNodeError);
  if (error.message.startsWith('Socket timeout')) return 'ETIMEDOUT';
  return /^-?(?<code>[A-Z]{3,})\b/u.exec(error.message)?.groups?.['code'] ?? 'unknown';
}
