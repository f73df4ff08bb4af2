import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpServices } from './http/http-services.ts';
import type { Transport } from './http/transport.ts';

/** Interval of the checks whether everything is finished. */
const CHECK_MS = 25;

/**
 * An idle connection closes after this time without a request. A client under load would have sent one, and each answer of a
 * draining worker closes its connection anyway.
 */
const QUIET_MS = 1_000;

/**
 * Time between the end of accepting and the first answer that closes its connection. All workers stop accepting at about the
 * same time, and a client that reconnects at that moment could enter the queue of a listener that is about to close.
 */
const SETTLE_MS = 250;

/** Time for the last messages of a drain to leave the process. */
const FLUSH_MS = 250;

/** The end of a worker: accepts no more connections, finishes the requests in flight, and ends the rest as `draining`. */
export class WorkerDrain {
  readonly #services: HttpServices;
  readonly #transports: readonly Transport[];
  readonly #lastRequestAt: () => number;

  constructor(services: HttpServices, transports: readonly Transport[], lastRequestAt: () => number) {
    this.#services = services;
    this.#transports = transports;
    this.#lastRequestAt = lastRequestAt;
  }

  /** Resolves with the number of requests that were cut, once none is left. */
  async run(timeoutMs: number): Promise<number> {
    const startedAt = performance.now();
    this.#services.health.ready = false;
    for (const transport of this.#transports) transport.stopAccepting();
    await this.#settle();
    for (const transport of this.#transports) transport.finishConnections();
    while (!this.#isIdle(startedAt) && performance.now() - startedAt < timeoutMs) await sleep(CHECK_MS);
    const cut = await this.#cut();
    for (const transport of this.#transports) transport.close();
    await this.#services.runtime.close();
    return cut;
  }

  /** Returns early when there is no connection whose client could reconnect. */
  async #settle(): Promise<void> {
    const startedAt = performance.now();
    do await sleep(CHECK_MS);
    while (this.#connections > 0 && performance.now() - startedAt < SETTLE_MS);
  }

  get #connections(): number {
    return this.#transports[0]?.connections ?? 0;
  }

  #isIdle(startedAt: number): boolean {
    if (this.#services.active.size > 0 || this.#transports.some((transport) => transport.unsentAnswers > 0))
      return false;
    if (this.#connections === 0) return true;
    return performance.now() - Math.max(startedAt, this.#lastRequestAt()) >= QUIET_MS;
  }

  async #cut(): Promise<number> {
    const { active, admission, logger } = this.#services;
    // No waiting call gets the slot of one that is ended here.
    admission.close();
    const late = active.list();
    for (const request of late) {
      try {
        request.drain();
      } catch (error) {
        // The others still get their last message.
        logger.error({ err: error }, 'a bug: a request could not be ended');
      }
    }
    if (late.length > 0) await sleep(FLUSH_MS);
    return late.length;
  }
}
