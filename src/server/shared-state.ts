import type { Logger } from '../logging/logger.ts';
import type { AnswerCounts, Claim, CountedAnswerStore, OwnClaim } from '../policy/answer-store.ts';
import { LeaseDesk } from '../policy/lease-desk.ts';
import type { SharedCoolDowns, StoreCoolDowns } from '../policy/shared-cool-downs.ts';
import type { ClaimedAnswer, FromWorker, MetricData, WorkerMessage } from './protocol.ts';
import type { WorkerHandle } from './worker-handle.ts';
import { messageOf } from '../base/invariant.ts';
import type { Config } from '../config/config.ts';
import { type Ledger, MemoryLedger } from '../policy/ledger.ts';
import type { StoreHealth } from '../policy/store/store.ts';
import { MachineTurns, type Turns } from '../policy/turns.ts';

/** The types of the messages about shared state. */
const SHARED = [
  'take-turn',
  'cool-down',
  'take-units',
  'give-units',
  'claim-answer',
  'keep-answer',
  'release-answer',
] as const;

type SharedMessage = FromWorker<(typeof SHARED)[number]>;

/** The state that all workers share: the turns and the cool-downs of clients, the units of limits, and kept answers. */
export class SharedState {
  readonly #logger: Logger;
  readonly #desk: LeaseDesk;
  readonly #claims: AnswerClaims;
  readonly #backends: Backends;
  readonly #coolDowns: SharedCoolDowns;

  constructor(logger: Logger, backends: Backends, coolDowns: SharedCoolDowns) {
    this.#logger = logger;
    this.#backends = backends;
    this.#coolDowns = coolDowns;
    this.#desk = new LeaseDesk(backends.ledger);
    this.#claims = new AnswerClaims(backends.openAnswers);
    backends.coolDowns?.onChange((change) => coolDowns.take(change, backends));
  }

  get answerCounts(): AnswerCounts {
    return this.#claims.counts;
  }

  message(handle: WorkerHandle, message: SharedMessage): void {
    if (message.type === 'take-turn') void this.#answerTurn(handle, message);
    else if (message.type === 'cool-down') this.#coolDown(handle, message);
    else if (message.type === 'take-units') void this.#answerUnits(handle, message);
    else if (message.type === 'give-units') this.#desk.give(handle, message.units);
    else if (message.type === 'claim-answer') void this.#claims.claim(handle, message);
    else if (message.type === 'keep-answer') this.#claims.keep(handle, message);
    else this.#claims.release(handle, message);
  }

  /** The worker ended. */
  lost(handle: WorkerHandle): void {
    this.#desk.lost(handle);
    this.#claims.exited(handle);
  }

  #coolDown(handle: WorkerHandle, { change }: FromWorker<'cool-down'>): void {
    this.#coolDowns.take(change, handle);
    this.#backends.coolDowns?.report(change);
  }

  async #answerTurn(handle: WorkerHandle, { id, client }: FromWorker<'take-turn'>): Promise<void> {
    handle.send({ type: 'turn', id, turn: await this.#backends.turns.next(client) });
  }

  async #answerUnits(handle: WorkerHandle, { id, request }: FromWorker<'take-units'>): Promise<void> {
    try {
      handle.send({ type: 'units', id, grant: await this.#desk.take(handle, request) });
    } catch (error) {
      // The worker logs it, at most once a minute.
      this.#logger.debug({ err: error, limit: request.limit.id }, 'the units of a limit could not be counted');
      handle.send({ type: 'units', id });
    }
  }
}

export function isShared(message: WorkerMessage): message is SharedMessage {
  return (SHARED as readonly string[]).includes(message.type);
}

type Worker = Pick<WorkerHandle, 'exited' | 'send'>;

const NO_ANSWERS: AnswerCounts = { entries: 0, bytes: 0, waits: 0 };

/** The primary's side of kept answers: claims them for workers, and releases the claims of workers that exit. */
export class AnswerClaims {
  readonly #open: () => Promise<CountedAnswerStore>;
  #opening: Promise<CountedAnswerStore> | undefined;
  #store: CountedAnswerStore | undefined;
  /** The claims that workers own, by the id of their message. */
  readonly #owned = new Map<Worker, Map<number, OwnClaim>>();

  /** `open` creates the store. It is called at the first claim, so that a server without claims loads no code for them. */
  constructor(open: () => Promise<CountedAnswerStore>) {
    this.#open = open;
  }

  /** The state of the store. */
  get counts(): AnswerCounts {
    return this.#store?.counts ?? NO_ANSWERS;
  }

  async claim(worker: Worker, { id, key, waitMs }: FromWorker<'claim-answer'>): Promise<void> {
    let claimed: ClaimedAnswer;
    try {
      claimed = this.#take(worker, id, await (await this.#opened()).claim(key, waitMs));
    } catch (error) {
      claimed = { kind: 'failed', reason: messageOf(error) };
    }
    worker.send({ type: 'claimed-answer', id, claimed });
  }

  keep(worker: Worker, { id, answer, ttlMs }: FromWorker<'keep-answer'>): void {
    this.#end(worker, id)?.keep(answer, ttlMs);
  }

  release(worker: Worker, { id }: FromWorker<'release-answer'>): void {
    this.#end(worker, id)?.release();
  }

  /** Releases the claims of a worker that has exited. */
  exited(worker: Worker): void {
    const owned = this.#owned.get(worker);
    this.#owned.delete(worker);
    for (const claim of owned?.values() ?? []) claim.release();
  }

  async #opened(): Promise<CountedAnswerStore> {
    this.#opening ??= this.#open();
    try {
      this.#store = await this.#opening;
      return this.#store;
    } catch (error) {
      // The next claim tries again.
      this.#opening = undefined;
      throw error;
    }
  }

  #take(worker: Worker, id: number, claim: Claim): ClaimedAnswer {
    if (claim.kind !== 'mine') return claim;
    if (worker.exited) {
      claim.release();
      return { kind: 'busy' };
    }
    const owned = this.#owned.get(worker) ?? new Map<number, OwnClaim>();
    this.#owned.set(worker, owned.set(id, claim));
    return { kind: 'mine' };
  }

  #end(worker: Worker, id: number): OwnClaim | undefined {
    const owned = this.#owned.get(worker);
    const claim = owned?.get(id);
    owned?.delete(id);
    return claim;
  }
}

/** Where the primary keeps the state that workers share. */
export interface Backends {
  readonly turns: Turns;
  readonly ledger: Ledger;
  /** Creates the store of kept answers, at the first claim. */
  readonly openAnswers: () => Promise<CountedAnswerStore>;
  /** The cool-downs of other machines; undefined without a store. */
  readonly coolDowns: StoreCoolDowns | undefined;
  /** Undefined if the state is in the memory of this machine. */
  readonly store: SharedStore | undefined;
}

/** The store that machines share. */
export interface SharedStore {
  readonly health: StoreHealth;
  /** Calls `listener` at each change of the state of the store. */
  onChange(listener: (health: StoreHealth) => void): void;
  metrics(): readonly MetricData[];
  close(): Promise<void>;
}

/** State in the memory of the primary. */
export function memoryBackends(config: Pick<Config, 'cacheMemoryBytes'>): Backends {
  return {
    turns: new MachineTurns(),
    ledger: new MemoryLedger(),
    openAnswers: () => memoryAnswers(config),
    coolDowns: undefined,
    store: undefined,
  };
}

/** Loads the code of kept answers, which most servers never need. */
async function memoryAnswers({ cacheMemoryBytes }: Pick<Config, 'cacheMemoryBytes'>): Promise<CountedAnswerStore> {
  const { MemoryAnswers } = await import('../policy/memory-answers.ts');
  return new MemoryAnswers({ maxBytes: cacheMemoryBytes });
}
