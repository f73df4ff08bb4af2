import { LeaseDesk, type LeaseHolder, type LeaseRequest } from '../../src/policy/lease-desk.ts';
import { Leases, NO_WINDOW } from '../../src/policy/leases.ts';
import { MemoryLedger, type Grant, type Ledger, type Limit } from '../../src/policy/ledger.ts';

/** A request to the desk or to a worker, that the test delivers. */
type Message = () => void;

/** One worker with its two channels, each of which keeps the order of its messages. */
export interface SimulatedWorker {
  readonly leases: Leases;
  readonly toDesk: Message[];
  readonly toWorker: Message[];
  alive: boolean;
}

/** Workers, the desk and the ledger of one machine, with a clock and channels that the test moves. */
export class LeaseSimulation {
  readonly clock = { now: 0, elapsedMs: () => this.clock.now, utcMs: () => this.clock.now };
  readonly desk: LeaseDesk;
  readonly workers: readonly SimulatedWorker[];
  readonly failures: unknown[] = [];
  messages = 0;
  /** When each window of the ledger ends. */
  readonly ends = new Map<number, number>();
  readonly #holders = new Map<SimulatedWorker, LeaseHolder>();
  readonly #shared: boolean;

  /** `shared`: other machines use the ledger too. */
  constructor(workers: number, ledger?: Ledger, shared = false) {
    this.#shared = shared;
    // A test delivers every answer to a recall, so the timer of a recall must not end it.
    this.desk = new LeaseDesk(ledger ?? new MemoryLedger(this.clock), 1_000_000);
    this.workers = Array.from({ length: workers }, () => this.#worker(workers));
  }

  /** The worker with this number; after the last one, they begin again. */
  worker(number: number): SimulatedWorker {
    const worker = this.workers[number % this.workers.length];
    if (worker === undefined) throw new Error('no worker');
    return worker;
  }

  /** Delivers the oldest message of a channel, and lets everyone react. */
  async deliver(channel: Message[]): Promise<void> {
    channel.shift()?.();
    await settled();
  }

  /** Delivers messages until there are none. */
  async deliverAll(): Promise<void> {
    await settled();
    for (;;) {
      const channel = this.workers
        .flatMap(({ toDesk, toWorker }) => [toDesk, toWorker])
        .find((each) => each.length > 0);
      if (channel === undefined) return;
      await this.deliver(channel);
    }
  }

  kill(worker: SimulatedWorker): void {
    const holder = this.#holders.get(worker);
    worker.alive = false;
    worker.toDesk.length = 0;
    worker.toWorker.length = 0;
    if (holder !== undefined) this.desk.lost(holder);
  }

  async #taken(holder: LeaseHolder, request: LeaseRequest): Promise<Grant> {
    const grant = await this.desk.take(holder, request);
    this.ends.set(grant.window, this.clock.now + grant.resetMs);
    return grant;
  }

  #worker(workers: number): SimulatedWorker {
    const toDesk: Message[] = [];
    const toWorker: Message[] = [];
    const send = (channel: Message[], message: Message): void => {
      if (!worker.alive) return;
      this.messages += 1;
      channel.push(message);
    };
    const holder: LeaseHolder = {
      recall: (limitId, recall) => send(toWorker, () => leases.recalled(limitId, recall)),
    };
    const leases = new Leases({
      workers,
      shared: this.#shared,
      clock: this.clock,
      onFailure: (error) => this.failures.push(error),
      source: {
        take: (request) =>
          new Promise<Grant>((resolve, reject) => {
            send(toDesk, () => {
              this.#taken(holder, request).then(
                (grant) => send(toWorker, () => resolve(grant)),
                (error: unknown) => send(toWorker, () => reject(error)),
              );
            });
          }),
        give: (units) => send(toDesk, () => this.desk.give(holder, units)),
      },
    });
    const worker: SimulatedWorker = { leases, toDesk, toWorker, alive: true };
    this.#holders.set(worker, holder);
    return worker;
  }
}

interface RequestOptions {
  readonly units?: number;
  readonly spent?: (window: number) => void;
}

/** A request for units at one worker. Its state changes as messages arrive. */
export class SimulatedRequest {
  state: 'waiting' | 'spent' | 'refused' = 'waiting';
  window = 0;
  readonly #spent: (window: number) => void;

  constructor({ leases }: SimulatedWorker, limit: Limit, { units = 1, spent = () => undefined }: RequestOptions = {}) {
    this.#spent = spent;
    const outcome = leases.spend(limit, units);
    if (typeof outcome === 'number') this.#end(outcome);
    else void outcome.then((window) => this.#end(window));
  }

  #end(window: number): void {
    this.state = window === NO_WINDOW ? 'refused' : 'spent';
    this.window = window;
    if (window !== NO_WINDOW) this.#spent(window);
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
