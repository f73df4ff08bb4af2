import cluster from 'node:cluster';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import { messageOf } from '../base/invariant.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { Logger } from '../logging/logger.ts';
import type { MergedMetrics } from './metrics/merged-metrics.ts';
import { workerVariables } from './node-flags.ts';
import type { Degraded, WorkerMessage } from './protocol.ts';
import type { ProgramFiles } from './program-files.ts';
import { Replacements, type ReplaceableGroup } from './replacements.ts';
import { Respawn } from './respawn.ts';
import { SharedPorts } from './shared-ports.ts';
import { SharedTruths } from './shared-truths.ts';
import { isComing, WorkerHandle, type HandleOwner } from './worker-handle.ts';
import { WorkerWatch } from './worker-watch.ts';

/** What workers load, and what they serve it with. */
export interface ServedProgram {
  readonly path: string;
  /** Of the environment; everything else is as it was at the start. */
  readonly config: Config;
}

export interface GroupOptions {
  readonly config: Config;
  readonly port: number;
  readonly program: ServedProgram;
  readonly programs: ProgramFiles;
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: MergedMetrics;
}

type SharePort = Extract<WorkerMessage, { readonly type: 'share-port' }>;

/** The workers of one server: starts them, watches them, replaces them, and ends them. */
export class WorkerGroup implements HandleOwner, ReplaceableGroup {
  readonly #options: GroupOptions;
  readonly #handles = new Set<WorkerHandle>();
  readonly #truths: SharedTruths;
  readonly #ports = new SharedPorts();
  readonly #respawn = new Respawn(() => this.fill());
  readonly #replacements: Replacements;
  #program: ServedProgram;
  /** While workers are moved from one program to another, both: nobody may be able to serve the new one. */
  #moving: readonly ServedProgram[] = [];
  #generation = 1;
  /** Whose missing credentials are in the log already. */
  #reported: number | undefined;
  /** What the workers listen with; `auto` is decided there. */
  transport: 'uws' | 'node' = 'node';
  #watch: WorkerWatch | undefined;
  #mayBeReady = true;
  /** It ends: nobody is made good for any more. */
  stopping = false;
  /** Requests that got the last message of this end instead of their answer. */
  cut = 0;
  #degraded: Degraded | null = null;
  #changed: Array<() => void> = [];

  constructor(options: GroupOptions) {
    this.#options = options;
    this.#program = options.program;
    this.#truths = new SharedTruths(() => this.#handles, options.metrics);
    this.#replacements = new Replacements(this, options);
  }

  /** Resolves when all workers listen; the failure is the reason why they do not. */
  async start(): Promise<Result<void, string>> {
    this.fill();
    this.#watch = new WorkerWatch(this.#handles, this.#options.logger, () => this.#replacements.checkAge());
    while (this.listening.length < this.#options.config.workers) {
      if (this.#respawn.startFailure !== undefined) return this.#giveUp(this.#respawn.startFailure);
      await this.nextChange();
    }
    this.#respawn.allStarted();
    this.fill();
    return ok(undefined);
  }

  /** The calls and streams being answered now, as of the last heartbeats. */
  get inFlight(): number {
    return [...this.#handles].reduce((sum, handle) => sum + handle.inFlight, 0);
  }

  /** Readiness fails from now on, that of workers to come as well; everything else goes on. */
  unready(): void {
    this.#mayBeReady = false;
    for (const handle of this.#handles) handle.send({ type: 'unready' });
  }

  /** Resolves when no worker is left: they finish what they have, for at most this long. */
  async drain(timeoutMs: number): Promise<void> {
    this.stopping = true;
    this.cut = 0;
    this.#ports.close();
    for (const handle of this.#handles) handle.drain(timeoutMs);
    while (this.#handles.size > 0) await this.nextChange();
    this.#watch?.end();
  }

  kill(): void {
    for (const handle of this.#handles) handle.kill();
  }

  /** Moves all workers to another program. Resolves with false, and the old program, when it cannot be served. */
  async roll(program: ServedProgram): Promise<boolean> {
    const before = this.#program;
    this.#moving = [before, program];
    const served = await this.#replacements.roll(() => this.#serve(program));
    if (!served) this.#serve(before);
    this.#moving = [];
    this.#discardPrograms();
    return served;
  }

  /**
   * Workers that come from now on load this program; those on their way with another one end: at once, or, if told to listen,
   * gently. Gives the generation of the workers to come.
   */
  #serve(program: ServedProgram): number {
    this.#program = program;
    this.#generation += 1;
    for (const handle of this.#handles) {
      if (handle.state === 'starting' || handle.state === 'ready') handle.drain(this.#options.config.drainTimeoutMs);
    }
    this.fill();
    return this.#generation;
  }

  #discardPrograms(): void {
    const kept = [this.#program, ...this.#moving].map((program) => program.path);
    this.#options.programs.keep(new Set([...kept, ...[...this.#handles].map((handle) => handle.programPath)]));
  }

  message(handle: WorkerHandle, message: WorkerMessage): void {
    this.#truths.take(handle, message);
    if (message.type === 'hello') this.#sendStart(handle);
    else if (message.type === 'ready') this.#loaded(handle);
    else if (message.type === 'listening') this.#listens(handle, message.transport);
    else if (message.type === 'failed') this.#failed(handle, message.reason);
    else if (message.type === 'heartbeat') this.#replacements.checkMemory(handle);
    else if (message.type === 'drained') this.cut += message.cut;
    else if (message.type === 'share-port') void this.#sharePort(handle, message);
  }

  exited(handle: WorkerHandle): void {
    this.#handles.delete(handle);
    this.#options.metrics.retire(handle.metrics);
    this.#discardPrograms();
    this.#noteChange();
    if (this.stopping || handle.dismissed) return;
    const { number, pid, failure = 'unknown' } = handle;
    this.#options.logger.error({ worker: number, workerPid: pid, reason: failure }, 'a worker died');
    if (pid !== 0) this.#options.metrics.restarted('crash');
    this.#makeGood(handle.listeningAt !== undefined, failure);
  }

  /** Those that serve. */
  get listening(): readonly WorkerHandle[] {
    return [...this.#handles].filter((handle) => handle.state === 'listening');
  }

  /** A loaded worker that does not listen: it takes the place of one that dies within milliseconds. */
  get #spare(): WorkerHandle | undefined {
    return [...this.#handles].find((handle) => !handle.wanted && isComing(handle));
  }

  /** As many workers as asked for, and, once these listen, the spare one. */
  fill(): void {
    if (this.stopping) return;
    this.#start();
    this.#trim();
    this.#tellDegraded();
  }

  #start(): void {
    const coming = [...this.#handles].filter((handle) => handle.wanted && !handle.leaving && isComing(handle)).length;
    for (let missing = this.#options.config.workers - coming; missing > 0; missing -= 1) {
      if (this.#respawn.pausing && this.#spare === undefined) return;
      if (this.provide() === undefined) return;
    }
    if (this.#respawn.hasStarted && !this.#respawn.pausing && this.#spare === undefined) this.#fork(false);
  }

  /** Of those too many, which a replacement that was given up may leave, the oldest goes. */
  #trim(): void {
    const staying = this.listening.filter((handle) => !handle.leaving);
    if (staying.length > this.#options.config.workers) staying[0]?.drain(this.#options.config.drainTimeoutMs);
  }

  /** A worker that listens soon: the spare one, or a new one; undefined when the system starts no process, or the server stops. */
  provide(): WorkerHandle | undefined {
    if (this.stopping) return undefined;
    const handle = this.#spare ?? this.#fork(true);
    handle?.want();
    return handle;
  }

  /** Node throws for some reasons why a process cannot be started; of the others the handle hears. */
  #fork(wanted: boolean): WorkerHandle | undefined {
    const number = this.#freeNumber();
    try {
      const handle = new WorkerHandle(cluster.fork(workerVariables(this.#options.config)), { number, wanted }, this);
      this.#handles.add(handle);
      return handle;
    } catch (error) {
      const reason = `a worker could not be started: ${messageOf(error)}`;
      this.#options.logger.error({ worker: number, reason }, 'a worker died');
      this.#makeGood(false, reason);
      return undefined;
    }
  }

  #freeNumber(): number {
    const taken = new Set([...this.#handles].filter(isComing).map((handle) => handle.number));
    let number = 1;
    while (taken.has(number)) number += 1;
    return number;
  }

  #sendStart(handle: WorkerHandle): void {
    const { port, version } = this.#options;
    const { config, path } = this.#program;
    handle.programPath = path;
    handle.generation = this.#generation;
    const { number } = handle;
    const mayBeReady = this.#mayBeReady;
    handle.send({ type: 'start', config, port, programPath: path, version, number, mayBeReady });
  }

  #loaded({ number, pid, startedAt, wanted }: WorkerHandle): void {
    // The spare one may not listen for days.
    if (!wanted) this.#respawn.workerStarted();
    const startMs = Math.round(performance.now() - startedAt);
    this.#options.logger.debug({ worker: number, workerPid: pid, startMs }, 'a worker is loaded');
  }

  async #sharePort(handle: WorkerHandle, { id, host, port }: SharePort): Promise<void> {
    const shared = await this.#ports.get(host, port);
    if (shared.ok) handle.send({ type: 'shared-port', id }, shared.value);
    else handle.send({ type: 'shared-port', id, failure: shared.failure });
  }

  #listens(handle: WorkerHandle, transport: 'uws' | 'node'): void {
    this.transport = transport;
    if (this.#reported !== handle.generation) {
      this.#reported = handle.generation;
      handle.send({ type: 'report-credentials' });
    }
    this.#respawn.workerStarted();
    this.fill();
    this.#noteChange();
  }

  #failed(handle: WorkerHandle, reason: string): void {
    this.#options.logger.error({ worker: handle.number, reason }, 'a worker cannot go on');
    // One that listened finishes what it has, and accepts nothing any more.
    if (handle.state !== 'draining' || handle.dismissed) return;
    handle.dismissed = true;
    this.#options.metrics.restarted('crash');
    this.#makeGood(true, reason);
  }

  /** Starts what is missing: at once, or later and later where workers die again and again. */
  #makeGood(served: boolean, reason: string): void {
    this.#respawn.workerDied(served, reason);
    this.fill();
    this.#noteChange();
  }

  #tellDegraded(): void {
    const { workers: wanted } = this.#options.config;
    const listening = this.listening.length;
    const { hasStarted, failing } = this.#respawn;
    const degraded = hasStarted && failing && listening < wanted ? { listening, wanted } : null;
    if (isDeepStrictEqual(degraded, this.#degraded)) return;
    this.#degraded = degraded;
    for (const handle of this.#handles) handle.send({ type: 'degraded', degraded });
  }

  #giveUp(reason: string): Result<void, string> {
    this.stopping = true;
    this.#watch?.end();
    this.kill();
    return err(reason);
  }

  nextChange(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  #noteChange(): void {
    const waiting = this.#changed;
    this.#changed = [];
    for (const resolve of waiting) resolve();
  }
}
