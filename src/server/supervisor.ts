import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import { invariant, messageOf } from '../base/invariant.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { Logger } from '../logging/logger.ts';
import { sourcesPath } from '../runtime/call/load-program.ts';
import { SharedCoolDowns } from '../policy/shared-cool-downs.ts';
import type { KeptCall, SavedTest } from '../schema/kept-call.ts';
import type { DefinitionProblem } from '../schema/program.ts';
import type { Grant, Limit } from '../policy/ledger.ts';
import { setNewest } from '../base/set-newest.ts';
import { LeaseDesk } from '../policy/lease-desk.ts';
import { AnswerClaims, type Backends } from './shared-state.ts';
import { ClientFailures, type ServerState } from './server-state.ts';
import { Fleet, type FleetAction, type FleetEvent, type WorkerState } from './fleet.ts';
import type { CallKeeper } from './call-keeper.ts';
import type { ClusterMetrics } from './metrics/cluster-metrics.ts';
import { type ProgramPlane, TypeCompilations } from './program-answers.ts';
import {
  type Asked,
  CRASH_DRAIN_MS,
  type KeyUses,
  type MetricsFormat,
  type PrimaryMessage,
  type Questions,
  type QuestionType,
  type ServerNews,
  type WorkerMessage,
} from './protocol.ts';
import { SharedPorts } from './ports.ts';
import { hangs, readSteps, removeStep, stepFields } from './step-note.ts';
import { type HandleOwner, WorkerHandle } from './worker-handle.ts';
import { forkWorker } from './worker-processes.ts';

/** The program file that workers load, and the configuration that they serve it with. */
export interface ServedProgram extends ProgramPlane {
  readonly path: string;
  /** A reload changes its environment; everything else stays as it was at the start. */
  readonly config: Config;
}

export interface SupervisorOptions {
  readonly config: Config;
  readonly port: number;
  readonly program: ServedProgram;
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: ClusterMetrics;
  readonly backends: Backends;
  /** Absent if calls are not kept. */
  readonly calls?: CallKeeper | undefined;
  /** Absent except in `svc dev`. */
  readonly saveTest?: SaveTest | undefined;
}

/** Writes a test from a kept call. The failure is a sentence. */
export type SaveTest = (call: KeptCall, name: string) => Promise<Result<SavedTest, string>>;

const TICK_MS = 1_000;

/** The most keys whose last use the primary remembers, also after they left the key file. About 10 MB. */
const MAX_KEYS = 100_000;

/** Heartbeats arrive every second; with a check each second, a worker that hangs is gone within 10 seconds. */
const SILENCE_MS = 9_000;

/** Loading a large program on a busy machine. */
const START_MS = 30_000;

/** How the primary answers each question; a socket is sent in another way. */
type Answers = {
  readonly [Type in Exclude<QuestionType, 'share-port'>]: (
    question: Asked<Type>,
    handle: WorkerHandle,
  ) => Questions[Type]['answer'] | Promise<Questions[Type]['answer']>;
};

/** Runs the processes that the fleet requests, and reports their events to it. */
export class Supervisor implements HandleOwner {
  readonly #options: SupervisorOptions;
  readonly #fleet: Fleet;
  /** By the worker's number in the fleet. */
  readonly #handles = new Map<number, WorkerHandle>();
  /** By generation. */
  readonly #programs: Map<number, ServedProgram>;
  readonly #types: TypeCompilations;
  readonly #desk: LeaseDesk;
  readonly #claims: AnswerClaims;
  readonly #answers: Answers = {
    'merge-metrics': ({ format }) => this.#metricsText(format),
    'ask-state': () => this.#state,
    'ask-keys': ({ limits }) => this.#keyUses(limits),
    'take-turn': ({ client }) => this.#options.backends.turns.next(client),
    'claim-answer': (claim, handle) => this.#claims.claim(handle, claim),
    'load-validators': ({ functionName }, handle) => this.#validators(functionName, handle),
    'extend-types': ({ request, caller }, { generation }) => this.#types.compile(generation, request, caller),
    'take-units': ({ request }, handle) => this.#desk.take(handle, request),
    'add-feedback': ({ requestId, feedback }) => this.#calls.addFeedback(requestId, feedback),
    'query-calls': ({ query }) => this.#calls.query(query),
    'save-test': ({ seq, name }) => this.#saveTest(seq, name),
  };
  #lastGeneration = 1;
  /** The newest generation whose missing credentials are in the log. */
  #reported = 0;
  /** Events that arrived while the actions of another one were under way. */
  readonly #events: FleetEvent[] = [];
  /** The directory of the notes that workers write. */
  readonly #directory: string;
  readonly #ports = new SharedPorts();
  readonly #coolDowns: SharedCoolDowns;
  #failures = new ClientFailures();
  /** When a request last had each key, by name. */
  readonly #lastUse = new Map<string, number>();
  #ticks: NodeJS.Timeout | undefined;
  #lastTickAt = performance.now();
  #pause: NodeJS.Timeout | undefined;
  #news: ServerNews = { mayBeReady: true, degraded: null, problems: [] };
  #stopping = false;
  #cut = 0;
  #started: (result: Result<void, string>) => void = ignore;
  #reloaded: (ok: boolean) => void = ignore;
  #drained: () => void = ignore;
  /** The transport of the workers; `auto` is decided there. */
  transport: 'uws' | 'node' = 'node';

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#directory = dirname(options.program.path);
    this.#programs = new Map([[1, options.program]]);
    this.#types = new TypeCompilations(this.#programs, options.logger, options.config.callerShare);
    this.#coolDowns = new SharedCoolDowns({
      logger: options.logger,
      counted: (client, reason) => options.metrics.cooling(client, reason),
      send: (change, from) => this.#sendAll({ type: 'cool-down', change }, from),
    });
    const { backends } = options;
    this.#desk = new LeaseDesk(backends.ledger);
    this.#claims = new AnswerClaims(backends.openAnswers);
    this.#fleet = new Fleet({ ...options.config, random: Math.random });
    backends.coolDowns?.onChange((change) => this.#coolDowns.take(change, backends));
    backends.store?.onChange((store) => this.tell({ store }));
  }

  /** Resolves when all workers serve; the failure is the reason why they do not. */
  start(): Promise<Result<void, string>> {
    return new Promise((resolve) => {
      this.#started = resolve;
      this.#ticks = setInterval(() => this.#tick(), TICK_MS);
      this.#report({ type: 'tick' });
    });
  }

  /** The calls and streams that are being answered, as of the last heartbeats. */
  get inFlight(): number {
    return [...this.#handles.values()].reduce((sum, handle) => sum + handle.inFlight, 0);
  }

  /** Requests that got the last message of the drain instead of their answer. */
  get cut(): number {
    return this.#cut;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Moves all workers to another program. Resolves with false when none can serve it: they stay with the old one. */
  reload(program: ServedProgram): Promise<boolean> {
    return new Promise((resolve) => {
      this.#reloaded = resolve;
      this.#failures = new ClientFailures();
      this.#lastGeneration += 1;
      this.#programs.set(this.#lastGeneration, program);
      this.#report({ type: 'reload', generation: this.#lastGeneration });
    });
  }

  /** Sends the errors in the newest definitions to the workers if a page shows them. */
  showProblems(problems: readonly DefinitionProblem[]): void {
    if (!this.#options.config.playground || (problems.length === 0 && this.#news.problems.length === 0)) return;
    this.tell({ problems });
  }

  /** Sends what has changed to all workers, also to future ones. */
  tell(news: Partial<ServerNews>): void {
    this.#news = { ...this.#news, ...news };
    this.#sendAll({ type: 'news', news });
  }

  /** Resolves when no worker is left: they finish their requests within the drain timeout. */
  async drain(): Promise<void> {
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    this.#stopping = true;
    this.#cut = 0;
    this.#ports.close();
    this.#report({ type: 'stop' });
    this.#reloaded(false);
    if (this.#handles.size > 0) await drained;
    this.#end();
  }

  kill(): void {
    for (const handle of this.#handles.values()) handle.kill();
  }

  message(handle: WorkerHandle, message: WorkerMessage): void {
    switch (message.type) {
      case 'hello':
        this.#sendStart(handle);
        break;
      case 'ready':
        this.#loaded(handle);
        break;
      case 'listening':
        this.#listens(handle, message.transport);
        break;
      case 'failed':
        this.#failed(handle, message.reason);
        break;
      case 'heartbeat':
        this.#beat(handle, message);
        break;
      case 'drained':
        this.#cut += message.cut;
        break;
      case 'metrics':
        this.#options.metrics.collected(message.id, handle);
        break;
      case 'cool-down':
        this.#coolDowns.take(message.change, handle);
        this.#options.backends.coolDowns?.report(message.change);
        break;
      case 'keep-calls':
        this.#options.calls?.keep(message.calls, message.dropped);
        break;
      case 'give-units':
        this.#desk.give(handle, message.units);
        break;
      case 'keep-answer':
        this.#claims.end(handle, message.id)?.keep(message.answer, message.ttlMs);
        break;
      case 'release-answer':
        this.#claims.end(handle, message.id)?.release();
        break;
      default:
        void this.#answer(handle, message);
    }
  }

  #beat(
    handle: WorkerHandle,
    { failures, keys, rssBytes }: Extract<WorkerMessage, { readonly type: 'heartbeat' }>,
  ): void {
    this.#failures.add(failures);
    for (const name of keys) setNewest(this.#lastUse, name, Date.now(), MAX_KEYS);
    this.#report({ type: 'heartbeat', worker: handle.id, rssBytes });
    const count = handle.balance(this.#inState('serving'));
    if (count > 0) this.#options.logger.debug({ worker: handle.number, count }, 'a worker hands connections over');
  }

  /** Workers ask only if calls are kept. */
  get #calls(): CallKeeper {
    const { calls } = this.#options;
    invariant(calls !== undefined, 'calls are kept');
    return calls;
  }

  async #saveTest(seq: number, name: string): Promise<Result<SavedTest, string>> {
    const { saveTest } = this.#options;
    const call = (await this.#calls.query({ type: 'call', seq })) as KeptCall | undefined;
    if (call === undefined) return err('The call is no longer kept.');
    return saveTest === undefined ? err('Only "svc dev" writes tests: run "svc calls save".') : saveTest(call, name);
  }

  /** One limit after another: a store gets no burst of operations. */
  async #keyUses(limits: readonly Limit[]): Promise<KeyUses> {
    const grants: Grant[] = [];
    for (const limit of limits) grants.push(await this.#desk.stateOf(limit));
    return { lastUse: [...this.#lastUse], grants };
  }

  async #answer(handle: WorkerHandle, question: Asked): Promise<void> {
    const { id } = question;
    try {
      if (question.type === 'share-port') {
        handle.sendPort({ type: 'answer', id }, await this.#ports.get(question.host, question.port));
        return;
      }
      const answer = this.#answers[question.type] as (of: Asked, handle: WorkerHandle) => unknown;
      handle.send({ type: 'answer', id, value: await answer(question, handle) });
    } catch (error) {
      handle.send({ type: 'answer', id, failure: messageOf(error) });
    }
  }

  exited(handle: WorkerHandle, reason: string): void {
    this.#options.metrics.retire(handle.metrics);
    this.#report({ type: 'exited', worker: handle.id, reason });
    this.#handles.delete(handle.id);
    this.#desk.lost(handle);
    this.#claims.exited(handle);
    removeStep(this.#directory, handle.pid);
    this.#discardPrograms();
    if (this.#handles.size === 0) this.#drained();
  }

  /** `except`: the worker that the message is from. */
  #sendAll(message: PrimaryMessage, except?: object): void {
    for (const handle of this.#handles.values()) if (handle !== except) handle.send(message);
  }

  /** Actions can cause events, such as a process that does not start: they wait for the remaining actions. */
  #report(event: FleetEvent): void {
    this.#events.push(event);
    if (this.#events.length > 1) return;
    for (let next: FleetEvent | undefined = event; next !== undefined; next = this.#events[0]) {
      for (const action of this.#fleet.take(next, performance.now())) this.#do(action);
      this.#events.shift();
    }
  }

  #do(action: FleetAction): void {
    switch (action.type) {
      case 'fork':
        this.#fork(action.worker, action.generation);
        break;
      case 'listen':
        this.#handles.get(action.worker)?.send({ type: 'listen' });
        break;
      case 'drain':
        this.#drainWorker(action.worker);
        break;
      case 'kill':
        this.#handles.get(action.worker)?.kill();
        break;
      case 'pause':
        clearTimeout(this.#pause);
        this.#pause = setTimeout(() => this.#report({ type: 'resume' }), action.ms).unref();
        break;
      case 'degraded':
        this.tell({ degraded: action.degraded });
        break;
      case 'started':
        this.#started(ok(undefined));
        break;
      case 'give up':
        this.#end();
        this.kill();
        this.#started(err(action.reason));
        break;
      case 'reloaded':
        this.#reloaded(action.ok);
        break;
      default:
        logFleetAction(action, this.#handles.get(action.worker), this.#options);
    }
  }

  /** Node throws for some reasons why a process cannot be started; the others arrive at the handle. */
  #fork(id: number, generation: number): void {
    const number = this.#freeNumber();
    try {
      this.#handles.set(id, new WorkerHandle(forkWorker(this.#options.config), { id, number, generation }, this));
    } catch (error) {
      this.#report({ type: 'exited', worker: id, reason: `a worker could not be started: ${messageOf(error)}` });
    }
  }

  #freeNumber(): number {
    const staying = this.#inState('loading', 'spare', 'starting', 'opening', 'serving');
    const taken = new Set(staying.map((handle) => handle.number));
    let number = 1;
    while (taken.has(number)) number += 1;
    return number;
  }

  #sendStart(handle: WorkerHandle): void {
    const program = this.#programs.get(handle.generation);
    if (program === undefined) return;
    const { backends, port, version } = this.#options;
    const { path: programPath, config } = program;
    const { number } = handle;
    const news = { ...this.#news, store: backends.store?.health };
    const coolDowns = this.#coolDowns.changes;
    const savesTests = this.#options.saveTest !== undefined;
    handle.send({ type: 'start', config, port, programPath, version, savesTests, number, news, coolDowns });
  }

  #loaded({ id, number, pid, startedAt }: WorkerHandle): void {
    const startMs = Math.round(performance.now() - startedAt);
    this.#options.logger.debug({ worker: number, workerPid: pid, startMs }, 'a worker is loaded');
    this.#report({ type: 'loaded', worker: id });
  }

  /** The first worker of each generation logs the credentials that are missing. */
  #listens(handle: WorkerHandle, transport: 'uws' | 'node'): void {
    this.transport = transport;
    if (handle.generation > this.#reported) {
      this.#reported = handle.generation;
      handle.send({ type: 'report-start' });
    }
    this.#report({ type: 'listening', worker: handle.id });
  }

  /** A worker that served finishes its requests; others exit at once. */
  #failed(handle: WorkerHandle, reason: string): void {
    this.#options.logger.error({ worker: handle.number, reason }, 'a worker failed');
    handle.killAfter(CRASH_DRAIN_MS);
    this.#report({ type: 'failed', worker: handle.id, reason });
  }

  #drainWorker(worker: number): void {
    const { drainTimeoutMs: timeoutMs } = this.#options.config;
    const handle = this.#handles.get(worker);
    handle?.send({ type: 'drain', timeoutMs });
    handle?.killAfter(timeoutMs);
  }

  #tick(): void {
    const now = performance.now();
    // While this process itself did not run, it read no messages: that time is not the silence of a worker.
    const lateMs = Math.max(0, now - this.#lastTickAt - TICK_MS);
    this.#lastTickAt = now;
    for (const handle of this.#handles.values()) {
      handle.lastSeenAt = Math.min(now, handle.lastSeenAt + lateMs);
      this.#checkAlive(handle, now);
    }
    this.#coolDowns.endUnused();
    this.#report({ type: 'tick' });
  }

  #checkAlive(handle: WorkerHandle, now: number): void {
    const loads = ['loading', 'starting'].includes(this.#fleet.stateOf(handle.id));
    if (now - handle.lastSeenAt < (loads ? START_MS : SILENCE_MS)) return;
    handle.failure = loads
      ? `a worker did not load the program within ${START_MS / 1000} s`
      : 'a worker did not answer';
    const steps = readSteps(this.#directory, handle.pid);
    this.#options.logger.error({ worker: handle.number, workerPid: handle.pid, ...stepFields(steps[0]) }, hangs(steps));
    handle.kill();
  }

  #end(): void {
    this.#stopping = true;
    clearInterval(this.#ticks);
    clearTimeout(this.#pause);
  }

  /** Removes the files of programs that no worker serves any more: their directory can be in memory, and reloads many. */
  #discardPrograms(): void {
    const used = this.#fleet.generations;
    for (const [generation, { path }] of this.#programs) {
      if (used.has(generation)) continue;
      this.#programs.delete(generation);
      if ([...this.#programs.values()].some((program) => program.path === path)) continue;
      for (const file of [path, sourcesPath(path)]) rmSync(file, { force: true });
    }
  }

  async #metricsText(format: MetricsFormat): Promise<string> {
    const { metrics, backends } = this.#options;
    await metrics.collect(this.#inState('serving', 'draining'));
    const own = [...(backends.store?.metrics() ?? []), ...(this.#options.calls?.metrics() ?? [])];
    const parts = [own, ...[...this.#handles.values()].map((one) => one.metrics)];
    metrics.answersKept(this.#claims.counts);
    return metrics.text(parts, this.#inState('serving'), format);
  }

  async #validators(functionName: string, { generation }: WorkerHandle): Promise<string> {
    try {
      const source = await this.#programs.get(generation)?.validators(functionName);
      if (source !== undefined) return source;
    } catch (error) {
      this.#options.logger.error({ function: functionName, err: error }, 'a bug: validators cannot be compiled');
      throw new Error(`no validators of ${functionName}: ${messageOf(error)}`, { cause: error });
    }
    throw new Error(`no validators of ${functionName}`);
  }

  get #state(): ServerState {
    const now = performance.now();
    const workers = [...this.#handles.values()].map((handle) => {
      const { id, number, pid, inFlight, rssBytes, lagSeconds, startedAt } = handle;
      const state = this.#fleet.stateOf(id);
      return { number, pid, state, inFlight, rssBytes, lagSeconds, uptimeSeconds: (now - startedAt) / 1000 };
    });
    const store = this.#options.backends.store?.health;
    return {
      uptimeSeconds: process.uptime(),
      workers,
      failures: this.#failures.list,
      cooling: this.#coolDowns.list,
      store,
    };
  }

  #inState(...states: readonly WorkerState[]): readonly WorkerHandle[] {
    return [...this.#handles.values()].filter(({ id }) => states.includes(this.#fleet.stateOf(id)));
  }
}

function ignore(): void {}

/** What happened to a worker. */
type WorkerAction = Extract<FleetAction, { readonly type: 'died' | 'replacing' | 'replaced' | 'replacement failed' }>;

interface FleetLog {
  readonly logger: Logger;
  readonly metrics: ClusterMetrics;
}

/** Logs and counts what happened to a worker. */
function logFleetAction(action: WorkerAction, handle: WorkerHandle | undefined, { logger, metrics }: FleetLog): void {
  const { number, pid = 0, rssBytes, exited = true } = handle ?? {};
  const { reason } = action;
  if (action.type === 'died') {
    if (pid !== 0) metrics.restarted('crash');
    // A worker that failed is in the log already, and still finishes its requests.
    if (exited) logger.error({ worker: number, workerPid: pid, reason }, 'a worker died');
  } else if (action.type === 'replacing') {
    logger.info({ worker: number, workerPid: pid, reason, rssBytes }, 'a worker is replaced');
  } else if (action.type === 'replaced') metrics.restarted(reason);
  else logger.error({ reason }, 'the replacement did not start; the old worker stays');
}
