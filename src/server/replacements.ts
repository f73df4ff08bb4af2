import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import type { Logger } from '../logging/logger.ts';
import type { MergedMetrics } from './metrics/merged-metrics.ts';
import { isComing, type WorkerHandle } from './worker-handle.ts';

/** After a replacement that could not start. */
const AGAIN_MS = 10_000;

/** How often it looks whether its time is over. */
const LOOK_MS = 500;

/** By up to so much of their age workers are replaced later, so that those of many machines do not go at one time. */
const AGE_JITTER = 0.2;

/**
 * A worker above its memory limit serves at least this long: with a limit below what any worker takes, they would be replaced
 * without end.
 */
const MIN_SERVICE_MS = 10_000;

/** What replacing needs of the group of workers. */
export interface ReplaceableGroup {
  readonly stopping: boolean;
  readonly listening: readonly WorkerHandle[];
  /** A worker that listens soon; undefined when none can be started. */
  provide(): WorkerHandle | undefined;
  /** Starts what is missing, the spare worker above all. */
  fill(): void;
  /** Resolves when any worker's state changes. */
  nextChange(): Promise<void>;
}

export interface ReplacementOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: MergedMetrics;
}

/** Replaces workers that serve, one at a time: the new one listens before the old one stops. */
export class Replacements {
  readonly #group: ReplaceableGroup;
  readonly #options: ReplacementOptions;
  #busy = false;
  /** The one that was replaced last. */
  #replaced: WorkerHandle | undefined;
  /** When the next attempt may begin. */
  #notBefore = 0;

  constructor(group: ReplaceableGroup, options: ReplacementOptions) {
    this.#group = group;
    this.#options = options;
  }

  /**
   * Replaces all workers of other generations than the one that `begin` gives, which is called once no other replacement is
   * under way. Resolves with false when the first replacement does not come to serve: then nothing was changed. Later ones
   * are tried again.
   */
  async roll(begin: () => number): Promise<boolean> {
    while (this.#busy) await sleep(100);
    this.#busy = true;
    try {
      return await this.#replaceOutdated(begin());
    } finally {
      this.#busy = false;
    }
  }

  checkMemory(handle: WorkerHandle): void {
    const limit = this.#options.config.maxWorkerMemoryBytes;
    if (limit === 0 || handle.rssBytes <= limit || served(handle) < MIN_SERVICE_MS) return;
    void this.#recycle(handle, 'memory');
  }

  checkAge(): void {
    const limit = this.#options.config.maxWorkerAgeMs;
    if (limit === 0) return;
    const old = this.#group.listening.find((handle) => served(handle) > limit * (1 + AGE_JITTER * handle.chance));
    if (old !== undefined) void this.#recycle(old, 'age');
  }

  async #replaceOutdated(generation: number): Promise<boolean> {
    const outdated = () => this.#group.listening.find((handle) => handle.generation !== generation);
    for (let next = outdated(); next !== undefined && !this.#group.stopping; next = outdated()) {
      if (this.#lacksRoom) {
        await this.#group.nextChange();
        continue;
      }
      if (await this.#replace(next, 'reload')) continue;
      if (!this.#group.listening.some((handle) => handle.generation === generation)) return false;
      await sleep(AGAIN_MS, undefined, { ref: false });
    }
    return true;
  }

  async #recycle(handle: WorkerHandle, reason: 'memory' | 'age'): Promise<void> {
    if (this.#busy || this.#group.stopping || handle.state !== 'listening') return;
    if (this.#drains || performance.now() < this.#notBefore) return;
    this.#busy = true;
    if (!(await this.#replace(handle, reason))) this.#notBefore = performance.now() + AGAIN_MS;
    this.#busy = false;
  }

  get #drains(): boolean {
    return this.#replaced?.state === 'draining';
  }

  /** The shares of a limited memory leave room for one old worker that still drains. */
  get #lacksRoom(): boolean {
    return this.#options.config.maxWorkerMemoryBytes > 0 && this.#drains;
  }

  /** False when the new worker does not come to listen; the old one stays then. */
  async #replace(handle: WorkerHandle, reason: string): Promise<boolean> {
    const { logger } = this.#options;
    const { number, pid, rssBytes } = handle;
    logger.info({ worker: number, workerPid: pid, reason, rssBytes }, 'a worker is replaced');
    const next = this.#group.provide();
    if (next === undefined) return false;
    handle.leaving = true;
    while (isComing(next) && next.state !== 'listening') await this.#group.nextChange();
    if (next.state === 'listening') {
      await this.#untilOthersListen(handle);
      this.#end(handle, reason);
      return true;
    }
    handle.leaving = false;
    this.#group.fill();
    if (!this.#group.stopping) {
      logger.error({ reason: next.failure ?? 'unknown' }, 'the replacement did not start; the old worker stays');
    }
    return false;
  }

  /** Another worker may have died meanwhile: the old one stays until that one is made good for as well, if it is soon. */
  async #untilOthersListen(handle: WorkerHandle): Promise<void> {
    const giveUpAt = performance.now() + AGAIN_MS;
    const { workers } = this.#options.config;
    const others = () => this.#group.listening.filter((one) => one !== handle).length;
    while (others() < workers && !this.#group.stopping && performance.now() < giveUpAt) {
      await Promise.race([this.#group.nextChange(), sleep(LOOK_MS, undefined, { ref: false })]);
    }
  }

  /** It may have died meanwhile. */
  #end(handle: WorkerHandle, reason: string): void {
    const { config, metrics } = this.#options;
    if (handle.state === 'listening') {
      metrics.restarted(reason);
      this.#replaced = handle;
      handle.drain(config.drainTimeoutMs);
    }
    this.#group.fill();
  }
}

/** Milliseconds since it began to listen. */
function served({ listeningAt }: WorkerHandle): number {
  return listeningAt === undefined ? 0 : performance.now() - listeningAt;
}
