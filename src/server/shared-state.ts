import type { Logger } from '../logging/logger.ts';
import type { AnswerCounts } from '../policy/answer-store.ts';
import { LeaseDesk } from '../policy/lease-desk.ts';
import type { SharedCoolDowns } from '../policy/shared-cool-downs.ts';
import { AnswerClaims } from './answer-claims.ts';
import type { Backends } from './backends.ts';
import type { FromWorker, WorkerMessage } from './protocol.ts';
import type { WorkerHandle } from './worker-handle.ts';

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
