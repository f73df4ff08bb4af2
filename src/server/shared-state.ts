import type { Logger } from '../logging/logger.ts';
import { LeaseDesk } from '../policy/lease-desk.ts';
import { MemoryLedger, type Ledger } from '../policy/ledger.ts';
import type { WorkerMessage } from './protocol.ts';
import type { WorkerHandle } from './worker-handle.ts';

type SharedMessage = Extract<WorkerMessage, { readonly type: 'take-turn' | 'take-units' | 'give-units' }>;

type Question<Type> = Extract<SharedMessage, { readonly type: Type }>;

/** The state that all workers share: the turns of round-robin clients, and the units of limits. */
export class SharedState {
  readonly #logger: Logger;
  readonly #desk: LeaseDesk;
  /** How often each round-robin client of the definition files had its turn, over all workers. */
  readonly #turns = new Map<string, number>();

  constructor(logger: Logger, ledger: Ledger = new MemoryLedger()) {
    this.#logger = logger;
    this.#desk = new LeaseDesk(ledger);
  }

  message(handle: WorkerHandle, message: SharedMessage): void {
    if (message.type === 'take-turn') this.#answerTurn(handle, message);
    else if (message.type === 'take-units') void this.#answerUnits(handle, message);
    else this.#desk.give(handle, message.units);
  }

  /** The worker ended. */
  lost(handle: WorkerHandle): void {
    this.#desk.lost(handle);
  }

  #answerTurn(handle: WorkerHandle, { id, client }: Question<'take-turn'>): void {
    const turn = this.#turns.get(client) ?? 0;
    this.#turns.set(client, turn + 1);
    handle.send({ type: 'turn', id, turn });
  }

  async #answerUnits(handle: WorkerHandle, { id, request }: Question<'take-units'>): Promise<void> {
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
  return message.type === 'take-turn' || message.type === 'take-units' || message.type === 'give-units';
}
