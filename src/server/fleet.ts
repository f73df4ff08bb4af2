import type { Degraded } from './protocol.ts';

/** The life of a worker as the primary sees it. */
export type WorkerState =
  /** Forked as the spare worker: loads its code and the program. */
  | 'loading'
  /** Loaded, and does not listen until it is promoted. */
  | 'spare'
  /** Loads, and listens as soon as it is loaded. */
  | 'starting'
  /** Loaded; opens its listeners. */
  | 'opening'
  /** Accepts connections. */
  | 'serving'
  /** Finishes its requests, or is about to be killed. */
  | 'draining'
  | 'gone';

/** `promote` and `retire` are decisions of the fleet; the others are reports about the process. */
export type WorkerEvent = 'loaded' | 'promote' | 'listening' | 'retire' | 'failed' | 'exited';

/** `listen`, `drain` and `kill` are commands to the process; the other two are deaths, after which the fleet starts another. */
type Effect = 'listen' | 'drain' | 'kill' | 'no start' | 'crash';

type Transition = readonly [next: WorkerState, effect?: Effect];

/** Every transition of a worker. An event without an entry changes nothing: it crossed another message. */
export const LIFECYCLE: Readonly<Record<WorkerState, Readonly<Partial<Record<WorkerEvent, Transition>>>>> = {
  loading: { loaded: ['spare'], promote: ['starting'], retire: ['draining', 'kill'], exited: ['gone', 'no start'] },
  spare: { promote: ['opening', 'listen'], retire: ['draining', 'kill'], exited: ['gone', 'no start'] },
  starting: { loaded: ['opening', 'listen'], retire: ['draining', 'kill'], exited: ['gone', 'no start'] },
  opening: { listening: ['serving'], retire: ['draining', 'drain'], exited: ['gone', 'no start'] },
  serving: { retire: ['draining', 'drain'], failed: ['draining', 'crash'], exited: ['gone', 'crash'] },
  draining: { exited: ['gone'] },
  gone: {},
};

/** Why a worker that serves is replaced. */
export type ReplaceReason = 'reload' | 'memory' | 'age';

/** An input of the fleet. `worker` is the id in the `fork` action that started the process. */
export type FleetEvent =
  | { readonly type: 'loaded' | 'listening'; readonly worker: number }
  | { readonly type: 'failed' | 'exited'; readonly worker: number; readonly reason: string }
  | { readonly type: 'heartbeat'; readonly worker: number; readonly rssBytes: number }
  /** Time passed; comes once a second, and once at the start. */
  | { readonly type: 'tick' }
  /** The pause of a `pause` action is over. */
  | { readonly type: 'resume' }
  /** Move all workers to this generation, a number not used before. */
  | { readonly type: 'reload'; readonly generation: number }
  | { readonly type: 'stop' };

/** An output of the fleet, for the primary to carry out in order. */
export type FleetAction =
  /** Starts a process; when the system refuses, the worker has `exited`. */
  | { readonly type: 'fork'; readonly worker: number; readonly generation: number }
  | { readonly type: 'listen' | 'drain' | 'kill'; readonly worker: number }
  /** Send `resume` after this time; replaces an earlier pause. */
  | { readonly type: 'pause'; readonly ms: number }
  /** All workers serve for the first time. */
  | { readonly type: 'started' }
  /** The first start failed. */
  | { readonly type: 'give up'; readonly reason: string }
  | { readonly type: 'died'; readonly worker: number; readonly reason: string }
  | { readonly type: 'replacing' | 'replaced'; readonly worker: number; readonly reason: ReplaceReason }
  | { readonly type: 'replacement failed'; readonly worker: number; readonly reason: string }
  | { readonly type: 'degraded'; readonly degraded: Degraded | null }
  /** The end of a `reload`; false: the workers stay with the previous generation. */
  | { readonly type: 'reloaded'; readonly ok: boolean };

export interface FleetOptions {
  /** Workers that serve. */
  readonly workers: number;
  /** Resident memory above which a worker is replaced; 0: no limit. */
  readonly maxWorkerMemoryBytes: number;
  /** Service time after which a worker is replaced; 0: no limit. */
  readonly maxWorkerAgeMs: number;
  /** A number between 0 and 1 for each worker: spreads replacements by age. */
  random(): number;
}

interface Member {
  readonly worker: number;
  readonly generation: number;
  state: WorkerState;
  /** Its part of `AGE_SPREAD`. */
  readonly chance: number;
  /** When it began to serve. */
  servingSince: number;
  rssBytes: number;
  /** Another worker is to take its place; kept while it drains. */
  leaving: { readonly reason: ReplaceReason; readonly since: number } | undefined;
}

/** The first start is given up after this many deaths. */
const MAX_START_DEATHS = 3;

/** Wait after the start before the first spare worker loads: the first requests have the processors for themselves. */
const FIRST_SPARE_MS = 1_000;

/** Pause after a worker died before it served; doubled with each further failure, until one starts. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** This many crashes of serving workers within the window count as accidents; more look like a fault in the program. */
const FREE_CRASHES = 10;
const CRASH_WINDOW_MS = 10_000;

/**
 * The most spare workers. On a busy machine, a worker loads in 2 to 3 s: with three on their way, one is ready for each death if one
 * worker dies each second. With one, all workers can be dead at once, and the kernel refuses connections.
 */
const LARGEST_RESERVE = 3;

/** Wait after a replacement that did not start, and for a second missing worker before the old one drains. */
const REPLACEMENT_WAIT_MS = 10_000;

/** Replacements by age are delayed by up to this share of the age, so that many machines do not replace workers at once. */
const AGE_SPREAD = 0.2;

/** A worker serves at least this long before its memory counts: a limit below any worker's need would replace without end. */
const MIN_SERVICE_MS = 10_000;

/**
 * The workers of one server, without their processes: keeps the wanted number serving, a spare worker loaded, and replaces
 * one worker at a time. Deterministic: it reads no clock and starts nothing, and answers each event with actions.
 */
export class Fleet {
  readonly #options: FleetOptions;
  #members: readonly Member[] = [];
  #actions: FleetAction[] = [];
  #now = 0;
  #lastWorker = 0;
  /** The generation that new workers load. */
  #generation = 1;
  /** The generation of a reload that has not begun. */
  #reloadTo: number | undefined;
  /** During a reload: the generation to return to when no worker can serve the new one. */
  #previous: number | undefined;
  /** Undefined until all workers serve for the first time. */
  #startedAt: number | undefined;
  #startDeaths = 0;
  #stopping = false;
  /** Workers that died before they served, since one last started. */
  #failedStarts = 0;
  /** When serving workers crashed, within the window. */
  #crashes: readonly number[] = [];
  /** No process is started. */
  #paused = false;
  /** No replacement begins before this time. */
  #replaceAfter = 0;
  #degraded: Degraded | null = null;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** `now`: milliseconds on a monotonic clock. */
  take(event: FleetEvent, now: number): readonly FleetAction[] {
    this.#now = now;
    this.#actions = [];
    this.#note(event);
    if (!this.#stopping) this.#reconcile();
    return this.#actions;
  }

  stateOf(worker: number): WorkerState {
    return this.#memberOf(worker)?.state ?? 'gone';
  }

  /** Generations that current or future workers can serve. */
  get generations(): ReadonlySet<number> {
    const served = this.#members.map(({ generation }) => generation);
    const now = this.#generation;
    return new Set([...served, now, this.#previous ?? now, this.#reloadTo ?? now]);
  }

  #note(event: FleetEvent): void {
    if ('worker' in event) {
      const member = this.#memberOf(event.worker);
      if (member === undefined) return;
      if (event.type === 'heartbeat') member.rssBytes = event.rssBytes;
      else this.#apply(member, event.type, 'reason' in event ? event.reason : '');
    } else if (event.type === 'resume') this.#paused = false;
    else if (event.type === 'reload') this.#reloadTo = event.generation;
    else if (event.type === 'stop') this.#stop();
  }

  #apply(member: Member, event: WorkerEvent, reason = ''): void {
    const before = member.state;
    const [next, effect] = LIFECYCLE[before][event] ?? [];
    if (next === undefined) return;
    member.state = next;
    if (next === 'gone') this.#members = this.#members.filter((other) => other !== member);
    if (next === 'serving') member.servingSince = this.#now;
    // The spare worker may wait for days, so its loading alone proves that workers start.
    if (next === 'spare' || next === 'serving') this.#failedStarts = 0;
    if (effect === 'no start' || effect === 'crash') this.#died(member, before, reason);
    else if (effect !== undefined) this.#do({ type: effect, worker: member.worker });
  }

  #memberOf(worker: number): Member | undefined {
    return this.#members.find((member) => member.worker === worker);
  }

  #do(action: FleetAction): void {
    this.#actions.push(action);
  }

  #stop(): void {
    this.#stopping = true;
    for (const member of this.#members) this.#apply(member, 'retire');
  }

  /** Restores the invariants of the fleet after an event. The order matters: each step relies on those before it. */
  #reconcile(): void {
    this.#retireReplaced();
    this.#beginReload();
    this.#retireOutdated();
    this.#beginReplacement();
    this.#fill();
    this.#loadSpare();
    this.#endReload();
    this.#reportDegraded();
  }

  #died({ worker, generation }: Member, before: WorkerState, reason: string): void {
    if (this.#stopping) return;
    this.#do({ type: 'died', worker, reason });
    if (this.#startedAt === undefined) this.#startDeaths += 1;
    if (this.#startDeaths >= MAX_START_DEATHS) {
      this.#stopping = true;
      this.#do({ type: 'give up', reason });
      return;
    }
    if (before === 'serving') this.#pauseAfterCrash();
    else this.#pauseAfterFailedStart();
    if (before === 'starting' || before === 'opening') this.#cancelReplacement(generation, reason);
  }

  #pauseAfterCrash(): void {
    this.#crashes = [...this.#crashes.filter((at) => this.#now - at < CRASH_WINDOW_MS), this.#now];
    this.#pause(this.#crashes.length - FREE_CRASHES);
  }

  #pauseAfterFailedStart(): void {
    // Workers that were started together and die together are one attempt.
    if (this.#paused) return;
    this.#failedStarts += 1;
    this.#pause(this.#failedStarts);
  }

  #pause(attempt: number): void {
    if (attempt <= 0 || this.#paused) return;
    this.#paused = true;
    this.#do({ type: 'pause', ms: Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) });
  }

  /** Replaces what is missing: the spare worker at once, more by new processes. */
  #fill(): void {
    const { workers } = this.#options;
    for (let missing = workers - this.#in('starting', 'opening', 'serving').length; missing > 0; missing -= 1) {
      const spare = this.#in('spare')[0] ?? this.#in('loading')[0];
      if (spare !== undefined) this.#apply(spare, 'promote');
      else if (this.#paused) return;
      else this.#fork('starting');
    }
  }

  /** Not while a worker leaves: never more processes beyond the wanted ones than the reserve, besides those that drain. */
  #loadSpare(): void {
    if (this.#startedAt === undefined && this.#in('serving').length >= this.#options.workers) {
      this.#startedAt = this.#now;
      this.#do({ type: 'started' });
    }
    if (this.#startedAt === undefined || this.#now < this.#startedAt + FIRST_SPARE_MS) return;
    if (this.#paused || this.#leaving !== undefined) return;
    const spares = [...this.#in('spare'), ...this.#in('loading')];
    for (const member of spares.slice(this.#reserve)) this.#apply(member, 'retire');
    for (let have = spares.length; have < this.#reserve; have += 1) this.#fork('loading');
  }

  /** The spare workers to keep: one for each recent crash. */
  get #reserve(): number {
    const recent = this.#crashes.filter((at) => this.#now - at < CRASH_WINDOW_MS).length;
    return Math.max(1, Math.min(LARGEST_RESERVE, recent));
  }

  #fork(state: 'loading' | 'starting'): void {
    this.#lastWorker += 1;
    const worker = this.#lastWorker;
    const generation = this.#generation;
    const chance = this.#options.random();
    const member = { worker, generation, chance, state, servingSince: 0, rssBytes: 0, leaving: undefined };
    this.#members = [...this.#members, member];
    this.#do({ type: 'fork', worker, generation });
  }

  /** Members in one of these states that do not leave. */
  #in(...states: readonly WorkerState[]): readonly Member[] {
    return this.#members.filter(({ state, leaving }) => leaving === undefined && states.includes(state));
  }

  /** The worker that serves until another one takes its place. */
  get #leaving(): Member | undefined {
    return this.#members.find(({ state, leaving }) => leaving !== undefined && state === 'serving');
  }

  #reportDegraded(): void {
    const { workers: wanted } = this.#options;
    const listening = this.#members.filter(({ state }) => state === 'serving').length;
    const failing = this.#failedStarts > 0 || this.#paused;
    const degraded = this.#startedAt !== undefined && failing && listening < wanted ? { listening, wanted } : null;
    if (degraded?.listening === this.#degraded?.listening) return;
    this.#degraded = degraded;
    this.#do({ type: 'degraded', degraded });
  }

  #beginReplacement(): void {
    if (this.#startedAt === undefined || this.#leaving !== undefined || this.#now < this.#replaceAfter) return;
    if (this.#paused && this.#in('loading', 'spare').length === 0) return;
    const [member, reason] = this.#nextToReplace() ?? [];
    if (member === undefined || reason === undefined) return;
    member.leaving = { reason, since: this.#now };
    this.#do({ type: 'replacing', worker: member.worker, reason });
  }

  /** A limited memory has room for one old worker that drains. Replacements by memory or age always wait for that. */
  #nextToReplace(): readonly [Member, ReplaceReason] | undefined {
    const { workers, maxWorkerMemoryBytes } = this.#options;
    const reloads = this.#previous !== undefined;
    const drains = this.#members.some(({ state, leaving }) => state === 'draining' && leaving !== undefined);
    if (drains && (maxWorkerMemoryBytes > 0 || !reloads)) return undefined;
    const serving = this.#in('serving');
    if (serving.length < workers && !reloads) return undefined;
    for (const member of serving) {
      const reason = reloads ? this.#reasonToReload(member) : this.#reasonToRecycle(member);
      if (reason !== undefined) return [member, reason];
    }
    return undefined;
  }

  #reasonToReload({ generation }: Member): 'reload' | undefined {
    return generation === this.#generation ? undefined : 'reload';
  }

  #reasonToRecycle({ servingSince, rssBytes, chance }: Member): 'memory' | 'age' | undefined {
    const { maxWorkerMemoryBytes, maxWorkerAgeMs } = this.#options;
    const age = this.#now - servingSince;
    if (maxWorkerMemoryBytes > 0 && rssBytes > maxWorkerMemoryBytes && age >= MIN_SERVICE_MS) return 'memory';
    return maxWorkerAgeMs > 0 && age > maxWorkerAgeMs * (1 + AGE_SPREAD * chance) ? 'age' : undefined;
  }

  /** When another worker died meanwhile, the old one serves until that one is replaced as well, if that happens soon. */
  #retireReplaced(): void {
    const old = this.#leaving;
    if (old?.leaving === undefined) return;
    const { reason, since } = old.leaving;
    const others = this.#in('serving');
    const joined = others.find(({ servingSince }) => servingSince >= since);
    if (joined === undefined) return;
    if (others.length < this.#options.workers && this.#now - joined.servingSince < REPLACEMENT_WAIT_MS) return;
    this.#apply(old, 'retire');
    this.#do({ type: 'replaced', worker: old.worker, reason });
  }

  /** The old worker stays. A reload that got no worker to serve is undone; one that did is continued later. */
  #cancelReplacement(generation: number, reason: string): void {
    const old = this.#leaving;
    if (old !== undefined) {
      old.leaving = undefined;
      this.#replaceAfter = this.#now + REPLACEMENT_WAIT_MS;
      this.#do({ type: 'replacement failed', worker: old.worker, reason });
    }
    if (this.#previous === undefined || generation !== this.#generation || this.#servesGeneration) return;
    this.#generation = this.#previous;
    this.#previous = undefined;
    this.#do({ type: 'reloaded', ok: false });
  }

  /** Waits for a replacement that is under way. Ends a pause, because new definitions can repair the cause of the deaths. */
  #beginReload(): void {
    if (this.#reloadTo === undefined || this.#previous !== undefined || this.#leaving !== undefined) return;
    this.#previous = this.#generation;
    this.#generation = this.#reloadTo;
    this.#reloadTo = undefined;
    this.#replaceAfter = 0;
    if (this.#paused) this.#do({ type: 'pause', ms: 0 });
  }

  /** Retires workers that do not serve yet and would serve another generation. */
  #retireOutdated(): void {
    for (const member of this.#in('loading', 'spare', 'starting', 'opening')) {
      if (member.generation !== this.#generation) this.#apply(member, 'retire');
    }
  }

  #endReload(): void {
    if (this.#previous === undefined || !this.#servesGeneration) return;
    const isOutdated = ({ state, generation }: Member) => state === 'serving' && generation !== this.#generation;
    if (this.#members.some(isOutdated)) return;
    this.#previous = undefined;
    this.#do({ type: 'reloaded', ok: true });
  }

  get #servesGeneration(): boolean {
    return this.#in('serving').some(({ generation }) => generation === this.#generation);
  }
}
