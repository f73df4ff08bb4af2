import {
  Fleet,
  type FleetAction,
  type FleetEvent,
  type FleetOptions,
  type WorkerState,
} from '../../../src/server/fleet.ts';

/** A process of the world: its last command, and its progress. */
interface FakeProcess {
  readonly generation: number;
  loaded: boolean;
  told: 'nothing' | 'listen' | 'drain' | 'kill';
  listens: boolean;
}

/** The processes and the clock around a fleet. Commands arrive at once; the test decides when a process makes progress. */
export class FleetWorld {
  readonly fleet: Fleet;
  readonly wanted: number;
  /** Whether memory is limited. */
  readonly limited: boolean;
  readonly processes = new Map<number, FakeProcess>();
  readonly actions: FleetAction[] = [];
  /** Workers that a replacement retired. */
  readonly replaced = new Set<number>();
  now = 0;
  pauseMs: number | undefined;
  leaving: number | undefined;
  /** When all workers served for the first time. */
  startedAt = Infinity;
  /** The reason why the first start failed. */
  gaveUp: string | undefined;
  stopped = false;
  reloading = false;
  generation = 1;
  /** The newest report; null: all workers serve, or will soon. */
  degraded: Extract<FleetAction, { readonly type: 'degraded' }>['degraded'] = null;
  /** Forbidden actions that the fleet requested. */
  readonly faults: string[] = [];

  constructor(options: Partial<FleetOptions> = {}) {
    const all = { workers: 2, maxWorkerMemoryBytes: 0, maxWorkerAgeMs: 0, random: () => 0, ...options };
    this.wanted = all.workers;
    this.limited = all.maxWorkerMemoryBytes > 0;
    this.fleet = new Fleet(all);
  }

  /** All workers serve, and the spare one is loaded. */
  static serving(options: Partial<FleetOptions> = {}): FleetWorld {
    const world = new FleetWorld(options);
    world.take({ type: 'tick' });
    world.settle();
    world.pass(1_000);
    world.settle();
    world.forget();
    return world;
  }

  /** The actions since the last read, as `fork 3`. */
  get log(): readonly string[] {
    return this.actions
      .splice(0)
      .map((action) => ('worker' in action ? `${action.type} ${action.worker}` : action.type));
  }

  forget(): void {
    this.actions.length = 0;
  }

  /** The current processes: a copy, so that a test can end and start some during iteration. */
  get alive(): readonly number[] {
    return Array.from(this.processes.keys());
  }

  in(...states: readonly WorkerState[]): readonly number[] {
    return this.alive.filter((worker) => states.includes(this.fleet.stateOf(worker)));
  }

  take(event: FleetEvent): void {
    for (const action of this.fleet.take(event, this.now)) {
      this.actions.push(action);
      this.#do(action);
    }
  }

  pass(ms: number): void {
    this.now += ms;
    this.take({ type: 'tick' });
  }

  load(worker: number): void {
    const process = this.processes.get(worker);
    if (process === undefined || process.loaded || process.told === 'kill') return;
    process.loaded = true;
    this.take({ type: 'loaded', worker });
  }

  listen(worker: number): void {
    const process = this.processes.get(worker);
    if (process?.told !== 'listen' || process.listens) return;
    process.listens = true;
    this.take({ type: 'listening', worker });
  }

  exit(worker: number, reason = 'killed'): void {
    if (!this.processes.delete(worker)) return;
    if (this.leaving === worker) this.leaving = undefined;
    this.take({ type: 'exited', worker, reason });
  }

  resume(): void {
    if (this.pauseMs === undefined) return;
    this.now += this.pauseMs;
    this.pauseMs = undefined;
    this.take({ type: 'resume' });
  }

  reload(): void {
    if (this.reloading || this.stopped) return;
    this.reloading = true;
    this.generation += 1;
    this.take({ type: 'reload', generation: this.generation });
  }

  stop(): void {
    this.stopped = true;
    this.take({ type: 'stop' });
  }

  /** Completes every pending step of the processes. */
  settle(rounds = 200): void {
    for (let round = 0; round < rounds; round += 1) {
      const before = this.#picture();
      for (const worker of this.alive) {
        this.load(worker);
        this.listen(worker);
        if (this.fleet.stateOf(worker) === 'draining') this.exit(worker);
      }
      this.resume();
      if (before === this.#picture()) return;
    }
  }

  /** The generations that serve. */
  get generations(): readonly number[] {
    return this.in('serving').map((worker) => this.processes.get(worker)?.generation ?? 0);
  }

  #picture(): string {
    return JSON.stringify([...this.processes]);
  }

  #do(action: FleetAction): void {
    if ('worker' in action && ['listen', 'drain', 'kill', 'replacing', 'replaced'].includes(action.type)) {
      if (!this.processes.has(action.worker)) this.faults.push(`${action.type} of ${action.worker}, which is gone`);
    }
    if (this.stopped && !['drain', 'kill'].includes(action.type)) this.faults.push(`${action.type} after the stop`);
    switch (action.type) {
      case 'fork':
        if (this.pauseMs !== undefined) this.faults.push(`a start in the pause`);
        this.processes.set(action.worker, {
          generation: action.generation,
          loaded: false,
          told: 'nothing',
          listens: false,
        });
        break;
      case 'listen':
      case 'drain':
      case 'kill':
        this.#tell(action.worker, action.type);
        break;
      case 'pause':
        this.pauseMs = action.ms;
        break;
      case 'replacing':
        this.leaving = action.worker;
        break;
      case 'replaced':
        this.leaving = undefined;
        this.replaced.add(action.worker);
        break;
      case 'replacement failed':
        this.leaving = undefined;
        break;
      case 'died':
        if (this.leaving === action.worker) this.leaving = undefined;
        break;
      case 'started':
        this.startedAt = this.now;
        break;
      case 'give up':
        this.gaveUp = action.reason;
        break;
      case 'reloaded':
        this.reloading = false;
        break;
      case 'degraded':
        this.degraded = action.degraded;
    }
  }

  #tell(worker: number, what: FakeProcess['told']): void {
    const process = this.processes.get(worker);
    if (process !== undefined) process.told = what;
  }
}
