import { RestartPolicy } from './restart-policy.ts';

/** Until all workers have listened, so many deaths end the attempt. */
const MAX_START_DEATHS = 3;

/** When workers are started for those that died: at once, or after a pause; and when the first start is given up. */
export class Respawn {
  readonly #policy = new RestartPolicy();
  readonly #again: () => void;
  #pause: NodeJS.Timeout | undefined;
  #hasStarted = false;
  #startDeaths = 0;
  #startFailure: string | undefined;

  /** `again` is called at the end of each pause. */
  constructor(again: () => void) {
    this.#again = again;
  }

  /** No worker is to be started for one that died. */
  get pausing(): boolean {
    return this.#pause !== undefined;
  }

  /** Workers die as they start, or again and again. */
  get failing(): boolean {
    return this.#policy.failing || this.pausing;
  }

  /** Why the first start is given up. */
  get startFailure(): string | undefined {
    return this.#startFailure;
  }

  /** All workers have listened once. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** All workers listen: from now on it is tried for ever. */
  allStarted(): void {
    this.#hasStarted = true;
  }

  /** A worker was loaded, or came to listen. */
  workerStarted(): void {
    this.#policy.started();
  }

  /** `served`: it had come to listen. */
  workerDied(served: boolean, reason: string): void {
    if (!this.#hasStarted) this.#countStartDeath(reason);
    // Those that were started together and die together are one attempt.
    if (!served && this.pausing) return;
    const delayMs = this.#policy.delayAfterDeath(served, performance.now());
    if (delayMs > 0 && !this.pausing) this.#pause = setTimeout(() => this.#end(), delayMs).unref();
  }

  #countStartDeath(reason: string): void {
    this.#startDeaths += 1;
    if (this.#startDeaths >= MAX_START_DEATHS) this.#startFailure ??= reason;
  }

  #end(): void {
    this.#pause = undefined;
    this.#again();
  }
}
