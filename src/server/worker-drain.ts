import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpServices } from './http/http-services.ts';
import type { Transport } from './http/transport.ts';

/** How often it looks whether everything is finished. */
const LOOK_MS = 25;

/**
 * An idle connection on which no request came for this long is closed: a client under load would have sent one, and each
 * answer of a draining worker closes its connection anyway.
 */
const QUIET_MS = 1_000;

/**
 * Between the end of accepting and the first answer that closes its connection: all workers stop accepting at about the
 * same time, and a client that is told to connect anew at that moment could come into a queue that is given up.
 */
const SETTLE_MS = 250;

/** What the last messages of a drain get to leave the process. */
const FLUSH_MS = 250;

/** The end of a worker: no new connections, then what is in flight, then the rest is told that the server stops. */
export class WorkerDrain {
  readonly #services: HttpServices;
  readonly #transports: readonly Transport[];
  readonly #lastRequestAt: () => number;

  constructor(services: HttpServices, transports: readonly Transport[], lastRequestAt: () => number) {
    this.#services = services;
    this.#transports = transports;
    this.#lastRequestAt = lastRequestAt;
  }

  /** Resolves with the number of requests that were cut, when nothing is left. */
  async run(timeoutMs: number): Promise<number> {
    const startedAt = performance.now();
    this.#services.health.ready = false;
    for (const transport of this.#transports) transport.stopAccepting();
    await this.#settle();
    for (const transport of this.#transports) transport.finishConnections();
    while (!this.#isIdle(startedAt) && performance.now() - startedAt < timeoutMs) await sleep(LOOK_MS);
    const cut = await this.#cut();
    for (const transport of this.#transports) transport.close();
    await this.#services.runtime.close();
    return cut;
  }

  /** Ends early when nobody is there who could come back. */
  async #settle(): Promise<void> {
    const startedAt = performance.now();
    do await sleep(LOOK_MS);
    while (this.#connections > 0 && performance.now() - startedAt < SETTLE_MS);
  }

  get #connections(): number {
    return this.#transports[0]?.connections ?? 0;
  }

  #isIdle(startedAt: number): boolean {
    if (this.#services.active.size > 0 || this.#transports.some((transport) => transport.leaving > 0)) return false;
    if (this.#connections === 0) return true;
    return performance.now() - Math.max(startedAt, this.#lastRequestAt()) >= QUIET_MS;
  }

  async #cut(): Promise<number> {
    const { active, admission, logger } = this.#services;
    // Nobody who waits gets the place of one that is ended here.
    admission.close();
    const late = active.list();
    for (const request of late) {
      try {
        request.drain();
      } catch (error) {
        // The others get their last message all the same.
        logger.error({ err: error }, 'a bug: a request could not be ended');
      }
    }
    if (late.length > 0) await sleep(FLUSH_MS);
    return late.length;
  }
}
