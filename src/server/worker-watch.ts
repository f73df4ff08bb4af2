import type { Logger } from '../logging/logger.ts';
import type { WorkerHandle } from './worker-handle.ts';

/** Heartbeats come every second; with a look each second, a worker that hangs is gone within 10 seconds. */
const SILENCE_MS = 9_000;

/** Loading a large program on a busy machine. */
const START_MS = 30_000;

const WATCH_MS = 1_000;

/** Kills workers that say nothing any more. */
export class WorkerWatch {
  readonly #handles: ReadonlySet<WorkerHandle>;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #lastLookAt = performance.now();

  /** `afterLook` is called each second, when those that hang are gone. */
  constructor(handles: ReadonlySet<WorkerHandle>, logger: Logger, afterLook: () => void) {
    this.#handles = handles;
    this.#logger = logger;
    this.#timer = setInterval(() => {
      this.#look();
      afterLook();
    }, WATCH_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    // The machine slept, or this process was stopped: nobody could have been heard.
    if (now - this.#lastLookAt > 3 * WATCH_MS) for (const handle of this.#handles) handle.lastSeenAt = now;
    this.#lastLookAt = now;
    for (const handle of this.#handles) this.#checkAlive(handle, now);
  }

  #checkAlive(handle: WorkerHandle, now: number): void {
    const isStarting = handle.state === 'starting';
    const limit = isStarting ? START_MS : SILENCE_MS;
    if (handle.state === 'exited' || now - handle.lastSeenAt < limit) return;
    handle.failure = isStarting
      ? `a worker had not loaded the program after ${START_MS / 1000} s`
      : 'a worker did not answer';
    this.#logger.error({ worker: handle.number, workerPid: handle.pid }, 'a worker hangs and is killed');
    handle.kill();
  }
}
